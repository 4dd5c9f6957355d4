"""KLUE-DP: what is read, that eojeols keep their tokens, trees, the parser, and learning."""

from __future__ import annotations

import itertools
import json
import math
import unicodedata
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pytest
import torch
from real_text import task_file
from tiny_models import CONFIGS, write_encoder
from transformers import AutoConfig, AutoModel, AutoTokenizer

from kobert_kit.cli import main
from kobert_kit.corpus.sample import sample_folder
from kobert_kit.errors import DataError
from kobert_kit.finetune.model import ModelFolder
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.data import find_misfits, leave_out, load_data
from kobert_kit.tasks.dependency import (
    GOLD_POS,
    TASK,
    Parse,
    best_heads,
    best_parse,
    oracle,
    places_of_words,
    scores_of,
)
from kobert_kit.tasks.formats.treebank import LABELS, TAGS, Sentence
from kobert_kit.tasks.heads.biaffine import Biaffine, BiaffineParser, TaggedBiaffineParser
from kobert_kit.tasks.heads.kinds import IGNORED, Arcs
from kobert_kit.tasks.hub import read_hub
from kobert_kit.tasks.trees import best_tree, is_tree

TOKENIZERS = Path(__file__).parents[2] / "tokenizer"
HEADER = "## 주석 : ##\n## 칼럼명 : INDEX\tWORD_FORM\tLEMMA\tPOS\tHEAD\tDEPREL\n"
SUBJECT, OBJECT, VERB = "NNP+JKS", "NNG+JKO", "VV+EP+EF+SF"


def sentence(words: str, heads: list[int], labels: str, tags: str, guid: str) -> Sentence:
    return Sentence(
        guid, tuple(words.split()), tuple(tags.split()), tuple(heads), tuple(labels.split())
    )


