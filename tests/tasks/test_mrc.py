"""KLUE-MRC and its like: reading, windows that lose no answer, null scores, and learning."""

from __future__ import annotations

import json
import random
import unicodedata
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pytest
from real_text import task_file
from tiny_models import CONFIGS, write_encoder
from transformers import AutoModelForQuestionAnswering, AutoTokenizer, BertTokenizerFast

from kobert_kit.cli import main
from kobert_kit.corpus.sample import sample_folder
from kobert_kit.errors import DataError
from kobert_kit.finetune.baseline import majority
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.answers import Answer, Found, best_threshold, find_answers, lost
from kobert_kit.tasks.data import find_misfits, leave_out, load_data
from kobert_kit.tasks.formats.squad import Question
from kobert_kit.tasks.hub import read_hub
from kobert_kit.tasks.metrics.answers import normalise
from kobert_kit.tasks.mrc import TASK, oracle, scores

TOKENIZERS = Path(__file__).parents[2] / "tokenizer"
NAME = "klue-mrc-v1.1/klue-mrc-v1.1"


@pytest.fixture(scope="module", params=["always", "vocab"])
def tokenizer(request):
    return AutoTokenizer.from_pretrained(TOKENIZERS / request.param)


def article(number: int, context: str, answer: str, question: str, **changes: object) -> dict:
    qa = {
        "guid": f"mrc-{number}",
        "question": question,
        "question_type": 1,
        "is_impossible": False,
        "answers": [{"text": answer, "answer_start": context.index(answer)}],
    }
    return {"title": "", "paragraphs": [{"context": context, "qas": [qa | changes]}]}


def made_up(count: int, start: int = 0) -> list[dict]:
    """Who went where, asked for either; every third question has no answer."""
    people, places = ["민수", "지영", "서준", "하은"], ["부산", "제주", "강릉"]
    made = []
    for number in range(start, start + count):
        who, where = people[number % 4], places[number % 3]
        context = "그날은 맑았다. " * (number % 3) + f"{who}가 {where}에 갔다."
        if number % 3 == 2:
            plausible = {"answers": [], "is_impossible": True, "plausible_answers": []}
            made.append(article(number, context, who, "무엇을 샀나?", **plausible))
        else:
            asked = [("누가 갔나?", who), ("어디에 갔나?", where)][number // 3 % 2]
            made.append(article(number, context, asked[1], asked[0]))
    return made


def write_data(folder: Path, train: list[dict], dev: list[dict], name: str = NAME) -> Path:
    for split, articles in (("train", train), ("dev", dev)):
        path = folder / f"{name}_{split}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": "v1.1", "data": articles}, ensure_ascii=False)
        path.write_text(text, encoding="utf-8")
    return folder


def test_the_sample_is_read_whole_and_answers_are_where_they_say():
    data = load_data(TASK, sample_folder() / "klue_benchmark")
    assert not data.skipped and len(data.dev) == 126
    for each in [*data.train, *data.dev]:
        assert bool(each.answers) != each.impossible
        for start, text in each.answers:
            assert each.context[start:].startswith(text)
    assert sum(bool(each.impossible) for each in data.dev) == 42


def test_korquad_and_squad_layouts(tmp_path):
    old = made_up(2)
    for each in old:
        qa = each["paragraphs"][0]["qas"][0]
        qa["id"] = qa.pop("guid")
        del qa["question_type"], qa["is_impossible"]
    data = load_data(TASK, write_data(tmp_path / "korquad", old, old, "KorQuAD_v1.0"))
    assert [each.guid for each in data.train] == ["mrc-0", "mrc-1"]
    assert {each.impossible for each in data.train} == {None}
    new = made_up(3)
    for split in ("train", "dev"):
        path = tmp_path / f"{split}-v2.0.json"
        path.write_text(json.dumps({"version": "v2.0", "data": new}), encoding="utf-8")
    assert [each.impossible for each in load_data(TASK, tmp_path).dev] == [False, False, True]


def test_the_hub_adds_plausible_answers_that_are_none():
    row = {"guid": "a", "context": "민수가 갔다.", "question": "누가 갔나?", "is_impossible": False}
    answers = {"text": ["민수", "민수가", "민수"], "answer_start": [0, 0, 0]}
    rows = [
        row | {"answers": answers},
        row | {"answers": answers, "guid": "b", "is_impossible": True},
    ]
    first, second = read_hub(TASK, datasets.Dataset.from_list(rows), "dev")
    assert first.answers == ((0, "민수"), (0, "민수가"))
    assert second.answers == () and second.impossible


def qa_of(articles: list[dict]) -> dict:
    return articles[1]["paragraphs"][0]["qas"][0]


