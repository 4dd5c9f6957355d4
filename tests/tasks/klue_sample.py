"""A made-up KLUE release of a few sentences, and a BERT of a few weights that can read it."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

TOPICS = {
    "정치": "국회 예산안 표결",
    "경제": "환율 금리 수출",
    "사회": "경찰 화재 조사",
    "생활문화": "전시회 여행 날씨",
    "세계": "미국 유럽 정상회담",
    "IT과학": "반도체 인공지능 위성",
    "스포츠": "축구 결승 우승",
}
FOODS = ["김밥", "국수", "만두", "떡", "죽"]
DEGREES = ["안", "못", "덜", "조금", "거의", "다"]
DAYS = ["아침", "점심", "저녁", "어제", "오늘"]


def nli_records(count: int, start: int = 0) -> list[dict]:
    records = []
    for number in range(start, start + count):
        food, day = FOODS[number % 5], DAYS[number // 5 % 5]
        hypotheses = {
            "entailment": f"{day} 에 무엇을 먹었다",
            "contradiction": f"{day} 에 아무것도 안 먹었다",
            "neutral": f"{day} 에 {food} 을 친구 와 먹었다",
        }
        label = list(hypotheses)[number % 3]
        records.append(
            {
                "guid": f"nli-{number}",
                "premise": f"{day} 에 {food} 을 먹었다",
                "hypothesis": hypotheses[label],
                "gold_label": label,
            }
        )
    return records


def sts_records(count: int, start: int = 0) -> list[dict]:
    records = []
    for number in range(start, start + count):
        score, food = number % 6, FOODS[number % 5]
        records.append(
            {
                "guid": f"sts-{number}",
                "sentence1": f"{food} 을 먹었다",
                "sentence2": f"{food} 을 {DEGREES[score]} 먹었다",
                "labels": {"label": score, "real-label": score * 1.0, "binary-label": score >= 3},
            }
        )
    return records


def ynat_records(count: int, start: int = 0) -> list[dict]:
    records = []
    for number in range(start, start + count):
        topic, words = list(TOPICS.items())[number % 7]
        title = " ".join(words.split()[: 1 + number % 3])
        records.append({"guid": f"ynat-{number}", "title": title, "label": topic})
    return records


RECORDS = {
    "klue-nli-v1.1": nli_records,
    "klue-sts-v1.1": sts_records,
    "ynat-v1.1": ynat_records,
}


def write_split(data_dir: Path, folder: str, split: str, records: object) -> Path:
    path = data_dir / folder / f"{folder}_{split}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    return path


def write_model(folder: Path, **changes) -> Path:
    """A random BERT, its head for masked words, and a tokenizer with every word of the data."""
    words = sorted(
        {
            word
            for make in RECORDS.values()
            for record in make(90)
            for key, value in record.items()
            if isinstance(value, str) and key != "guid"
            for word in value.split()
        }
    )
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    ids = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(folder)
    values = {
        "vocab_size": len(vocabulary),
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 64,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.1,  # learns within seconds
    }
    torch.manual_seed(0)
    BertForMaskedLM(BertConfig(**(values | changes))).save_pretrained(folder)
    return folder
