"""KLUE-DP: of each eojeol its head, and its relation to it.

Eojeols and tokens meet at offsets: an eojeol is its first and its last token, whatever the
tokenizer makes of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

from kobert_kit.tasks.encode import E, Encoded, flat, padded
from kobert_kit.tasks.formats.official import only_title, sentence_records
from kobert_kit.tasks.formats.treebank import LABELS, TAGS, Sentence, parse_lines, parse_row
from kobert_kit.tasks.heads.kinds import IGNORED, Arcs, Head, TaggedArcs
from kobert_kit.tasks.metrics import (
    dp_las,
    dp_las_macro_f1_without_wrong_head,
    klue_dp_las_macro_f1,
    klue_dp_las_micro_f1,
    klue_dp_uas_macro_f1,
    klue_dp_uas_micro_f1,
)
from kobert_kit.tasks.trees import best_tree, is_tree
from kobert_kit.tasks.windows import surface

SPECIAL = 2  # [CLS] and [SEP]
UNKNOWN_TAG = "NA"


@dataclass
class EojeolRows(Encoded[E]):
    """Rows with eojeols: those of row i are ``word_offsets[i]:word_offsets[i + 1]``.

    ``words`` (eojeols, 3) are the places of an eojeol's first and last token in its row, and its
    tag. ``labels`` (eojeols,) are as `heads.Arcs` wants them.
    """

    words: np.ndarray
    word_offsets: np.ndarray

    def labels_of(self, rows: np.ndarray, places: np.ndarray, real: np.ndarray) -> np.ndarray:
        return padded(self.labels, self.word_offsets, rows, IGNORED)

    def inputs_of(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {"words": padded(self.words, self.word_offsets, rows, -1)}

    @property
    def output_lengths(self) -> np.ndarray:
        """(rows,) eojeols of each row."""
        return np.diff(self.word_offsets)


@dataclass(frozen=True)
class Parse:
    """The heads of a sentence's eojeols, and their labels."""

    heads: list[int]
    labels: list[str]


