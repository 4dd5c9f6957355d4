"""KLUE-MRC: an answer's text against a question's gold answers.

``gold`` has for each question its ``id`` and its ``answers``, none where it is unanswerable (the
gold answer is then the empty text); whatever else it holds, ``plausible_answers`` too, is never
looked at. ``pred`` maps each id to the predicted text, "" for "no answer".
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

Question = Mapping[str, Any]
Normalise = Callable[[str], str]
Score = Callable[[str, str], float]

# The baseline meant to drop each of these characters; its misplaced bracket asks for five in a row.
_BRACKETS_OFFICIAL = re.compile(r"""['"《》<>〈〉]\(\)‘’""")
_BRACKETS_MEANT = re.compile(r"""['"《》<>〈〉()‘’]""")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def klue_mrc_em(gold: Sequence[Question], pred: Mapping[str, str]) -> float:
    """Share of questions whose prediction is one of the gold answers, 0 to 100 (section 3.7).

    Both are normalised by ``normalise``. The official quirk: its brackets and quotes stay in.

    Raises:
        ValueError: nothing to score, a question id twice, a question without a prediction or the
            reverse, an answer or a prediction that is not text.
    """
    return _mean_of_best(gold, pred, normalise, exact_match)


def mrc_em_brackets_stripped(gold: Sequence[Question], pred: Mapping[str, str]) -> float:
    """Conventional: the same where brackets and quotes become spaces, as was meant, 0 to 100.

    Raises:
        ValueError: as ``klue_mrc_em``.
    """
    return _mean_of_best(gold, pred, normalise_as_meant, exact_match)


def klue_mrc_rouge_w(gold: Sequence[Question], pred: Mapping[str, str]) -> float:
    """Mean over questions of ``matching_block_f1`` with the best gold answer, 0 to 100.

    The official quirk (KLUE, section 3.7): it is no ROUGE-W but the F1 of one run of characters.

    Raises:
        ValueError: as ``klue_mrc_em``.
    """
    return _mean_of_best(gold, pred, normalise, matching_block_f1)


def mrc_substring_f1(gold: Sequence[Question], pred: Mapping[str, str]) -> float:
    """Conventional: the same with the longest common substring at every length, 0 to 100.

    Raises:
        ValueError: as ``klue_mrc_em``.
    """
    return _mean_of_best(gold, pred, normalise, longest_substring_f1)


def mrc_char_f1(gold: Sequence[Question], pred: Mapping[str, str]) -> float:
    """Conventional: mean F1 of the bags of characters, 0 to 100 (KorQuAD 1.0: Lim et al., 2019).

    Raises:
        ValueError: as ``klue_mrc_em``.
    """
    return _mean_of_best(gold, pred, normalise, character_f1)


def korquad_char_f1(gold: Sequence[Question], pred: Mapping[str, str]) -> float:
    """KorQuAD 1.0's F1: ``mrc_char_f1`` where brackets and quotes become spaces, 0 to 100.

    Its exact match is ``mrc_em_brackets_stripped`` (Lim et al., 2019).

    Raises:
        ValueError: as ``klue_mrc_em``.
    """
    return _mean_of_best(gold, pred, normalise_as_meant, character_f1)


def normalise(text: str) -> str:
    """``text`` as the baseline compares it.

    In lower case, each run of white space a single space, ASCII punctuation dropped with nothing in
    its place: 12.5% equals 125. 《》「」“”· stay; Unicode is not composed; articles and particles
    stay.
    """
    return _plain(_BRACKETS_OFFICIAL.sub(" ", text.lower()))


def normalise_as_meant(text: str) -> str:
    """``normalise`` where each of '"《》<>〈〉()‘’ becomes a space."""
    return _plain(_BRACKETS_MEANT.sub(" ", text.lower()))


def exact_match(pred: str, gold: str) -> float:
    """1 where the two are equal, else 0."""
    return float(pred == gold)


def matching_block_f1(pred: str, gold: str) -> float:
    """F1, 0 to 1, of the first matching block that ``difflib`` finds, over characters.

    That is the longest common substring while ``gold`` has fewer than 200 characters. From there
    on characters that make up more than about 1 % of ``gold`` begin no match ("autojunk"), and
    the block can be far shorter, or none.
    """
    return _block_f1(pred, gold, autojunk=True)


def longest_substring_f1(pred: str, gold: str) -> float:
    """F1, 0 to 1, of the longest common substring, over characters."""
    return _block_f1(pred, gold, autojunk=False)


def character_f1(pred: str, gold: str) -> float:
    """F1, 0 to 1, of the two multisets of characters but spaces; 1 where both are empty."""
    pred_bag, gold_bag = (Counter(text.replace(" ", "")) for text in (pred, gold))
    total = sum(pred_bag.values()) + sum(gold_bag.values())
    return 2.0 * sum((pred_bag & gold_bag).values()) / total if total else 1.0


def _block_f1(pred: str, gold: str, autojunk: bool) -> float:
    if not (pred and gold):
        return float(pred == gold)
    match = SequenceMatcher(None, pred, gold, autojunk).find_longest_match()
    return 2.0 * match.size / (len(pred) + len(gold))


def _plain(text: str) -> str:
    return " ".join(text.translate(_PUNCTUATION).split())


def _mean_of_best(
    gold: Sequence[Question], pred: Mapping[str, str], normal: Normalise, score: Score
) -> float:
    """Mean over questions of the best score over their gold answers, times 100."""
    _check(gold, pred)
    total = 0.0
    for question in gold:
        text = normal(pred[question["id"]])
        total += max(score(text, normal(answer)) for answer in question["answers"] or [""])
    return 100.0 * total / len(gold)


def _check(gold: Sequence[Question], pred: Mapping[str, str]) -> None:
    """A prediction for each question and the reverse, and all of it text."""
    if not gold:
        raise ValueError("nothing to score")
    seen: set[str] = set()
    for number, question in enumerate(gold):
        if not {"id", "answers"} <= set(question):
            raise ValueError(f"question {number}: no 'id' or no 'answers'")
        guid, answers = question["id"], question["answers"]
        if guid in seen:
            raise ValueError(f"question {guid} is there twice")
        if guid not in pred:
            raise ValueError(f"question {guid}: no prediction")
        if isinstance(answers, str) or not all(isinstance(a, str) for a in (pred[guid], *answers)):
            raise ValueError(f"question {guid}: an answer or its prediction is not text")
        seen.add(guid)
    if extra := [guid for guid in pred if guid not in seen]:
        raise ValueError(f"{len(extra)} predictions without a question, the first is {extra[0]}")
