"""Offsets into the text as it was passed, whatever a normaliser made of it.

The library maps a composed character to the first of its parts only. So text that normalising
would change in length is normalised here, and the offsets are mapped back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from tokenizers import AddedToken, Encoding, Tokenizer

from kobert_kit.corpus.reading import encodable
from kobert_kit.normalize import Normalized, normalize, normalize_text

Text = str | Sequence[str]  # running text, or words
Sample = tuple[Text, ...]  # one text or a pair


class Spelling:
    """How text is spelt for ``tokenizer``: normalised, but for added tokens that are not.

    Special tokens are such. They are looked for in the text as it is, so that ［질문］ is found.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def cleaned(self, texts: Any) -> Any:
        """``texts`` (a string, or lists of them, nested) with every string normalised."""
        if isinstance(texts, str):
            plain = normalize_text(texts)
            if plain != texts and self._kept.search(texts):
                plain = self._around_kept(texts).text
            return encodable(plain)
        if isinstance(texts, list | tuple):
            return type(texts)(self.cleaned(text) for text in texts)
        return texts

    def source(self, text: str) -> Normalized | None:
        """Where the characters of the cleaned ``text`` are in it; None if all keep their place."""
        whole = normalize(text)
        if isinstance(whole.starts, range):
            return None
        return self._around_kept(text) if self._kept.search(text) else whole

    @cached_property
    def _kept(self) -> re.Pattern[str]:
        """Matches an added token that is not normalised: as the library does, the longest."""
        added = self._tokenizer.get_added_tokens_decoder().values()
        kept = sorted(
            (token for token in added if not token.normalized), key=lambda one: -len(one.content)
        )
        return re.compile("|".join(map(_as_pattern, kept)) or "(?!)")

    def _around_kept(self, text: str) -> Normalized:
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        reach, last = 0, len(text)
        for start, end in (*(match.span() for match in self._kept.finditer(text)), (last, last)):
            between = normalize(text[reach:start])
            parts += (between.text, text[start:end])
            starts += (*(reach + place for place in between.starts), *range(start, end))
            ends += (*(reach + place for place in between.ends), *range(start + 1, end + 1))
            reach = end
        return Normalized("".join(parts), starts, ends)


def _as_pattern(token: AddedToken) -> str:
    content = re.escape(str(token.content))
    return rf"(?<!\w){content}(?!\w)" if token.single_word else content


def strings(texts: Any) -> Iterator[str]:
    """Every string of ``texts``, nested as for `Spelling.cleaned`."""
    if isinstance(texts, str):
        yield texts
    elif isinstance(texts, list | tuple):
        for text in texts:
            yield from strings(text)


def as_samples(text: Any, text_pair: Any, is_split: bool) -> list[Sample]:
    """What a tokenizer's call was given, a sample each; checks that all of it is text.

    Raises:
        TypeError: something is bytes, None or the like; names the row.
    """
    batched = isinstance(text, list | tuple) and not (
        is_split and not (text and isinstance(text[0], list | tuple))
    )
    rows = text if batched else [text]
    pairs = [None] * len(rows) if text_pair is None else text_pair if batched else [text_pair]
    samples: list[Sample] = []
    for number, (first, second) in enumerate(zip(rows, pairs, strict=False)):
        is_pair = not is_split and isinstance(first, list | tuple)
        sample = tuple(first) if is_pair else (first,) if second is None else (first, second)
        for part in sample:
            _check(part, number if batched else None, is_split)
        samples.append(sample)
    return samples


def _check(part: Any, row: int | None, is_split: bool) -> None:
    words = part if is_split and isinstance(part, list | tuple) else [part]
    for word in words:
        if not isinstance(word, str):
            place = "" if row is None else f"row {row}: "
            hint = "decode it first" if isinstance(word, bytes) else "pass a str"
            raise TypeError(f"{place}text is {type(word).__name__}, not str; {hint}")


def with_exact_offsets(encoding: Encoding, sample: Sample, spelling: Spelling) -> Encoding:
    """``encoding`` of the cleaned ``sample``, with offsets into the sample itself."""
    sources = [_source(text, spelling) for text in sample]
    if not any(sources):
        return encoding
    # An Encoding's offsets cannot be set but through the state that it pickles to.
    state = json.loads(encoding.__getstate__())
    for part in (state, *state["overflowing"]):
        for number, span in part["sequence_ranges"].items():
            source = sources[int(number)]
            for token in range(span["start"], span["end"]):
                part["offsets"][token] = _original(
                    source, part["words"][token], *part["offsets"][token]
                )
    exact = Encoding()
    exact.__setstate__(json.dumps(state, ensure_ascii=False).encode())
    return exact


# For running text its map, for words one each; None where every character keeps its place.
_Source = Normalized | list[Normalized | None] | None


def _source(text: Text, spelling: Spelling) -> _Source:
    if isinstance(text, str):
        return spelling.source(text)
    maps = [spelling.source(word) for word in text]
    return maps if any(maps) else None


def _original(source: _Source, word: int | None, start: int, end: int) -> tuple[int, int]:
    found = source[word] if isinstance(source, list) and word is not None else source
    if not isinstance(found, Normalized) or start == end:
        return start, end
    return found.starts[start], found.ends[end - 1]
