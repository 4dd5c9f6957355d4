"""Offsets into the text as it was passed, whatever a normaliser made of it.

The library maps a composed character to the first of its parts only. So text that normalising
would change in length is normalised here, and the offsets are mapped back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tokenizers import Encoding

from kobert_kit.corpus.reading import encodable
from kobert_kit.normalize import Normalized, normalize, normalize_text

Text = str | Sequence[str]  # running text, or words
Sample = tuple[Text, ...]  # one text or a pair


def cleaned(texts: Any) -> Any:
    """``texts`` (a string, or lists of them, nested) with every string normalised."""
    if isinstance(texts, str):
        return encodable(normalize_text(texts))
    if isinstance(texts, list | tuple):
        return type(texts)(cleaned(text) for text in texts)
    return texts


def strings(texts: Any) -> Iterator[str]:
    """Every string of ``texts``, nested as for `cleaned`."""
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


def with_exact_offsets(encoding: Encoding, sample: Sample) -> Encoding:
    """``encoding`` of the cleaned ``sample``, with offsets into the sample itself."""
    sources = [_source(text) for text in sample]
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


def _source(text: Text) -> _Source:
    if isinstance(text, str):
        return _map(text)
    maps = [_map(word) for word in text]
    return maps if any(maps) else None


def _map(text: str) -> Normalized | None:
    source = normalize(text)
    return None if isinstance(source.starts, range) else source


def _original(source: _Source, word: int | None, start: int, end: int) -> tuple[int, int]:
    found = source[word] if isinstance(source, list) and word is not None else source
    if not isinstance(found, Normalized) or start == end:
        return start, end
    return found.starts[start], found.ends[end - 1]
