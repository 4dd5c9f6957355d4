"""KLUE-MRC: the answer to a question is a piece of the context, or there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.tasks.answers import Found, best_threshold, find_answers, lost
from kobert_kit.tasks.encode import Encoded
from kobert_kit.tasks.formats.files import SplitFiles
from kobert_kit.tasks.formats.squad import ASKED, Question, parse_question, question_records
from kobert_kit.tasks.heads.kinds import Head, Spans
from kobert_kit.tasks.metrics import (
    klue_mrc_em,
    klue_mrc_rouge_w,
    mrc_char_f1,
    mrc_em_brackets_stripped,
    mrc_substring_f1,
)
from kobert_kit.tasks.windows import Windows, window_arrays

OVERLAP = 3  # neighbouring windows share a third of their length, as BERT's 128 of 384 for SQuAD


@dataclass(frozen=True)
class AnswerTask:
    """Extraction of answers from a context.

    ``may_lack_answer``: whether a question of which nothing is known may be one without an answer,
    as where the model learnt from such. ``tuned``: the threshold of the scores called so; None
    where it is tuned on what is scored.
    """

    name: str = "mrc"
    files: tuple[str | SplitFiles, ...] = (
        "klue-mrc-v1.1/klue-mrc-v1.1_{split}.json",
        "KorQuAD_v1.0_{split}.json",
        "{split}-v2.0.json",
    )
    headline: str = "klue_mrc_em"
    added_tokens: tuple[str, ...] = ()
    max_length: int = 128
    may_lack_answer: bool = False
    tuned: float | None = None

    @property
    def head(self) -> Head:
        return Spans()

    def records(self, path: Path) -> Iterable[tuple[str, Any]]:
        return question_records(path)

    def parse(self, record: Any, where: str) -> Question:
        return parse_question(record, where)

    def parse_hub(self, record: dict[str, Any], where: str) -> Question:
        """The hub lists plausible answers of unanswerable questions among the answers."""
        given = record.get("answers") or {}
        pairs = zip(given.get("text", ()), given.get("answer_start", ()), strict=False)
        answers = [{"text": text, "answer_start": start} for text, start in pairs]
        return parse_question(
            {**record, "answers": [] if record.get("is_impossible") else answers}, where
        )

    def with_label(self, record: Any) -> Any:
        """Unlabelled is a question that lists no answers, unless it says that it has none."""
        if not isinstance(record, dict) or record.get("answers"):
            return record
        if record.get("answers") is not None and record.get("is_impossible"):
            return record
        impossible = False if self.may_lack_answer or "is_impossible" in record else None
        return record | {"answers": [], "is_impossible": impossible, ASKED: True}

    def misfits(
        self, examples: Sequence[Question], tokenizer: Any, max_length: int
    ) -> dict[str, str]:
        """Questions that leave no room for the context to move on."""
        room = max_length - max_length // OVERLAP - tokenizer.num_special_tokens_to_add(True) - 1
        ids = tokenizer([each.question for each in examples], add_special_tokens=False)["input_ids"]
        return {
            each.guid: f"({each.guid}): the question has {len(tokens)} tokens; at most {room} fit "
            f"--max-length {max_length}"
            for each, tokens in zip(examples, ids, strict=True)
            if len(tokens) > room
        }

    def encode(
        self, examples: Sequence[Question], tokenizer: Any, max_length: int
    ) -> Windows[Question]:
        """Windows of the context, each behind the question.

        ``labels`` (rows, 2) are the places of the first answer's first and last token, those of
        [CLS] in windows that do not hold all of it.
        """
        arrays = window_arrays(
            tokenizer,
            [each.context for each in examples],
            [each.question for each in examples],
            max_length,
            max_length // OVERLAP,
        )
        owners, offsets = arrays["owners"], arrays["offsets"]
        labels = np.zeros((len(owners), 2), dtype=np.int64)
        for row, owner in enumerate(owners.tolist()):
            if answers := examples[owner].answers:
                spans = arrays["spans"][offsets[row] : offsets[row + 1]]
                labels[row] = answer_tokens(spans, *_without_blanks(*answers[0]))
        return Windows(examples, labels=labels, **arrays)

    def score(self, rows: Encoded[Question], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        return scores(rows.examples, self.decode(rows, outputs), self.tuned)

    def decode(self, rows: Encoded[Question], outputs: Sequence[np.ndarray]) -> list[Found]:
        """The best answers of each question."""
        assert isinstance(rows, Windows)
        return find_answers(rows, outputs)

    def predictions(
        self, rows: Encoded[Question], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        for question, found in zip(rows.examples, self.decode(rows, outputs), strict=True):
            yield {
                "guid": question.guid,
                "gold": [text for _, text in question.answers],
                "pred": found.text(plain_threshold(question)),
                "null_score": found.null_score,
                "best": [asdict(answer) for answer in found.best],
            }

    def confusion(
        self, rows: Encoded[Question], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        return None

    def baseline(self, train: Sequence[Question], dev: Sequence[Question]) -> dict[str, float]:
        """No answer to any question."""
        return _text_scores(dev, [""] * len(dev))


def answer_tokens(spans: np.ndarray, start: int, end: int) -> tuple[int, int]:
    """Places of the first and the last token of ``context[start:end]`` in a window.

    (0, 0), which is [CLS], where the window does not hold all of it.
    """
    tokens = np.flatnonzero(spans[:, 0] < spans[:, 1])
    inside = tokens[(spans[tokens, 1] > start) & (spans[tokens, 0] < end)]
    if not len(inside) or spans[inside[0], 0] > start or spans[inside[-1], 1] < end:
        return 0, 0
    return int(inside[0]), int(inside[-1])


def _without_blanks(start: int, text: str) -> tuple[int, int]:
    """Where the answer starts and ends; no token stands for blanks around it."""
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def scores(
    questions: Sequence[Question], found: Sequence[Found], tuned: float | None = None
) -> dict[str, float]:
    """Official and conventional metrics at threshold 0, and what exact match lost.

    Where questions may be unanswerable, also the official ones at the threshold ``tuned``, or that
    which is best on these very questions, which flatters.
    """
    plain = [e.text(plain_threshold(q)) for q, e in zip(questions, found, strict=True)]
    values = {**_text_scores(questions, plain), **lost(questions, found, plain)}
    if any(question.impossible is not None for question in questions):
        threshold = best_threshold(questions, found) if tuned is None else tuned
        others = _text_scores(questions, [each.text(threshold) for each in found])
        for name in ("klue_mrc_em", "klue_mrc_rouge_w"):
            values[f"{name}_tuned"] = others[name]
        values["null_threshold"] = threshold
    return values


def plain_threshold(question: Question) -> float:
    """Where all questions have answers, one is always given."""
    return np.inf if question.impossible is None else 0.0


def _text_scores(questions: Sequence[Question], texts: Sequence[str]) -> dict[str, float]:
    gold = [{"id": q.guid, "answers": [text for _, text in q.answers]} for q in questions]
    pred = {question.guid: text for question, text in zip(questions, texts, strict=True)}
    metrics = (
        klue_mrc_em,
        klue_mrc_rouge_w,
        mrc_em_brackets_stripped,
        mrc_substring_f1,
        mrc_char_f1,
    )
    return {metric.__name__: metric(gold, pred) for metric in metrics}


def oracle(rows: Windows[Question]) -> list[str | None]:
    """The answers of a perfect model: the gold span as tokens of a window, and back.

    None where the question has no answer, or no window holds all of it.
    """
    certain = []
    for labels, length in zip(rows.labels, rows.lengths, strict=True):
        logits = np.full((length, 2), -1e3)
        logits[labels, [0, 1]] = 0.0
        certain.append(logits)
    held = set(rows.owners[rows.labels[:, 0] > 0].tolist())
    found = find_answers(rows, certain)
    return [each.best[0].text if n in held else None for n, each in enumerate(found)]


TASK = AnswerTask()
