"""From scores of starts and ends to an answer, or to none; and what went wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np

from kobert_kit.tasks.formats.squad import Question
from kobert_kit.tasks.metrics.answers import normalise
from kobert_kit.tasks.windows import Windows

LONGEST_ANSWER = 64  # tokens
KEPT = 10  # best answers of a question


@dataclass(frozen=True)
class Answer:
    """``text`` is ``context[start:end]``; ``score`` the sum of the logits of start and end."""

    text: str
    start: int
    end: int
    score: float


@dataclass(frozen=True)
class Found:
    """``best`` answers of a question, best first, and the score of there being none.

    ``null_score`` is the lowest over the question's windows: one window with an answer is enough
    (Devlin et al. 2019, section 4.3).
    """

    best: list[Answer]
    null_score: float

    @property
    def no_answer(self) -> float:
        """By how much the score of no answer is higher than that of the best one."""
        return self.null_score - self.best[0].score

    def text(self, threshold: float) -> str:
        """The best answer, or "" where ``no_answer`` is above ``threshold``."""
        return "" if self.no_answer > threshold else self.best[0].text


def find_answers(rows: Windows[Question], outputs: Sequence[np.ndarray]) -> list[Found]:
    """The best answers of each question over its windows.

    That of a context of which the tokenizer keeps nothing, such as a lone U+FFFD, is "".
    ``outputs`` are (tokens, 2) logits of each row: start, end.
    """
    answers: list[list[Answer]] = [[] for _ in rows.examples]
    null_scores = [np.inf] * len(rows.examples)
    for row, (owner, logits) in enumerate(zip(rows.owners.tolist(), outputs, strict=True)):
        null_scores[owner] = min(null_scores[owner], float(logits[0].sum()))
        spans = rows.spans[rows.offsets[row] : rows.offsets[row + 1]]
        answers[owner] += _best_of_window(rows.examples[owner].context, spans, logits)
    return [
        Found(_distinct(found) or [Answer("", 0, 0, null)], null)
        for found, null in zip(answers, null_scores, strict=True)
    ]


def _best_of_window(context: str, spans: np.ndarray, logits: np.ndarray) -> list[Answer]:
    tokens = np.flatnonzero(spans[:, 0] < spans[:, 1])
    if not len(tokens):
        return []
    scores = logits[tokens, 0, None] + logits[None, tokens, 1]
    length = np.arange(len(tokens))[None] - np.arange(len(tokens))[:, None]
    scores = np.where((length >= 0) & (length < LONGEST_ANSWER), scores, -np.inf).ravel()
    count = min(KEPT, len(scores))
    found = []
    for place in np.argpartition(-scores, count - 1)[:count].tolist():
        first, last = divmod(place, len(tokens))
        start, end = int(spans[tokens[first], 0]), int(spans[tokens[last], 1])
        if np.isfinite(scores[place]):
            found.append(Answer(context[start:end], start, end, float(scores[place])))
    return found


def _distinct(answers: Sequence[Answer]) -> list[Answer]:
    """The best answers, each span once: windows overlap."""
    by_span: dict[tuple[int, int], Answer] = {}
    for answer in sorted(answers, key=lambda each: each.score):
        by_span[answer.start, answer.end] = answer
    return nlargest(KEPT, by_span.values(), key=lambda each: each.score)


def best_threshold(questions: Sequence[Question], found: Sequence[Found]) -> float:
    """The threshold for `Found.text` with the highest exact match on these very questions.

    Of equally good ones that nearest to 0. (SQuAD 2.0 tunes it so: Rajpurkar et al. 2018.)
    """
    gains = [
        _is_right(question, each.best[0].text) - _is_right(question, "")
        for question, each in zip(questions, found, strict=True)
    ]
    values = np.array([each.no_answer for each in found])
    order = np.argsort(values, kind="stable")
    thresholds = values[order]
    # A question is answered from its own value on; before the first, none is.
    right = np.concatenate([[0], np.cumsum(np.array(gains)[order])])
    nobody: float = np.nextafter(thresholds[0], -np.inf).item()
    candidates: list[float] = [nobody, *thresholds.tolist(), 0.0]
    scores = right[np.searchsorted(thresholds, candidates, side="right")]
    return max(zip(scores, candidates, strict=True), key=lambda pair: (pair[0], -abs(pair[1])))[1]


def lost(
    questions: Sequence[Question], found: Sequence[Found], texts: Sequence[str]
) -> dict[str, float]:
    """What the exact match of ``texts``, the best answers or "", lacks of 100, by reason.

    boundary: the answer shares characters with a gold one, most often but for a particle;
    content: it is somewhere else; no_answer: it is missing, or one is given where there is none.
    """
    counts = dict.fromkeys(("boundary", "content", "no_answer"), 0)
    for question, each, text in zip(questions, found, texts, strict=True):
        if not _is_right(question, text):
            counts[_reason(question, each.best[0], text)] += 1
    return {f"em_lost_{name}": 100.0 * n / len(questions) for name, n in counts.items()}


def _reason(question: Question, answer: Answer, text: str) -> str:
    if not text or not question.answers:
        return "no_answer"
    overlaps = any(
        answer.start < start + len(gold) and start < answer.end for start, gold in question.answers
    )
    return "boundary" if overlaps else "content"


def _is_right(question: Question, text: str) -> bool:
    gold = [answer for _, answer in question.answers] or [""]
    return normalise(text) in map(normalise, gold)