@dataclass(frozen=True)
class ParsingTask:
    """Dependency parsing. With ``gold_pos`` the model is told each eojeol's last gold tag.

    KLUE's baseline tells it, when it is scored too; no text comes with gold tags.
    """

    name: str
    gold_pos: bool
    files: tuple[str, ...] = ("klue-dp-v1.1/klue-dp-v1.1_{split}.tsv",)
    headline: str = "klue_dp_las_macro_f1"
    added_tokens: tuple[str, ...] = ()
    max_length: int = 128

    @property
    def head(self) -> Head:
        return TaggedArcs(LABELS) if self.gold_pos else Arcs(LABELS)

    def records(self, path: Path) -> Iterator[tuple[str, list[str]]]:
        """The lines of each sentence: comments, then a line for each eojeol."""
        return sentence_records(path)

    def parse(self, record: list[str], where: str) -> Sentence:
        return parse_lines(record, where)

    def parse_hub(self, record: dict[str, Any], where: str) -> Sentence:
        return parse_row(record, where)

    def with_label(self, record: list[str]) -> list[str]:
        """A sentence without heads has its eojeols, or the line '## guid<TAB>sentence' alone."""
        comments = only_title(record)
        rows = [line.split("\t") for line in record if not line.startswith("##")]
        if not comments or any(len(row) == 1 or len(row) > 4 for row in rows):
            return record
        words = comments[-1].partition("\t")[2].split()
        rows = rows or [[str(n), word] for n, word in enumerate(words, start=1)]
        filled = [
            [
                row[0],
                row[1],
                *(row[2:] + [row[1], UNKNOWN_TAG][len(row) - 2 :]),
                str(head),
                LABELS[0],
            ]
            for head, row in enumerate(rows)
        ]
        return [*comments, *map("\t".join, filled)]

    def misfits(
        self, examples: Sequence[Sentence], tokenizer: Any, max_length: int
    ) -> dict[str, str]:
        """Sentences that one row does not hold."""
        room = max_length - SPECIAL
        ids, _ = _tokens(examples, tokenizer)
        return {
            each.guid: f"({each.guid}): the sentence has {len(tokens)} tokens; at most {room} fit "
            f"--max-length {max_length}"
            for each, tokens in zip(examples, ids, strict=True)
            if len(tokens) > room
        }

    def encode(
        self, examples: Sequence[Sentence], tokenizer: Any, max_length: int
    ) -> EojeolRows[Sentence]:
        """[CLS], the sentence, [SEP]. No sentence may be a misfit."""
        ids, spans = _tokens(examples, tokenizer)
        rows = [[tokenizer.cls_token_id, *row, tokenizer.sep_token_id] for row in ids]
        tag = {name: number for number, name in enumerate(TAGS, start=1) if self.gold_pos}
        label = {name: number for number, name in enumerate(LABELS)}
        words, labels = [], []
        for each, tokens in zip(examples, spans, strict=True):
            tags = [tag.get(pos.rpartition("+")[2], 0) for pos in each.tags]
            words.append(np.column_stack([places_of_words(each.words, tokens), tags]))
            for head, name in zip(each.heads, each.labels, strict=True):
                labels.append(head * len(LABELS) + label[name])
        return EojeolRows(
            examples,
            ids=flat(rows, np.int32),
            types=np.zeros(sum(map(len, rows)), dtype=np.uint8),
            offsets=np.cumsum([0, *map(len, rows)]),
            labels=np.array(labels, dtype=np.int64),
            words=np.concatenate(words),
            word_offsets=np.cumsum([0, *map(len, words)]),
        )

    def score(self, rows: Encoded[Sentence], outputs: Sequence[np.ndarray]) -> dict[str, float]:
        """Official and conventional metrics of each eojeol's best head, as KLUE's baseline takes
        it, and of the best trees (_mst)."""
        best = [best_heads(scores) for scores in outputs]
        trees = [best_parse(scores) for scores in outputs]
        return {
            **scores_of(rows.examples, best),
            **{f"{name}_mst": v for name, v in scores_of(rows.examples, trees).items()},
            "dp_best_heads_are_tree": 100.0
            * float(np.mean([is_tree(np.array(parse.heads)) for parse in best])),
        }

    def predictions(
        self, rows: Encoded[Sentence], outputs: Sequence[np.ndarray]
    ) -> Iterator[dict[str, Any]]:
        for each, scores in zip(rows.examples, outputs, strict=True):
            gold = Parse(list(each.heads), list(each.labels))
            yield {
                "guid": each.guid,
                "words": list(each.words),
                "gold": _plain(gold),
                "pred": _plain(best_heads(scores)),
                "pred_mst": _plain(best_parse(scores)),
            }

    def confusion(
        self, rows: Encoded[Sentence], outputs: Sequence[np.ndarray]
    ) -> tuple[Sequence[str], Sequence[str]] | None:
        """The labels of all eojeols, whatever their heads."""
        gold = chain.from_iterable(each.labels for each in rows.examples)
        return list(gold), [name for scores in outputs for name in best_heads(scores).labels]

    def baseline(self, train: Sequence[Sentence], dev: Sequence[Sentence]) -> dict[str, float]:
        """Every eojeol depends on the next one, with the label most usual before the last
        eojeol; the last is the root, with the label most usual there."""
        last = _most_usual(each.labels[-1] for each in train)
        other = _most_usual(label for each in train for label in each.labels[:-1])
        chains = []
        for each in dev:
            count = len(each.words)
            chains.append(Parse([*range(2, count + 1), 0], [other] * (count - 1) + [last]))
        return scores_of(dev, chains)


def _most_usual(labels: Iterator[str]) -> str:
    found = Counter(labels).most_common(1)
    return found[0][0] if found else LABELS[0]


