"""One tokenizer that several threads and processes use at the same time."""

from __future__ import annotations

import contextlib
import copy
import multiprocessing
import pickle
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from conftest import sentences

import kobert_kit


@contextlib.contextmanager
def another_thread_encodes(tokenizer: Any) -> Iterator[None]:
    """It does, again and again, from before the block begins until it ends."""
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        while not ended.is_set():
            tokenizer(sentences())
            begun.set()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("how", ["pickle", "copy", "save"])
def test_copies_while_another_thread_encodes(always: Path, tmp_path: Path, how: str) -> None:
    tokenizer = kobert_kit.load_tokenizer(always)
    expected = tokenizer(sentences()[:9])["input_ids"]
    with another_thread_encodes(tokenizer):
        for _ in range(5):
            if how == "save":
                tokenizer.save_pretrained(tmp_path)
                twin = kobert_kit.load_tokenizer(tmp_path)
            elif how == "copy":
                twin = copy.deepcopy(tokenizer)
            else:
                twin = pickle.loads(pickle.dumps(tokenizer))
            assert twin(sentences()[:9])["input_ids"] == expected


def _encode_and_pickle(tokenizer: Any, answers: Connection) -> None:
    ids = tokenizer(sentences()[:9])["input_ids"]
    answers.send((ids, pickle.loads(pickle.dumps(tokenizer))(sentences()[:9])["input_ids"]))


def test_forks_while_another_thread_encodes(always: Path) -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    context = multiprocessing.get_context("fork")
    tokenizer = kobert_kit.load_tokenizer(always)
    expected = tokenizer(sentences()[:9])["input_ids"]
    with another_thread_encodes(tokenizer):
        for _ in range(5):
            here, there = context.Pipe()
            child = context.Process(target=_encode_and_pickle, args=(tokenizer, there))
            child.start()
            try:
                assert here.poll(120), "the child is stuck"
                assert here.recv() == (expected, expected)
            finally:
                child.kill()
                child.join()
                there.close()