BAD = {
    "an answer elsewhere": (
        lambda a: qa_of(a)["answers"][0].update(answer_start=0),
        r"question 2 \(mrc-1\): the answer .* is not at 0",
    ),
    "an answer before the text": (
        lambda a: qa_of(a)["answers"][0].update(answer_start=-2),
        r"\(mrc-1\): the answer",
    ),
    "an empty answer": (lambda a: qa_of(a)["answers"][0].update(text=" "), r"\(mrc-1\)"),
    "no answers": (lambda a: qa_of(a).update(answers=[]), r"\(mrc-1\): no answer to learn from"),
    "answers and none": (lambda a: qa_of(a).update(is_impossible=True), r"\(mrc-1\): unanswerable"),
    "an empty context": (
        lambda a: a[1]["paragraphs"][0].update(context=" "),
        r"\(mrc-1\): 'context' is empty",
    ),
    "an empty question": (
        lambda a: qa_of(a).update(question=""),
        r"\(mrc-1\): 'question' is empty",
    ),
    "a guid twice": (lambda a: qa_of(a).update(guid="mrc-0"), "the guid mrc-0 stands at record 1"),
    "no guid": (lambda a: qa_of(a).pop("guid"), "question 2: neither 'guid' nor 'id'"),
    "number": (lambda a: qa_of(a).update(guid=7), "question 2: the guid is 7; expected text"),
    "an article that is none": (
        lambda a: a.__setitem__(1, "글"),
        "article 2: no list 'paragraphs' of objects",
    ),
    "a paragraph without questions": (
        lambda a: a[1]["paragraphs"][0].update(qas=["질문"]),
        "article 2: a paragraph: no list 'qas' of objects",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_question_is_named_skipped_and_counted_or_stops(name, tmp_path):
    change, message = BAD[name]
    articles = made_up(5)
    change(articles)
    data_dir = write_data(tmp_path, articles, made_up(3))
    with pytest.raises(DataError, match=message):
        load_data(TASK, data_dir)
    data = load_data(TASK, data_dir, strict=False)
    assert len(data.train) == 4 and len(data.skipped["train"]) == 1


@pytest.mark.parametrize(
    "content, message",
    [
        ("[]", "no list 'data'"),
        ('[{"premise": "", "hypothesis": ""}]', "looks like data of the task nli"),
        ('{"data": [{"paragraphs": 3}]}', "article 1: no list 'paragraphs'"),
        ('{"data": [', "cut off"),
    ],
)
def test_files_of_another_shape(content, message, tmp_path):
    data_dir = write_data(tmp_path, made_up(3), made_up(3))
    (data_dir / f"{NAME}_dev.json").write_text(content)
    with pytest.raises(DataError, match=message):
        load_data(TASK, data_dir, strict=False)


def test_a_question_longer_than_the_window(tmp_path, tokenizer):
    data_dir = write_data(tmp_path, made_up(4), made_up(4))
    data = load_data(TASK, data_dir)
    data.dev[1] = replace(data.dev[1], question="누가 " * 60)
    with pytest.raises(DataError, match=r"mrc dev \(mrc-1\): the question has 120 tokens"):
        leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 48), strict=True)
    kept = leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 48), strict=False)
    assert [each.guid for each in kept.dev] == ["mrc-0", "mrc-2", "mrc-3"]
    assert len(kept.skipped["dev"]) == 1
    # The longest that is taken still has windows that move on.
    room = 48 - 16 - 3 - 1
    data.dev[1] = replace(data.dev[1], question="가 " * room)
    found = find_misfits(TASK, data, tokenizer, 48)
    assert leave_out(TASK, data, found, strict=True).dev == data.dev
    assert TASK.encode(data.dev, tokenizer, 48).lengths.max() <= 48


def test_windows_cover_the_context_and_each_holds_the_question(tokenizer):
    questions = load_data(TASK, sample_folder() / "klue_benchmark").dev[:40]
    rows = TASK.encode(questions, tokenizer, 64)
    assert len(rows) > len(questions)
    for number, each in enumerate(questions):
        covered = np.zeros(len(each.context), bool)
        asked = tokenizer(each.question, add_special_tokens=False)["input_ids"]
        for row in np.flatnonzero(rows.owners == number):
            span = slice(rows.offsets[row], rows.offsets[row + 1])
            assert rows.ids[span][1 : 1 + len(asked)].tolist() == asked
            for start, end in rows.spans[span].tolist():
                covered[max(0, start) : max(0, end)] = True
        assert not [
            c for c, seen in zip(each.context, covered, strict=True) if not seen and c.strip()
        ]


