"""Batches ahead: in order, drawn in the caller's thread, errors where they belong."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count

import pytest

from kobert_kit.training.prefetch import Prefetch


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_the_order_is_that_of_the_tasks(workers: int) -> None:
    def slow_now_and_then(number: int) -> int:
        time.sleep(0.01 if number % 3 == 0 else 0)
        return number * number

    drawn_in = set()

    def tasks() -> Iterator[int]:
        for number in count():
            drawn_in.add(threading.get_ident())
            yield number

    with Prefetch(slow_now_and_then, tasks(), workers) as made:
        assert [next(made) for _ in range(40)] == [n * n for n in range(40)]
    assert drawn_in == {threading.get_ident()}


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_an_error_comes_out_at_its_own_step(workers: int) -> None:
    def make(number: int) -> int:
        if number == 5:
            raise ValueError("five")
        return number

    with Prefetch(make, count(), workers) as made:
        assert [next(made) for _ in range(5)] == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError, match="five"):
            next(made)


def test_leaving_early_does_not_wait_for_what_has_not_begun() -> None:
    made_numbers = []

    def make(number: int) -> int:
        made_numbers.append(number)
        return number

    with Prefetch(make, count(), 1) as made:
        next(made)
    assert len(made_numbers) <= 3
    assert not any(thread.name.startswith("batches") for thread in threading.enumerate())
