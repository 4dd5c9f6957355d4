"""Entries added to a finished tokenizer, with everything else about it left as it was.

The files are edited as the JSON that they are: what the library does not know survives, such as the
lock on a folder of mode "always".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from kobert_kit.errors import DataError
from kobert_kit.records import atomic_file, write_json
from kobert_kit.tokenizer.folder import is_slot
from kobert_kit.tokenizer.loading import copy_tokenizer
from kobert_kit.tokenizer.pieces import PREFIX
from kobert_kit.tokenizer.recipe import CONFIG_NAME
from kobert_kit.tokenizer.subject import Subject, open_subject

Places = Mapping[str, int]  # new entry -> its id


def require_wordpiece(subject: Subject) -> None:
    """Check that the tokenizer is BERT's kind: WordPiece with ## inside a word.

    Raises:
        DataError: it is another.
    """
    model = subject.native.model
    if getattr(model, "continuing_subword_prefix", None) != PREFIX or model.unk_token is None:
        raise DataError(
            f"{subject.name}: its tokenizer is a {type(model).__name__}, and not BERT's: WordPiece "
            f"with {PREFIX} inside a word"
        )


def free_slots(subject: Subject) -> list[int]:
    """The ids of the unused slots [unused0], ..., in order, but for those with a special role."""
    taken = {*subject.special.values(), *subject.extra}
    return sorted(
        number
        for entry, number in subject.native.get_vocab().items()
        if is_slot(entry) and entry not in taken
    )


def place_entries(subject: Subject, entries: Sequence[str]) -> Places:
    """An id for each of the new ``entries``: unused slots in order, then new ids at the end."""
    end = max(subject.native.get_vocab().values()) + 1
    return dict(zip(entries, chain(free_slots(subject), count(end)), strict=False))


def extended_vocabulary(subject: Subject, places: Places) -> dict[str, int]:
    """Every entry with its id, added tokens too; a slot whose id is in ``places`` is gone."""
    filled = set(places.values())
    old = subject.native.get_vocab()
    ids = {entry: number for entry, number in old.items() if number not in filled} | dict(places)
    return dict(sorted(ids.items(), key=lambda item: item[1]))


def with_vocabulary(values: Mapping[str, Any], vocabulary: Mapping[str, int]) -> dict[str, Any]:
    """The values of a ``tokenizer.json`` with an extended ``vocabulary``.

    It holds the added tokens as well: those with ids behind the old vocabulary would be numbered
    anew by the library. Those that have gone from it, slots, are no added tokens either.
    """
    added = [token for token in values["added_tokens"] if token["content"] in vocabulary]
    return {
        **values,
        "added_tokens": added,
        "model": {**values["model"], "vocab": dict(vocabulary)},
    }


def extended_native(subject: Subject, places: Places) -> Tokenizer:
    """``subject.native`` with entries at ``places``, for running text, in memory."""
    values = json.loads(subject.native.to_str())
    vocabulary = extended_vocabulary(subject, places)
    tokenizer: Tokenizer = Tokenizer.from_str(json.dumps(with_vocabulary(values, vocabulary)))
    tokenizer.encode_special_tokens = True
    return tokenizer


def write_extended(subject: Subject, folder: Path, places: Places) -> Subject:
    """Write ``subject``'s tokenizer with entries at ``places`` to ``folder``; returns it, opened.

    ``subject`` is that of a folder on this machine; ``folder`` exists.

    Raises:
        DataError: what is written does not load as it should.
    """
    copy_tokenizer(Path(subject.name), folder)
    vocabulary = extended_vocabulary(subject, places)
    path = folder / "tokenizer.json"
    write_json(path, with_vocabulary(_read(path), vocabulary))
    if (folder / "vocab.txt").exists():
        _extend_list(folder / "vocab.txt", vocabulary, places)
    _forget_slots(folder, set(places.values()))
    extended = open_subject(str(folder))
    if extended.native.get_vocab() != vocabulary:
        raise DataError(
            f"{subject.name}: its tokenizer does not keep what is added to its files; save it "
            "anew with transformers' save_pretrained and try that folder"
        )
    return extended


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _extend_list(path: Path, vocabulary: Mapping[str, int], places: Places) -> None:
    """Line n of a ``vocab.txt`` is the entry with the id n."""
    # Not splitlines(): entries may be characters that it takes for the end of a line.
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    size = len(lines)
    lines += [""] * (max(vocabulary.values()) + 1 - size)
    for entry, number in vocabulary.items():
        if number >= size or entry in places:
            lines[number] = entry
    with atomic_file(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _forget_slots(folder: Path, filled: set[int]) -> None:
    """Slots that are filled now are no added tokens any more, wherever that is said."""
    config, added = folder / CONFIG_NAME, folder / "added_tokens.json"
    if config.exists():
        values = _read(config)
        listed = values.get("added_tokens_decoder", {})
        values["added_tokens_decoder"] = {
            number: token for number, token in listed.items() if int(number) not in filled
        }
        if len(values["added_tokens_decoder"]) < len(listed):
            write_json(config, values)
    if added.exists():
        values = _read(added)
        kept = {token: number for token, number in values.items() if number not in filled}
        if len(kept) < len(values):
            write_json(added, kept)
