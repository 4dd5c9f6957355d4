"""A corpus as rows of one length that processes share, for the benchmarks of pretraining."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

HELD_OUT = 0.02  # of the documents
DOCUMENTS = 200  # encoded at a time
SPECIAL = ("pad", "cls", "sep", "mask")


@dataclass(frozen=True)
class Rows:
    """``ids`` (rows, tokens) without special tokens; ``offsets`` (rows, tokens, 2) in the texts."""

    ids: np.ndarray
    offsets: np.ndarray

    def starts(self, chosen: np.ndarray) -> np.ndarray:
        """Whether each token of the ``chosen`` rows begins a word: touches no token before it."""
        offsets = self.offsets[chosen]
        begins = np.ones(offsets.shape[:2], dtype=bool)
        begins[:, 1:] = offsets[:, 1:, 0] != offsets[:, :-1, 1]
        return begins


def read_rows(folder: Path, split: str) -> Rows:
    """The rows of ``split``, "training" or "held-out", memory-mapped."""
    names = (f"{split}-ids.npy", f"{split}-offsets.npy")
    return Rows(*(np.load(folder / name, mmap_mode="r") for name in names))


def write_rows(corpus: list[Path], tokenizer_folder: Path, room: int, folder: Path) -> None:
    """Write the rows of ``room`` tokens of both splits to ``folder``.

    Documents follow one another; what is left at the end is dropped. Beside the rows go
    ``frequencies.npy``, how often each id occurs in training, and ``special.json``, the ids of
    `SPECIAL`.
    """
    from kobert_kit.corpus.documents import ReadReport
    from kobert_kit.corpus.files import find_files
    from kobert_kit.corpus.holdout import is_held_out
    from kobert_kit.corpus.reading import read_documents
    from kobert_kit.tokenizer.loading import load_tokenizer

    tokenizer = load_tokenizer(tokenizer_folder)
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"training": [], "held-out": []}
    documents = read_documents(find_files(corpus), ReadReport())
    while some := list(islice(documents, DOCUMENTS)):
        for document, arrays in zip(some, _encode(tokenizer, [d.text for d in some]), strict=True):
            found["held-out" if is_held_out(document, HELD_OUT) else "training"].append(arrays)
    for split, parts in found.items():
        count = sum(len(ids) for ids, _ in parts) // room
        if count == 0:
            sys.exit(f"no {split} row of {room} tokens; name more --corpus")
        for name, columns in zip(("ids", "offsets"), zip(*parts, strict=True), strict=True):
            joined = np.concatenate(columns)[: count * room]
            np.save(folder / f"{split}-{name}.npy", joined.reshape(count, room, *joined.shape[1:]))
    ids = read_rows(folder, "training").ids.reshape(-1)
    np.save(folder / "frequencies.npy", np.bincount(ids, minlength=len(tokenizer)))
    special = {name: getattr(tokenizer, f"{name}_token_id") for name in SPECIAL}
    (folder / "special.json").write_text(json.dumps(special))


def _encode(tokenizer: Any, texts: list[str]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    batch = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    for ids, offsets in zip(batch["input_ids"], batch["offset_mapping"], strict=True):
        yield np.array(ids, np.int32), np.array(offsets, np.int32).reshape(-1, 2)
