"""Does every token of every line stand for its own piece of the text?

For each tokenizer folder and each line, as given and in NFD: tokens are in order, do not overlap,
hold no white space, only white space lies between them, each spells the text that it stands for,
the same text gives the same tokens again, and in mode "always" none crosses a morpheme.

    python benchmarks/contract.py --tokenizer vocab --tokenizer always --each 12000 FOLDER...

FOLDER holds corpora (.jsonl, compressed or not), .json, .tsv and .txt files.
"""

from __future__ import annotations

import argparse
import unicodedata
from collections import Counter
from pathlib import Path

from lines import read_lines

from kobert_kit import load_tokenizer
from kobert_kit.morphology.splitter import EOJEOL
from kobert_kit.normalize import normalize_text
from kobert_kit.tokenizer.boundaries import BoundaryMarker
from kobert_kit.tokenizer.recipe import read_recipe

BATCH = 1000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", action="append", type=Path, required=True)
    parser.add_argument("--each", type=int, default=12_000, help="lines of every file")
    parser.add_argument("folder", nargs="+", type=Path)
    arguments = parser.parse_args()
    lines = read_lines(arguments.folder, arguments.each)
    print(f"{len(lines):,} lines, {sum(map(len, lines)):,} characters, each also in NFD")
    for folder in arguments.tokenizer:
        print(f"{folder}: {check(folder, lines) or 'no violation'}")


def check(folder: Path, lines: list[str]) -> Counter[str]:
    recipe = read_recipe(folder)
    tokenizer, again = load_tokenizer(folder), load_tokenizer(folder)
    marker = BoundaryMarker(recipe.kiwi) if recipe.mode == "always" else None
    found: Counter[str] = Counter()
    for start in range(0, len(lines), BATCH):
        given = [line.encode("utf-8", "replace").decode() for line in lines[start : start + BATCH]]
        texts = given + [unicodedata.normalize("NFD", text) for text in given]
        batch = tokenizer(texts, add_special_tokens=False, return_offsets_mapping=True)
        if batch["input_ids"] != again(texts[::-1], add_special_tokens=False)["input_ids"][::-1]:
            found["not the same again"] += 1
        for text, ids, offsets in zip(
            texts, batch["input_ids"], batch["offset_mapping"], strict=True
        ):
            tokens = tokenizer.convert_ids_to_tokens(ids)
            found.update(violations(text, tokens, offsets, marker))
    return found


def violations(
    text: str,
    tokens: list[str],
    offsets: list[tuple[int, int]],
    marker: BoundaryMarker | None,
) -> list[str]:
    found, reach = [], 0
    starts = marker.starts(text) if marker else None
    for token, (start, end) in zip(tokens, offsets, strict=True):
        surface = text[start:end]
        if start < reach:
            found.append("overlap")
        if EOJEOL.search(text[reach:start]):
            found.append("gap")
        if not EOJEOL.fullmatch(surface):
            found.append("white space in a token")
        if token != "[UNK]" and normalize_text(surface) != token.removeprefix("##"):
            found.append("not what it stands for")
        if starts is not None and starts[start + 1 : end].any():
            found.append("across a morpheme")
        reach = end
    return [*found, "gap"] if EOJEOL.search(text[reach:]) else found


if __name__ == "__main__":
    main()
