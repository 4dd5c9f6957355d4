"""Which morphemes of a domain a finished tokenizer would gain most from as entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from kobert_kit.tokenizer.entries import extended_native, place_entries
from kobert_kit.tokenizer.folder import is_reserved
from kobert_kit.tokenizer.pieces import MAX_PIECE_CHARS, PREFIX, Cuts
from kobert_kit.tokenizer.subject import Subject
from kobert_kit.tokenizer.wordpiece import MAX_CROSSING

BATCH = 20_000  # eojeols that are encoded at a time, about 50 MB
MAX_ROUNDS = 10  # in which entries give way to others


class CountedEojeol(NamedTuple):
    """An eojeol, the cuts between its surface morphemes, and how many times it occurs."""

    text: str
    cuts: Cuts
    times: int


class Candidate(NamedTuple):
    """A morpheme as it is looked up (먹, ##습니다) that is no entry yet.

    ``saved`` are the tokens that it would save in all, ``pieces`` the entries that it is made of
    now, or [UNK] alone.
    """

    saved: int
    times: int
    entry: str
    pieces: tuple[str, ...]

    @property
    def rank(self) -> tuple[int, int, str]:
        """Sorts the best first; what is worth the same goes by its code points."""
        return -self.saved, -self.times, self.entry


def choose_entries(
    subject: Subject, eojeols: Sequence[CountedEojeol], tokens: int, min_frequency: int
) -> list[Candidate]:
    """The ``tokens`` morphemes of the eojeols that save most tokens as entries, the best first.

    Fewer where the text does not yield as many. An entry must be used ``min_frequency`` times.
    Without the analyser, longest-match-first decides: an entry that it does not reach, or that it
    takes across a cut in more than MAX_CROSSING of its uses, gives way to another.
    """
    rest = candidates(subject, count_pieces(subject.native, eojeols), min_frequency)
    rest.sort(key=lambda candidate: candidate.rank)
    if subject.analyses:
        return rest[:tokens]
    for _ in range(MAX_ROUNDS):
        chosen = rest[:tokens]
        unused, crossing = _useless(subject, chosen, eojeols, min_frequency)
        # What is unused may be used when an entry that crosses it, 아버지 for 아버, has gone.
        rejected = crossing or unused
        if not rejected:
            return chosen
        rest = [one for one in rest if one not in rejected]
    return [one for one in chosen if one not in unused | crossing]


def count_pieces(native: Tokenizer, eojeols: Sequence[CountedEojeol]) -> Counter[str]:
    """How often each surface morpheme occurs, as the tokenizer would look it up.

    Its normaliser and pre-tokenizer decide what that is: BERT's cuts an eojeol at punctuation, and
    what follows is looked up without ##.
    """
    counts: Counter[str] = Counter()
    normalizer = native.normalizer
    for eojeol, encoding in _encoded(native, eojeols):
        for start, end in _words(encoding):
            edges = [start, *(cut for cut in eojeol.cuts if start < cut < end), end]
            inside = False
            for left, right in pairwise(edges):
                form = eojeol.text[left:right]
                if normalizer is not None:
                    form = normalizer.normalize_str(form).strip()
                if _can_be_entry(form, inside) and right - left <= MAX_PIECE_CHARS:
                    counts[(PREFIX if inside else "") + form] += eojeol.times
                inside |= bool(form)
    return counts


def _encoded(
    native: Tokenizer, eojeols: Sequence[CountedEojeol]
) -> Iterator[tuple[CountedEojeol, Encoding]]:
    for first in range(0, len(eojeols), BATCH):
        batch = eojeols[first : first + BATCH]
        texts = [eojeol.text for eojeol in batch]
        yield from zip(batch, native.encode_batch(texts, add_special_tokens=False), strict=True)


def _words(encoding: Encoding) -> Iterator[tuple[int, int]]:
    """The spans in which the model looks for entries; a word is one of them."""
    for _, tokens in groupby(zip(encoding.word_ids, encoding.offsets, strict=True), itemgetter(0)):
        spans = [span for _, span in tokens]
        yield min(start for start, _ in spans), max(end for _, end in spans)


def _can_be_entry(form: str, inside: bool) -> bool:
    """A space in it would be a bug of a normaliser; what begins with ## would be read as inside."""
    return form.split() == [form] and (inside or not form.startswith(PREFIX))


def candidates(subject: Subject, pieces: Counter[str], min_frequency: int) -> list[Candidate]:
    """Those of the counted ``pieces`` that are no entry, with what they would save.

    A piece of n tokens saves n - 1 each time. One that is [UNK] counts as if it were spelt out, and
    a token more: what it says is lost.
    """
    known = subject.native.get_vocab()
    found = []
    for entry, times in pieces.items():
        if times < min_frequency or entry in known or is_reserved(entry):
            continue
        parts = look_up(entry, known)
        each = len(parts) - 1 if parts else len(entry.removeprefix(PREFIX))
        unknown = () if subject.unknown is None else (subject.unknown,)
        found.append(Candidate(times * each, times, entry, parts or unknown))
    return found


def look_up(piece: str, vocabulary: Collection[str]) -> tuple[str, ...]:
    """The entries that WordPiece makes of a ``piece`` (먹, ##습니다); none where it is [UNK]."""
    prefix = PREFIX if piece.startswith(PREFIX) else ""
    text = piece.removeprefix(PREFIX)
    parts: list[str] = []
    start = 0
    while start < len(text):
        ends = range(len(text), start, -1)
        end = next((end for end in ends if prefix + text[start:end] in vocabulary), None)
        if end is None:
            return ()
        parts.append(prefix + text[start:end])
        start, prefix = end, PREFIX
    return tuple(parts)


def _useless(
    subject: Subject,
    chosen: Sequence[Candidate],
    eojeols: Sequence[CountedEojeol],
    min_frequency: int,
) -> tuple[set[Candidate], set[Candidate]]:
    """Those that longest-match-first hardly uses, and those that it uses across morphemes."""
    new = place_entries(subject, [candidate.entry for candidate in chosen])
    tokenizer = extended_native(subject, new)
    uses: Counter[str] = Counter()
    across: Counter[str] = Counter()
    for eojeol, encoding in _encoded(tokenizer, eojeols):
        for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
            if token in new:
                uses[token] += eojeol.times
                if any(start < cut < end for cut in eojeol.cuts):
                    across[token] += eojeol.times
    return (
        {one for one in chosen if uses[one.entry] < min_frequency},
        {one for one in chosen if across[one.entry] > MAX_CROSSING * uses[one.entry]},
    )
