"""Second step, in a worker: lines that the corpus has too often go, documents are judged as they
then are, and those that stay are made comparable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kobert_kit.corpus.copies.hashes import Hashes, hash_text
from kobert_kit.corpus.copies.minhash import FEWEST, PLACES, sign
from kobert_kit.corpus.copies.overlap import EvaluationIndex, find_sentences
from kobert_kit.corpus.files import readable_path
from kobert_kit.corpus.stage.chunks import (
    Account,
    Arrays,
    Dropped,
    Kept,
    array_path,
    read_arrays,
    read_chunk,
    write_chunk,
)
from kobert_kit.corpus.stage.cleaning import CLEANED
from kobert_kit.corpus.stage.context import Context, worker_context
from kobert_kit.corpus.stage.filters import BOILERPLATE, EXAMPLES
from kobert_kit.corpus.stage.lines import trim

JUDGED = "judged"
OVERLAP = "evaluation text"
NO_LINES_LEFT = "no lines left"
_MOST_LINES = 200  # of boilerplate that a chunk names
_LINE_CHARACTERS = 200


@dataclass(frozen=True)
class LineCounts:
    """What the whole corpus says about its lines.

    ``frequent`` are hashes of lines that are in several documents, in order, and ``documents`` in
    how many. ``offsets`` says where each chunk's lines begin in ``repeated``, which marks lines
    that the corpus had before; it is empty where nobody asked.
    """

    frequent: Hashes
    documents: NDArray[np.int64]
    offsets: NDArray[np.int64]
    repeated: NDArray[np.bool_]

    def save(self, path: Path) -> None:
        with path.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **vars(self))

    def frequency(self, lines: Hashes) -> NDArray[np.int64]:
        """In how many documents each line is; 0 for too few to be among the frequent."""
        if not len(self.frequent):
            return np.zeros(len(lines), np.int64)
        at = np.minimum(np.searchsorted(self.frequent, lines), len(self.frequent) - 1)
        return np.where(self.frequent[at] == lines, self.documents[at], 0)

    def seen(self, chunk: int, count: int) -> NDArray[np.bool_]:
        """Which of the ``count`` lines of a chunk the corpus had before."""
        start = self.offsets[chunk]
        return self.repeated[start : start + count] if len(self.repeated) else np.zeros(count, bool)


@cache
def load_line_counts(path: Path) -> LineCounts:
    """What `LineCounts.save` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        return LineCounts(**arrays)


def lines_path(work: Path) -> Path:
    return work / "lines.npz"


def judge_chunk(number: int) -> None:
    """Make the judged chunk ``number`` of the cleaned one, which is removed."""
    context = worker_context()
    path = context.chunk(CLEANED, number)
    account, documents = read_chunk(path)
    trimmed = _trim(number, list(documents), read_arrays(path), context, account)
    kept = [document for document in trimmed if _passes(document, context, account)]
    if context.evaluation_files:
        kept = _apart_from_evaluation(kept, context, account)
    texts = [document.text for document in kept]
    signatures, sizes = np.zeros((len(kept), PLACES), np.uint32), np.zeros(len(kept), np.int64)
    if context.near_duplicates:
        signatures, sizes = sign(texts)
    arrays: Arrays = {
        "digests": np.array([hash_text(text) for text in texts], np.uint64),
        "places": np.array([(d.file, d.line) for d in kept], np.int64).reshape(-1, 2),
        "signatures": signatures,
        "compared": sizes >= FEWEST,
    }
    write_chunk(context.chunk(JUDGED, number), kept, account, arrays)
    path.unlink()
    array_path(path).unlink()


def _trim(
    number: int, documents: list[Kept], arrays: Arrays, context: Context, account: Account
) -> list[Kept]:
    """The documents without the lines that go."""
    counts = load_line_counts(lines_path(context.work))
    lines = arrays["lines"]
    frequency, hashes = counts.frequency(lines).tolist(), lines.tolist()
    seen = counts.seen(number, len(lines)).tolist()
    trimmed, start = [], 0
    for document, count in zip(documents, arrays["counts"].tolist(), strict=True):
        if count:
            span = slice(start, start + count)
            start += count
            rules = context.filters_of(document.file).lines
            result = trim(
                document.text, document.sentences, rules, frequency[span], hashes[span], seen[span]
            )
            _tally_lines(result.gone, account)
            document = document._replace(text=result.text, sentences=result.sentences)
        trimmed.append(document)
    top = sorted(account.boilerplate.items(), key=lambda item: (-item[1], item[0]))
    account.boilerplate = dict(top[:_MOST_LINES])
    return trimmed


def _tally_lines(gone: list[tuple[str, str]], account: Account) -> None:
    for name, line in gone:
        tally = account.tally(name)
        tally.lines += 1
        tally.characters += len(line) + 1
        line = line[:_LINE_CHARACTERS]
        if len(tally.examples) < EXAMPLES and line not in tally.examples:
            tally.examples.append(line)
        if name == BOILERPLATE:
            account.boilerplate[line] = account.boilerplate.get(line, 0) + 1
    for name in {name for name, _ in gone}:
        account.tally(name).documents += 1


def _passes(document: Kept, context: Context, account: Account) -> bool:
    reason = "" if document.text else NO_LINES_LEFT
    for name, check in context.filters_of(document.file).checks.items():
        if reason := reason or check(document.text):
            tally = account.tally(name)
            tally.documents += 1
            tally.characters += len(document.text)
            if len(tally.examples) < EXAMPLES:
                tally.examples.append(document.text[:80])
            break
    if reason:
        account.dropped.append(Dropped(document.file, document.line, reason, document.size))
    return not reason


_load_index = cache(EvaluationIndex.load)


def _apart_from_evaluation(documents: list[Kept], context: Context, account: Account) -> list[Kept]:
    """The documents without those that hold evaluation sentences, or all, but counted."""
    index = _load_index(context.evaluation)
    kept: list[Kept] = []
    found: set[int] = set()
    all_sentences = find_sentences(index, [document.text for document in documents])
    for document, sentences in zip(documents, all_sentences, strict=True):
        files = [readable_path(context.evaluation_files[file]) for file in index.files[sentences]]
        found.update(sentences)
        for file in sorted(set(files)):
            account.overlaps[file] = account.overlaps.get(file, 0) + 1
        if sentences and context.drop_overlap:
            detail = f"{len(sentences)} of its sentences, the first of {files[0]}"
            entry = Dropped(document.file, document.line, OVERLAP, document.size, detail=detail)
            account.dropped.append(entry)
        else:
            kept.append(document)
    account.found = sorted(found)
    return kept