def _tokens(
    sentences: Sequence[Sentence], tokenizer: Any
) -> tuple[list[list[int]], list[np.ndarray]]:
    """Of each sentence its token ids, and (tokens, 2) the characters of each."""
    encoding = tokenizer(
        [each.text for each in sentences],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
    )
    spans = [
        np.array([surface(each.text, *span) for span in offsets], dtype=np.int64).reshape(-1, 2)
        for each, offsets in zip(sentences, encoding["offset_mapping"], strict=True)
    ]
    return encoding["input_ids"], spans


def places_of_words(words: Sequence[str], spans: np.ndarray) -> np.ndarray:
    """(words, 2) places of each word's first and last token, behind [CLS].

    ``spans`` (tokens, 2) are the tokens' characters in the words joined by spaces. A word of which
    the tokenizer keeps nothing has the token before it.
    """
    ends = np.array(list(accumulate(len(word) + 1 for word in words))) - 1
    starts = ends - np.array([len(word) for word in words])
    first = np.searchsorted(spans[:, 1], starts, side="right")
    last = np.searchsorted(spans[:, 0], ends, side="left") - 1
    return 1 + np.column_stack([np.minimum(first, last), last])


def best_heads(scores: np.ndarray) -> Parse:
    """Each word's best head, and its label; ``scores`` as `heads.Arcs` puts them out.

    They may be no tree.
    """
    arcs = scores[:, : len(scores) + 1]
    return _labelled(arcs, arcs[..., 0].argmax(axis=1))


def best_parse(scores: np.ndarray) -> Parse:
    """The tree with the best sum of arcs, and its labels."""
    arcs = scores[:, : len(scores) + 1]
    heads = arcs[..., 0].argmax(axis=1)
    return _labelled(arcs, heads if is_tree(heads) else best_tree(arcs[..., 0]))


def _labelled(arcs: np.ndarray, heads: np.ndarray) -> Parse:
    labels = arcs[np.arange(len(heads)), heads, 1].astype(int)
    return Parse(heads.tolist(), [LABELS[label] for label in labels])


def scores_of(gold: Sequence[Sentence], pred: Sequence[Parse]) -> dict[str, float]:
    """The official metrics, each followed by the conventional one where it is another."""
    g, p = ([{"heads": e.heads, "deprels": e.labels} for e in side] for side in (gold, pred))
    return {
        "klue_dp_uas_macro_f1": klue_dp_uas_macro_f1(g, p),
        "klue_dp_uas_micro_f1": klue_dp_uas_micro_f1(g, p),
        "klue_dp_las_macro_f1": klue_dp_las_macro_f1(g, p, LABELS),
        "dp_las_macro_f1_without_wrong_head": dp_las_macro_f1_without_wrong_head(g, p, LABELS),
        "klue_dp_las_micro_f1": klue_dp_las_micro_f1(g, p, LABELS),
        "dp_las": dp_las(g, p, LABELS),
    }


def oracle(
    sentences: Sequence[Sentence], tokenizer: Any, max_length: int = 128
) -> dict[str, float]:
    """Scores of a perfect model: the gold arcs as what is learnt of them, and back."""
    rows = TASK.encode(sentences, tokenizer, max_length)
    outputs = []
    for learnt in np.split(rows.labels, rows.word_offsets[1:-1]):
        heads, labels = np.divmod(learnt, len(LABELS))
        certain = np.full((len(heads), len(heads) + 1, 2), [-1e3, 0.0])
        certain[np.arange(len(heads)), heads] = np.column_stack([np.zeros(len(heads)), labels])
        outputs.append(certain)
    return TASK.score(rows, outputs)


def _plain(parse: Parse) -> dict[str, Any]:
    return {"heads": parse.heads, "labels": parse.labels}


TASK = ParsingTask("dp", gold_pos=False)
GOLD_POS = ParsingTask("dp-gold-pos", gold_pos=True)
