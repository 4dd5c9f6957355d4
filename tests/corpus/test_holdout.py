"""The held-out slice is the same for every stage, and as large as asked."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys

import pytest

from kobert_kit.corpus.documents import Document
from kobert_kit.corpus.holdout import is_held_out

DOCUMENTS = [Document(f"a.jsonl:{n}", f"{n}번째 글") for n in range(20_000)]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05, 0.5, 1.0])
def test_share_is_close_to_what_was_asked(share: float) -> None:
    held = sum(is_held_out(document, share) for document in DOCUMENTS)
    expected = share * len(DOCUMENTS)
    assert abs(held - expected) <= 4 * math.sqrt(expected * (1 - share))


def test_order_does_not_matter_and_larger_shares_contain_smaller_ones() -> None:
    shuffled = random.Random(1).sample(DOCUMENTS, len(DOCUMENTS))
    small = {d.id for d in DOCUMENTS if is_held_out(d, 0.02)}
    assert small == {d.id for d in shuffled if is_held_out(d, 0.02)}
    assert small < {d.id for d in DOCUMENTS if is_held_out(d, 0.1)}


def test_another_process_with_another_hash_seed_holds_out_the_same() -> None:
    program = (
        "from kobert_kit.corpus.documents import Document\n"
        "from kobert_kit.corpus.holdout import is_held_out\n"
        "print(*[n for n in range(500) if is_held_out(Document('', f'{n}번째'), 0.1)])\n"
    )
    expected = [n for n in range(500) if is_held_out(Document("", f"{n}번째"), 0.1)]
    for seed in ("1", "2"):
        printed = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert [int(n) for n in printed.split()] == expected


def test_copies_of_a_text_are_on_the_same_side() -> None:
    copies = [Document(str(n), "같은 글") for n in range(50)]
    assert len({is_held_out(document, 0.5) for document in copies}) == 1