def made_up(count: int, start: int = 0) -> list[Sentence]:
    """Three patterns, of which the endings tell which it is."""
    names, things = ["민수", "지우", "유리", "하나"], ["책", "옷", "빵", "꽃"]
    made = []
    for number in range(start, start + count):
        name, other, thing = names[number % 4], names[(number + 1) % 4], things[number // 3 % 4]
        text, heads, labels, tags = [
            (
                f"{name}가 새 {thing}을 샀다.",
                [4, 3, 4, 0],
                "NP_SBJ DP NP_OBJ VP",
                f"{SUBJECT} MMD {OBJECT} {VERB}",
            ),
            (
                f"{thing}을 산 {name}가 웃었다.",
                [2, 3, 4, 0],
                "NP_OBJ VP_MOD NP_SBJ VP",
                f"{OBJECT} VV+ETM {SUBJECT} {VERB}",
            ),
            (
                f"어제 {name}가 산 {thing}을 {other}가 가져갔다.",
                [3, 3, 4, 6, 6, 0],
                "AP NP_SBJ VP_MOD NP_OBJ NP_SBJ VP",
                f"MAG {SUBJECT} VV+ETM {OBJECT} {SUBJECT} {VERB}",
            ),
        ][number % 3]
        made.append(sentence(text, heads, labels, tags, f"dp-{number}"))
    return made


def block(each: Sentence) -> str:
    columns = zip(each.words, each.words, each.tags, each.heads, each.labels, strict=True)
    lines = ["\t".join(map(str, (n, *row))) for n, row in enumerate(columns, start=1)]
    return "\n".join([f"## {each.guid}\t{each.text}", *lines]) + "\n"


def write_data(folder: Path, train: list[Sentence], dev: list[Sentence]) -> Path:
    place = folder / "klue_benchmark" / "klue-dp-v1.1"
    place.mkdir(parents=True)
    for split, sentences in (("train", train), ("dev", dev)):
        text = HEADER + "\n".join(map(block, sentences)) + "\n"
        (place / f"klue-dp-v1.1_{split}.tsv").write_text(text, encoding="utf-8")
    return folder / "klue_benchmark"


@pytest.fixture(scope="module", params=["always", "vocab"])
def tokenizer(request):
    return AutoTokenizer.from_pretrained(TOKENIZERS / request.param)


def test_files_and_the_hub_have_the_same_sentences(tmp_path):
    wanted = made_up(6)
    read = load_data(TASK, write_data(tmp_path, wanted, wanted))
    assert read.train == wanted and not read.skipped
    rows = [
        {
            "sentence": each.text,
            "index": list(range(1, len(each.words) + 1)),
            "word_form": list(each.words),
            "lemma": list(each.words),
            "pos": list(each.tags),
            "head": list(each.heads),
            "deprel": list(each.labels),
        }
        for each in wanted
    ]
    hub = read_hub(TASK, datasets.Dataset.from_list(rows), "train")
    assert [replace(each, guid="") for each in hub] == [replace(e, guid="") for e in wanted]
    assert len({each.guid for each in hub}) == 6
    for column, value in (("pos", None), ("word_form", 3), ("deprel", None), ("head", None)):
        spoilt = {**rows[0], column: [value, *rows[0][column][1:]]}
        with pytest.raises(DataError, match="row 1"):
            TASK.parse_hub(spoilt, "row 1")
    rows[1]["head"] = [4, 3, 9, 0]
    with pytest.raises(DataError, match=r"record 2.*head of eojeol 3 is 9"):
        read_hub(TASK, datasets.Dataset.from_list(rows), "train")
    with pytest.raises(DataError, match=r"'word_form'.*the task nli, not dp"):
        TASK.parse_hub({"premise": "가", "hypothesis": "나"}, "row 1")


def test_the_sample_is_read_whole():
    data = load_data(TASK, sample_folder() / "klue_benchmark")
    assert len(data.train) == 300 and len(data.dev) == 100 and not data.skipped


def bad(*rows: str, text: str = "민수가 웃었다.", guid: str = "g1") -> str:
    return f"## {guid}\t{text}\n" + "".join(row.replace(" ", "\t") + "\n" for row in rows)


FIRST = "1 민수가 민수가 NNP+JKS 2 NP_SBJ"
LAST = "2 웃었다. 웃었다. VV+EP+EF+SF 0 VP"
BAD = {
    "a head outside": (bad(FIRST.replace("2 NP", "3 NP"), LAST), r"eojeol 1 is 3; .* 0 to 2"),
    "a head below": (bad(FIRST.replace("2 NP", "-1 NP"), LAST), r"eojeol 1 is '-1'"),
    "its own head": (bad(FIRST.replace("2 NP", "1 NP"), LAST), r"eojeol 1 is 1; .* not itself"),
    "no number": (bad(FIRST.replace("2 NP", "_ NP"), LAST), r"eojeol 1 is '_'"),
    "no root": (
        bad(FIRST, LAST.replace("0 VP", "1 VP")),
        r"0 eojeols have the head 0; exactly one",
    ),
    "two roots": (bad(FIRST.replace("2 NP", "0 NP"), LAST), r"2 eojeols have the head 0"),
    "a circle": (
        bad(
            FIRST,
            LAST.replace("0 VP", "1 VP"),
            "3 또 또 MAG 0 AP",
            text="민수가 웃었다. 또",
        ),
        r"round in a circle",
    ),
    "no such relation": (bad(FIRST.replace("NP_SBJ", "NP_SUB"), LAST), r"eojeol 1 is 'NP_SUB'"),
    "a relation cut off": (bad(FIRST, LAST[:-1]), r"eojeol 2 is 'V'; expected one of NP, NP_AJT"),
    "a line cut off": (bad(FIRST, "2 웃었다. 웃었다. VV"), r"4 columns in '2\\t웃.*INDEX, WORD"),
    "a column too many": (bad(FIRST + " x", LAST), r"7 columns"),
    "lines cut off": (bad(LAST.replace("2", "1")), r"has 2 eojeols, but 1 are listed; cut off"),
    "no lines": (bad(), r"no eojeols"),
    "indices from 0": (
        bad(FIRST.replace("1", "0"), LAST.replace("2", "1")),
        r"indices are \[0, 1\], not 1 to 2",
    ),
    "an index twice": (bad(FIRST, LAST.replace("2", "1")), r"indices are \[1, 1\]"),
    "an index that is none": (bad(FIRST.replace("1", "a"), LAST), r"indices are \['a', 2\]"),
    "no part of speech": (bad(FIRST.replace("NNP+JKS", ""), LAST), r"part of speech, is empty"),
    "a head of many digits": (bad(FIRST.replace("2 NP", "9" * 5000 + " NP"), LAST), r"is '999"),
    "an empty eojeol": (
        bad(FIRST.replace(" 민수가 민", "  민"), LAST),
        r"an eojeol, or .* is empty",
    ),
    "a guid twice": (bad(FIRST, LAST, guid="dp-0"), r"dp-0 stands at record 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_sentence_is_named_skipped_and_counted_or_stops(name, tmp_path):
    lines, message = BAD[name]
    data_dir = write_data(tmp_path, made_up(3), made_up(2))
    path = data_dir / "klue-dp-v1.1" / "klue-dp-v1.1_train.tsv"
    path.write_text(path.read_text(encoding="utf-8") + lines, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load_data(TASK, data_dir)
    assert path.name in str(caught.value)
    assert "dp-0" in str(caught.value) or "(g1)" in str(caught.value)
    data = load_data(TASK, data_dir, strict=False)
    assert data.train == made_up(3) and data.skipped == {"train": [str(caught.value)]}


@pytest.mark.parametrize(
    "text, message",
    [
        ('[{"guid": "nli-0"}]', "not data of the task dp"),
        ("## ner-0\t민수\n민\tB-PS\n수\tI-PS\n", "2 columns .* the task dp has 6"),
        ("", "no sentences"),
    ],
)
def test_a_file_of_another_task(text, message, tmp_path):
    data_dir = write_data(tmp_path, made_up(3), made_up(2))
    (data_dir / "klue-dp-v1.1" / "klue-dp-v1.1_dev.tsv").write_text(text, encoding="utf-8")
    for strict in (True, False):
        with pytest.raises(DataError, match=rf"_dev.tsv.*{message}"):
            load_data(TASK, data_dir, strict=strict)


def test_a_comment_that_spells_a_number_otherwise_is_no_error(tmp_path):
    each = made_up(1)[0]
    lines = block(each).replace(each.text, each.text.replace("새", "4.0"), 1).splitlines()
    assert TASK.parse(lines, "here") == each


def trees_of(words: int) -> list[np.ndarray]:
    """All trees: those where a walk up from every word ends at the root, which has one child."""

    def ends(heads, word):
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        return not word

    found = itertools.product(range(words + 1), repeat=words)
    return [
        np.array(heads)
        for heads in found
        if heads.count(0) == 1 and all(ends(heads, word) for word in range(1, words + 1))
    ]


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_the_best_tree_is_the_best_of_all_trees(words):
    trees = trees_of(words)
    assert len(trees) == words ** (words - 1)  # Cayley
    every = itertools.product(range(words + 1), repeat=words)
    assert sum(is_tree(np.array(heads)) for heads in every) == len(trees)
    generator = np.random.default_rng(words)
    rows = np.arange(words)
    for attempt in range(60):
        scores = generator.normal(size=(words, words + 1)) * 10 ** (attempt % 4)
        if attempt % 3 == 0:  # many ties
            scores = generator.integers(0, 3, size=scores.shape).astype(float)
        if attempt % 2:
            scores[rows, rows + 1] = -np.inf
        found = best_tree(scores)
        assert is_tree(found)
        assert scores[rows, found].sum() == pytest.approx(
            max(scores[rows, heads].sum() for heads in trees)
        )


def test_many_words_that_would_be_roots_or_have_one_head_left():
    scores = np.zeros((40, 41))
    scores[:, 0] = 1e4
    assert is_tree(best_tree(scores))
    chain = np.full((40, 41), -np.inf)
    wanted = [*range(2, 41), 0]
    chain[np.arange(40), wanted] = -5.0
    assert best_tree(chain).tolist() == wanted


def test_best_heads_may_be_no_tree_and_the_best_parse_is_one():
    scores = np.full((3, 4, 2), -9.0)
    scores[..., 1] = 0
    scores[[0, 1, 2], [2, 1, 0]] = [[-0.1, 3], [-0.2, 2], [-0.3, 1]]  # 1 and 2 head each other
    scores[1, 3] = [-1.0, 5]
    assert best_heads(scores) == Parse([2, 1, 0], [LABELS[3], LABELS[2], LABELS[1]])
    assert best_parse(scores) == Parse([2, 3, 0], [LABELS[3], LABELS[5], LABELS[1]])


HARD = [
    "뷁뷁 서울에서 홍길동이 👍🏽 3월 1일",
    "\u1112\u119e\u11ab글 서울에서 \u110f\u110f 홍길동이",
    "𠮷𠮷은 大韓民國의 ♥ 김𠮷을",
    "👨\u200d👩\u200d👧 한강 \ufeff둘",
    "'K팝스타3’ (1만2천원) 씨·군",
]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("text", HARD)
def test_every_eojeol_has_its_own_tokens(text, form, tokenizer, tmp_path):
    text = unicodedata.normalize(form, text)
    foreign = AutoTokenizer.from_pretrained(write_encoder(tmp_path / "bert", ["서울에서홍길동"]))
    count = len(text.split())
    each = Sentence("g", tuple(text.split()), ("NNG",) * count, (*range(2, count + 1), 0), ())
    each = replace(each, labels=("NP",) * count)
    for used in (tokenizer, foreign):
        rows = TASK.encode([each], used, 128)
        alone = [used(word, add_special_tokens=False)["input_ids"] for word in each.words]
        assert rows.ids.tolist()[1:-1] == [token for tokens in alone for token in tokens]
        for (first, last, _), tokens in zip(rows.words.tolist(), alone, strict=True):
            assert rows.ids[first : last + 1].tolist() == tokens


def test_an_eojeol_without_a_token_has_the_one_before_it():
    spans = np.array([(0, 2), (2, 3), (6, 7)])
    found = places_of_words(["민수가", "?", "책"], spans)
    assert found.tolist() == [[1, 2], [2, 2], [3, 3]]
    assert places_of_words(["?", "책"], np.array([(2, 3)])).tolist() == [[0, 0], [1, 1]]
    # A token over two eojeols belongs to both.
    assert places_of_words(["한", "국"], np.array([(0, 3)])).tolist() == [[1, 1], [1, 1]]


def test_gold_comes_back_whole(tokenizer):
    sentences = load_data(TASK, sample_folder() / "klue_benchmark").train
    assert set(oracle(sentences, tokenizer).values()) == {100.0}


def test_real_data(tokenizer, tmp_path):
    counts = {"train": 1000, "dev": 2000}
    for split, count in counts.items():
        path = task_file("klue_benchmark", f"klue-dp-v1.1_{split}.tsv", tmp_path)
        sentences = [TASK.parse(lines, where) for where, lines in TASK.records(path)]
        assert len(sentences) == count
        assert not TASK.misfits(sentences, tokenizer, 128)
        assert set(oracle(sentences, tokenizer).values()) == {100.0}
        rows = TASK.encode(sentences, tokenizer, 128)
        for number, each in enumerate(sentences[::20]):
            words = rows.words[rows.word_offsets[20 * number] : rows.word_offsets[20 * number + 1]]
            # The eojeols share out all tokens but [CLS] and [SEP].
            assert words[0, 0] == 1 and words[-1, 1] == rows.lengths[20 * number] - 2
            assert (words[1:, 0] == words[:-1, 1] + 1).all()
            assert len(words) == len(each.words)


def test_a_sentence_too_long_is_named(tmp_path, tokenizer):
    data = load_data(TASK, write_data(tmp_path, made_up(3), made_up(3)))
    long = made_up(1)[0]
    words = (*(["아주"] * 30), *long.words)
    heads = (*range(2, 32), *(head + 30 if head else 0 for head in long.heads))
    labels, tags = (*(["AP"] * 30), *long.labels), (*(["MAG"] * 30), *long.tags)
    data.dev[1] = Sentence("long", words, tags, heads, labels)
    with pytest.raises(DataError, match=r"dp dev \(long\): .* at most 30 fit --max-length 32"):
        leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 32), strict=True)
    kept = leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 32), strict=False)
    assert [each.guid for each in kept.dev] == ["dp-0", "dp-2"] and len(kept.skipped["dev"]) == 1
    found = find_misfits(TASK, data, tokenizer, 128)
    assert leave_out(TASK, data, found, strict=True).dev == data.dev


