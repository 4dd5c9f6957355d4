"""Which documents hold sentences of evaluation data: by the n-grams that they share.

A sentence is in a document that has nearly all of its n-grams (letters alone, so that spacing and
punctuation do not hide it). One with fewer letters than an n-gram must be there letter by letter,
from where an eojeol begins to where one ends; one with fewer still, or of two words, is a name or
what people say every day, and is not looked for. Documents are compared after they were cleaned,
so a sentence is looked for as it is and as the filters of each source would have it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.copies.evaluation import evaluation_sentences
from kobert_kit.corpus.copies.hashes import Hashes
from kobert_kit.corpus.copies.ngrams import Letters, hash_ngrams

NGRAM = 13  # letters
FEWEST, FEWEST_EOJEOLS = 8, 3  # letters and eojeols of a sentence that is looked for
SHARE = 0.8  # of its n-grams that a document must have
_SIEVE_BITS = 24
_BATCH = 500_000  # characters of documents looked at together
_ARRAYS = ("hashes", "owners", "sizes", "sentences", "files", "short", "short_owners", "counts")

View = Callable[[str], str]  # what cleaning makes of a text


@dataclass(frozen=True)
class EvaluationIndex:
    """The sentences of some evaluation files, by their n-grams.

    A sentence may be there in several forms. ``hashes`` of n-grams, in order, each with the form
    that it is of in ``owners``; ``sizes``, ``sentences`` and ``files``: n-grams, sentence and file
    of each form, where a sentence has the number of its first form; ``short`` forms' hashes, in
    order, with ``short_owners``. ``counts`` has for each file its sentences, and those too short to
    look for. ``sieve`` tells by their first bits most n-grams that are of no sentence.
    """

    hashes: Hashes
    owners: NDArray[np.int64]
    sizes: NDArray[np.int64]
    sentences: NDArray[np.int64]
    files: NDArray[np.int64]
    short: Hashes
    short_owners: NDArray[np.int64]
    counts: NDArray[np.int64]
    sieve: NDArray[np.bool_]

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]]) -> EvaluationIndex:
        sieve = np.zeros(1 << _SIEVE_BITS, bool)
        sieve[arrays["hashes"] >> np.uint64(64 - _SIEVE_BITS)] = True
        return cls(**arrays, sieve=sieve)

    def save(self, folder: Path) -> None:
        """Write the arrays, the last one as a sign that all are there."""
        folder.mkdir(exist_ok=True)
        for name in _ARRAYS:
            temporary = folder / "writing.npy"
            np.save(temporary, getattr(self, name))
            os.replace(temporary, folder / f"{name}.npy")

    @classmethod
    def load(cls, folder: Path) -> EvaluationIndex:
        """Map what `save` wrote; processes share the memory."""
        return cls.of({name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS})


def is_saved(folder: Path) -> bool:
    """Whether `EvaluationIndex.save` has finished with ``folder``."""
    return (folder / f"{_ARRAYS[-1]}.npy").exists()


def build_index(paths: Sequence[Path], views: Sequence[View] = ()) -> EvaluationIndex:
    """The index of the sentences in evaluation files, as they are and in all ``views``."""
    forms: dict[str, tuple[int, int]] = {}  # letters alone -> the first sentence and file
    counts = np.zeros((len(paths), 2), np.int64)
    for file, path in enumerate(paths):
        here = set(evaluation_sentences(path))
        wanted = sorted(filter(is_looked_for, here))
        counts[file] = len(here), len(here) - len(wanted)
        for text in wanted:
            number, _ = forms.setdefault(letters(text), (len(forms), file))
            for seen in {letters(view(text)) for view in views}:
                if len(seen) >= FEWEST:
                    forms.setdefault(seen, (number, file))
    texts = list(forms)
    ngrams = hash_ngrams(texts, NGRAM)
    owners = ngrams.owners
    order = np.lexsort((owners, ngrams.hashes))
    hashes, owners = ngrams.hashes[order], owners[order]
    new = np.ones(len(hashes), bool)  # an n-gram counts once a sentence
    new[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
    hashes, owners = hashes[new], owners[new]
    sizes = np.bincount(owners, minlength=len(texts))
    short_owners = np.flatnonzero(sizes == 0)
    short = _hash_short([texts[number] for number in short_owners])
    order = np.argsort(short)
    sentences, files = np.array(list(forms.values()), np.int64).reshape(-1, 2).T
    found = (hashes, owners, sizes, sentences, files, short[order], short_owners[order], counts)
    return EvaluationIndex.of(dict(zip(_ARRAYS, found, strict=True)))


def is_looked_for(sentence: str) -> bool:
    """Whether an evaluation sentence is long enough to say where it comes from."""
    size = len(letters(sentence))
    return size >= NGRAM or (size >= FEWEST and len(sentence.split()) >= FEWEST_EOJEOLS)


def letters(text: str) -> str:
    """The letters and digits of ``text``, in lower case."""
    return "".join(filter(str.isalnum, text)).lower()


def find_sentences(index: EvaluationIndex, texts: Sequence[str]) -> list[list[int]]:
    """For each text the evaluation sentences in it, by number."""
    found: list[list[int]] = [[] for _ in texts]
    start = size = 0
    for end, text in enumerate(texts, 1):
        size += len(text)
        if size >= _BATCH or end == len(texts):
            batch = Letters(texts[start:end])
            for document, form in chain(_long(index, batch), _short(index, batch)):
                found[start + document].append(int(index.sentences[form]))
            start, size = end, 0
    return [sorted(set(sentences)) for sentences in found]


def _long(index: EvaluationIndex, texts: Letters) -> Iterable[tuple[int, int]]:
    """Pairs of a text and a form that is in it, of those long enough for n-grams."""
    ngrams = texts.ngrams(NGRAM)
    passed = np.flatnonzero(index.sieve[ngrams.hashes >> np.uint64(64 - _SIEVE_BITS)])
    wanted, documents = ngrams.hashes[passed], ngrams.owners[passed]
    first = np.searchsorted(index.hashes, wanted, "left")
    counts = np.searchsorted(index.hashes, wanted, "right") - first
    places = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    # n-gram by document, each once; then how many of a form's n-grams a document has.
    hits = np.unique(np.stack([np.repeat(documents, counts), places]), axis=1)
    pairs, have = np.unique(np.stack([hits[0], index.owners[hits[1]]]), axis=1, return_counts=True)
    enough = have >= SHARE * index.sizes[pairs[1]]
    return zip(pairs[0][enough].tolist(), pairs[1][enough].tolist(), strict=True)


def _short(index: EvaluationIndex, texts: Letters) -> Iterator[tuple[int, int]]:
    """Pairs of a text and a form that is in it, of those too short for n-grams."""
    for length in range(FEWEST, NGRAM if len(index.short) else FEWEST):
        ngrams = texts.whole(length)
        at = np.minimum(np.searchsorted(index.short, ngrams.hashes), len(index.short) - 1)
        hits = np.flatnonzero(index.short[at] == ngrams.hashes)
        yield from zip(
            ngrams.owners[hits].tolist(), index.short_owners[at[hits]].tolist(), strict=True
        )


def _hash_short(texts: Sequence[str]) -> Hashes:
    """Each text, of letters alone, as the one n-gram that it is."""
    hashes = np.zeros(len(texts), np.uint64)
    for length in {len(text) for text in texts}:
        these = [number for number, text in enumerate(texts) if len(text) == length]
        hashes[these] = hash_ngrams([texts[number] for number in these], length).hashes
    return hashes