def assert_gold_comes_back(questions: list[Question], tokenizer, max_length: int) -> int:
    """Exactly, where the answer is a run of tokens; how many answers are not."""
    rows = TASK.encode(questions, tokenizer, max_length)
    edges: list[set[int]] = [set() for _ in questions]
    for owner, span in zip(np.repeat(rows.owners, rows.lengths), rows.spans.tolist(), strict=True):
        edges[owner].update(span)
    inside_tokens = 0
    for each, text, ends in zip(questions, oracle(rows), edges, strict=True):
        assert (text is None) == (not each.answers), each.guid
        if text is None:
            continue
        start, gold = each.answers[0][0], each.answers[0][1].rstrip()
        if {start + len(gold) - len(gold.lstrip()), start + len(gold)} <= ends:
            assert normalise(text) == normalise(gold), each.guid
        else:
            assert gold.strip() in text
            inside_tokens += normalise(text) != normalise(gold)
    return inside_tokens


def test_gold_comes_back_from_the_sample(tokenizer):
    questions = load_data(TASK, sample_folder() / "klue_benchmark").train
    for max_length in (48, 384):
        assert assert_gold_comes_back(questions, tokenizer, max_length) <= 0.05 * len(questions)


@pytest.mark.parametrize("mode, every, inside_tokens", [("always", 1, 0.25), ("vocab", 5, 1.0)])
def test_oracle_on_korquad(mode, every, inside_tokens, tmp_path):
    path = task_file("korquad1", "KorQuAD_v1.0_dev.json", tmp_path)
    questions = [TASK.parse(record, where) for where, record in TASK.records(path)][::every]
    tokenizer = AutoTokenizer.from_pretrained(TOKENIZERS / mode)
    missed = assert_gold_comes_back(questions, tokenizer, 384)
    assert missed <= inside_tokens / 100 * len(questions)


def question(context: str, *answers: str, guid: str = "q") -> Question:
    found = tuple((context.index(text), text) for text in answers)
    return Question(guid, context, "?", found, not answers)


def test_an_answer_after_nfd_text_is_a_slice_of_the_original(tokenizer):
    context = unicodedata.normalize("NFD", "한국은행 총재가 ") + "👍🏽 뷁 홍길동이 왔다. " * 9
    each = question(context, "홍길동")
    assert oracle(TASK.encode([each], tokenizer, 32)) == ["홍길동"]
    each = question(context, unicodedata.normalize("NFD", "한국은행"))
    assert oracle(TASK.encode([each], tokenizer, 32))[0] == each.answers[0][1]


def test_the_best_answer_is_the_best_of_all_spans(tokenizer):
    questions = load_data(TASK, sample_folder() / "klue_benchmark").dev[:6]
    rows = TASK.encode(questions, tokenizer, 64)
    generator = np.random.default_rng(0)
    outputs = [generator.normal(size=(length, 2)) for length in rows.lengths]
    for number, found in enumerate(find_answers(rows, outputs)):
        scores_of: dict[tuple[int, int], float] = {}
        nulls = []
        for row in np.flatnonzero(rows.owners == number):
            spans = rows.spans[rows.offsets[row] : rows.offsets[row + 1]].tolist()
            nulls.append(outputs[row][0].sum())
            for i, (start, _) in enumerate(spans):
                for j in range(i, len(spans)):
                    if start >= 0 and spans[j][0] >= 0:
                        key, value = (start, spans[j][1]), outputs[row][i, 0] + outputs[row][j, 1]
                        scores_of[key] = max(value, scores_of.get(key, value))
        best = sorted(scores_of, key=scores_of.get, reverse=True)
        assert (found.best[0].start, found.best[0].end) == best[0]
        assert found.null_score == pytest.approx(min(nulls))
        assert [each.score for each in found.best] == sorted(
            (each.score for each in found.best), reverse=True
        )
        for each in found.best:
            assert questions[number].context[each.start : each.end] == each.text
            assert each.score == pytest.approx(scores_of[each.start, each.end])


@pytest.mark.parametrize("context", ["\ufffd", "\x00\x01", "\ufffd \x7f"])
def test_a_context_of_which_nothing_is_kept_has_no_answer(context, tmp_path):
    tokenizer = BertTokenizerFast.from_pretrained(write_encoder(tmp_path, ["민수가 왔나"]))
    questions = [question(context, guid="empty"), question("민수가 왔나", "민수가", guid="whole")]
    rows = TASK.encode(questions, tokenizer, 32)
    outputs = [np.zeros((length, 2)) for length in rows.lengths]
    empty, whole = find_answers(rows, outputs)
    assert [each.text for each in empty.best] == [""] and whole.best[0].text
    assert all(empty.text(threshold) == "" for threshold in (-np.inf, 0.0, np.inf))
    assert all(np.isfinite(value) for value in TASK.score(rows, outputs).values())
    first, _ = TASK.predictions(rows, outputs)
    assert first["pred"] == ""