@pytest.fixture(scope="module")
def parser() -> Biaffine:
    torch.manual_seed(0)
    return Biaffine(8, len(LABELS), 0).eval()


def some_words() -> torch.Tensor:
    return torch.tensor(
        [
            [[1, 2, 0], [3, 3, 0], [4, 5, 0]],
            [[1, 1, 0], [2, 2, 0], [-1, -1, -1]],
        ]
    )


def test_heads_and_labels_are_a_distribution(parser):
    states = torch.randn(2, 6, 8)
    scores = parser(states, some_words())
    assert scores.shape == (2, 3, 4, len(LABELS))
    assert torch.allclose(scores.exp().sum((2, 3)), torch.ones(2, 3), atol=1e-5)
    for batch, words in ((0, 3), (1, 2)):
        for word in range(words):
            assert (scores[batch, word, word + 1] == -torch.inf).all()
    assert (scores[1, :2, 3] == -torch.inf).all()
    assert torch.isfinite(scores[0, :, 0]).all()


def test_padding_changes_nothing(parser):
    states = torch.randn(2, 6, 8)
    together = parser(states, some_words())[1, :2, :3]
    alone = parser(states[1:, :4], some_words()[1:, :2])[0]
    assert torch.allclose(together, alone, atol=1e-5)


def test_the_scores_are_the_papers(parser):
    """Biaffine in dependent and head, arc by arc (Dozat & Manning 2017, equations 4 to 9)."""
    states, words = torch.randn(1, 6, 8), some_words()[:1]
    vectors = torch.cat(
        [states[0, [0, 0]].flatten()[None], *(states[0, w[:2]].flatten()[None] for w in words[0])]
    )
    roles = torch.nn.functional.gelu(parser.roles(vectors))
    arc_d, label_d, arc_h, label_h = torch.split(roles, [512, 128, 512, 128], dim=1)
    weight, bias = parser.arc.weight, parser.arc.bias
    by_label = parser.label.weight.view(len(LABELS), 128, 128)
    label_bias = parser.label.bias.view(len(LABELS), 128)
    found = parser(states, words)[0]
    for d in (1, 2, 3):
        arcs = torch.stack([arc_h[h] @ weight @ arc_d[d] + arc_h[h] @ bias for h in range(4)])
        arcs[d] = -torch.inf
        for h in {0, 1, 2, 3} - {d}:
            labels = torch.stack(
                [label_h[h] @ by_label[n] @ label_d[d] for n in range(len(LABELS))]
            )
            labels = labels + label_bias @ label_h[h] + parser.label_of_dependent(label_d[d])
            wanted = arcs.log_softmax(0)[h] + labels.log_softmax(0)
            assert torch.allclose(found[d - 1, h], wanted, atol=1e-4)