def found(text: str, no_answer: float, start: int = 0) -> Found:
    return Found([Answer(text, start, start + len(text), 0.0)], no_answer)


def test_the_threshold_is_the_best_of_all():
    generator = random.Random(0)
    for _ in range(40):
        questions, answers = [], []
        for number in range(12):
            has = generator.random() < 0.6
            questions.append(question("가나다", *(["가"] if has else []), guid=str(number)))
            answers.append(found(generator.choice("가나"), generator.choice([-2.0, -1, 0.5, 1, 3])))

        def exact(threshold: float, questions=questions, answers=answers) -> int:
            return sum(
                each.text(threshold) == (q.answers[0][1] if q.answers else "")
                for q, each in zip(questions, answers, strict=True)
            )

        best = max(exact(value) for value in (-9, -2, -1, 0, 0.5, 1, 3))
        assert exact(best_threshold(questions, answers)) == best


def test_what_exact_match_lost_by_hand():
    context = "민수가 부산에 갔다"
    questions = [question(context, "부산", guid=str(n)) for n in range(4)]
    questions += [question(context, guid=str(n)) for n in (4, 5)]
    answers = [
        found("부산", -1, 4),  # right
        found("부산에", -1, 4),  # a particle more
        found("민수", -1, 0),  # another place
        found("부산", 1, 4),  # refused
        found("민수", -1, 0),  # answered where there is none
        found("민수", 1, 0),  # rightly refused
    ]
    texts = [each.text(0.0) for each in answers]
    assert lost(questions, answers, texts) == pytest.approx(
        {"em_lost_boundary": 100 / 6, "em_lost_content": 100 / 6, "em_lost_no_answer": 200 / 6}
    )
    values = scores(questions, answers)
    parts = [values[name] for name in values if name.startswith("em_lost")]
    assert values["klue_mrc_em"] + sum(parts) == pytest.approx(100)
    assert values["klue_mrc_em_tuned"] >= values["klue_mrc_em"] == pytest.approx(200 / 6)


def test_where_every_question_has_an_answer_one_is_given():
    each = replace(question("민수가 부산에 갔다", "부산"), impossible=None)
    values = scores([each], [found("부산", 5, 4)])
    assert values["klue_mrc_em"] == 100 and "null_threshold" not in values


def test_the_baseline_never_answers():
    values = majority(TASK, sample_folder() / "klue_benchmark")
    assert values["klue_mrc_em"] == pytest.approx(100 * 42 / 126)


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_kind_of_encoder_learns_and_its_predictions_give_its_scores(kind, tmp_path):
    data_dir = write_data(tmp_path, made_up(96), made_up(24, start=1200))
    texts = [json.dumps(made_up(12), ensure_ascii=False)]
    model = write_encoder(tmp_path / kind, texts, kind)
    settings = FinetuneSettings(epochs=10, batch_size=8, learning_rate=1e-2, max_length=24)
    finetune(TASK, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    last = json.loads((seed / "metrics.json").read_text())["last"]
    assert last["klue_mrc_em"] > 60
    lines = [json.loads(line) for line in (seed / "predictions.jsonl").open(encoding="utf-8")]
    dev = load_data(TASK, data_dir).dev
    assert [line["guid"] for line in lines] == [each.guid for each in dev]
    kept = [Found([Answer(**best) for best in x["best"]], x["null_score"]) for x in lines]
    assert scores(dev, kept) == pytest.approx(last)
    for line, each in zip(lines, dev, strict=True):
        assert line["gold"] == [text for _, text in each.answers]
        assert line["pred"] in ("", line["best"][0]["text"])
        for best in line["best"]:
            assert each.context[best["start"] : best["end"]] == best["text"]
    AutoModelForQuestionAnswering.from_pretrained(seed)


def test_the_command(tmp_path, capsys):
    data_dir = write_data(tmp_path, made_up(12), made_up(6))
    model = write_encoder(tmp_path / "model", [json.dumps(made_up(12), ensure_ascii=False)])
    command = ["klue", "--task", "mrc", "--model", str(model), "--data-dir", str(data_dir)]
    main([*command, "--epochs", "1", "--threads", "1", "--output", str(tmp_path / "out")])
    said = capsys.readouterr().out
    for name in ("klue_mrc_em_tuned", "null_threshold", "em_lost_boundary", "em_lost_content"):
        assert name in said