def test_the_loss_is_of_gold_heads_and_their_labels(parser):
    head = Arcs(LABELS)
    scores = head.logits(parser(torch.randn(2, 6, 8), some_words()), None)
    gold = {(0, 0): (2, 5), (0, 1): (3, 0), (0, 2): (0, 2), (1, 0): (2, 37), (1, 1): (0, 2)}
    labels = torch.full((2, 3), IGNORED)
    for place, (arc, label) in gold.items():
        labels[place] = arc * len(LABELS) + label
    wanted = -sum(scores[b, w, arc, label] for (b, w), (arc, label) in gold.items())
    assert head.loss(scores, labels).item() == pytest.approx(wanted.item(), rel=1e-5)
    outputs = head.outputs(scores)
    assert torch.allclose(outputs[..., 0].exp().sum(-1), torch.ones(2, 3), atol=1e-5)
    best = scores[0, 0, 2].argmax().item()
    assert outputs[0, 0, 2, 1].item() == best


def opened(path: Path) -> ModelFolder:
    return ModelFolder(path, AutoConfig.from_pretrained(path), AutoTokenizer.from_pretrained(path))


def objective(task, sentences, folder) -> TaskObjective:
    rows = task.encode(sentences, folder.tokenizer, 64)
    return TaskObjective(task, rows, rows, 0, folder.takes_token_types, batch_size=4, seed=0)


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_kind_of_encoder_learns_and_what_is_saved_parses_as_well(kind, tmp_path):
    data_dir = write_data(tmp_path, made_up(48), made_up(15, start=1000))
    model = write_encoder(tmp_path / kind, [each.text for each in made_up(48)], kind)
    settings = FinetuneSettings(epochs=12, batch_size=8, learning_rate=3e-3, max_length=32)
    finetune(TASK, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    last = json.loads((seed / "metrics.json").read_text())["last"]
    assert last["dp_las"] > 90 and last["dp_las_mst"] > 90
    lines = [json.loads(line) for line in (seed / "predictions.jsonl").open(encoding="utf-8")]
    dev = load_data(TASK, data_dir).dev
    assert [line["guid"] for line in lines] == [each.guid for each in dev]
    for line, each in zip(lines, dev, strict=True):
        assert line["gold"] == {"heads": list(each.heads), "labels": list(each.labels)}
        assert is_tree(np.array(line["pred_mst"]["heads"]))
    for key, suffix in (("pred", ""), ("pred_mst", "_mst")):
        values = scores_of(dev, [Parse(**line[key]) for line in lines])
        for name, value in values.items():
            assert last[name + suffix] == pytest.approx(value)
    counts = np.array(json.loads((seed / "confusion.json").read_text())["counts"])
    assert counts.sum() == sum(len(each.words) for each in dev)

    folder = opened(seed)
    loaded = BiaffineParser.from_pretrained(seed)
    with torch.inference_mode():
        again = objective(TASK, dev, folder).evaluate(loaded)
    assert again == pytest.approx(last)
    assert [loaded.config.id2label[n] for n in range(len(LABELS))] == list(LABELS)
    encoder = AutoModel.from_pretrained(seed).eval()  # without kobert_kit
    inputs = folder.tokenizer(dev[0].text, return_tensors="pt")
    if not folder.takes_token_types:
        inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        assert torch.allclose(encoder(**inputs)[0], loaded.encoder(**inputs)[0])


def test_pad_and_batch_do_not_change_what_is_decoded(tmp_path):
    sentences = made_up(9)
    folder = opened(write_encoder(tmp_path / "m", [each.text for each in sentences]))
    torch.manual_seed(0)
    model = BiaffineParser.from_config(folder.config).eval()
    with torch.inference_mode():
        together = objective(TASK, sentences, folder).predict(model)
        for each, scores in zip(sentences, together, strict=True):
            [alone] = objective(TASK, [each], folder).predict(model)
            words = len(each.words)
            assert len(scores) == words
            np.testing.assert_allclose(scores[:, : words + 1, 0], alone[..., 0], atol=1e-4)


def test_gold_tags_reach_the_model_only_where_the_name_says_so(tmp_path, tokenizer):
    sentences = made_up(6)
    untold = [replace(each, tags=("NA",) * len(each.tags)) for each in sentences]
    told = TASK.encode(sentences, tokenizer, 64)
    assert (told.words == TASK.encode(untold, tokenizer, 64).words).all()
    assert (told.words[:, 2] == 0).all()
    with_tags = GOLD_POS.encode(sentences, tokenizer, 64).words[:, 2]
    assert with_tags[:4].tolist() == [1 + TAGS.index(tag) for tag in ("JKS", "MMD", "JKO", "SF")]
    unknown = GOLD_POS.encode([replace(sentences[0], tags=("?",) * 4)], tokenizer, 64)
    assert unknown.words[:, 2].tolist() == [0] * 4


def test_a_parser_with_tags_reads_them_and_is_not_taken_for_one_without(tmp_path):
    data_dir = write_data(tmp_path, made_up(24), made_up(6, start=1000))
    model = write_encoder(tmp_path / "m", [each.text for each in made_up(24)])
    settings = FinetuneSettings(epochs=2, batch_size=8, max_length=32)
    finetune(GOLD_POS, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    loaded = TaggedBiaffineParser.from_pretrained(seed)
    ids, words = torch.tensor([[2, 5, 6, 3]]), torch.tensor([[[1, 1, 1], [2, 2, 2]]])
    with torch.inference_mode():
        one = loaded(ids, words)
        other = loaded(ids, words + torch.tensor([0, 0, 3]))
    assert not torch.allclose(one.exp(), other.exp(), atol=1e-4)
    with pytest.raises(RuntimeError, match="Biaffine"):
        BiaffineParser.from_pretrained(seed)


def test_the_baseline_by_hand():
    train = made_up(3)  # before the last eojeol NP_SBJ stands 4 times, NP_OBJ 3 times
    dev = made_up(2)
    values = TASK.baseline(train, dev)
    # Right heads: of 4 3 4 0 the last three, of 2 3 4 0 all; right labels: VP twice, an NP_SBJ.
    assert values["klue_dp_uas_micro_f1"] == pytest.approx(100 * 7 / 8)
    assert values["dp_las"] == pytest.approx(100 * 3 / 8)
    assert not any(math.isnan(value) for value in values.values())


def test_the_command(tmp_path, capsys):
    data_dir = write_data(tmp_path, made_up(12), made_up(6))
    model = write_encoder(tmp_path / "model", [each.text for each in made_up(12)])
    path = data_dir / "klue-dp-v1.1" / "klue-dp-v1.1_dev.tsv"
    path.write_text(path.read_text(encoding="utf-8") + BAD["two roots"][0], encoding="utf-8")
    command = ["klue", "--model", str(model), "--data-dir", str(data_dir), "--epochs", "1"]
    command += ["--threads", "1", "--output", str(tmp_path / "out")]
    main([*command, "--task", "dp", "--task", "dp-gold-pos"])
    said = capsys.readouterr().out
    assert "(g1)" in said and "dev: 1 bad record skipped" in said
    assert "klue_dp_uas_macro_f1_mst" in said
    for name in ("dp", "dp-gold-pos"):
        text = (tmp_path / "out" / name / "seed-0" / "confusion.txt").read_text(encoding="utf-8")
        assert "NP_SBJ" in text
    with pytest.raises(SystemExit):
        main([*command, "--task", "dp", "--strict"])
    assert "(g1)" in capsys.readouterr().err


def test_reading_real_labels_needs_no_more_than_the_list(tmp_path):
    path = task_file("klue_benchmark", "klue-dp-v1.1_dev.tsv", tmp_path)
    found = {
        label for where, lines in TASK.records(path) for label in TASK.parse(lines, where).labels
    }
    assert found <= set(LABELS) and len(LABELS) == 38 and len(set(TAGS)) == 45
