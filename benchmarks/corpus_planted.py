"""Does `kobert-kit corpus` find what is planted in real text?

Copies of documents, as they are, with their sentences in another order, and with 5 % of their
characters replaced, at the end of the corpus; documents that are no copies, though they share half
their text with another, or a form that all are written in; and sentences of evaluation data
inside documents.

    python benchmarks/corpus_planted.py --evaluation KLUE_FILE_OR_FOLDER CORPUS...
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kobert_kit.corpus.copies.buckets import Indices
from kobert_kit.corpus.copies.evaluation import evaluation_files, evaluation_sentences
from kobert_kit.corpus.copies.hashes import hash_text
from kobert_kit.corpus.copies.minhash import FEWEST, NGRAM, Signatures, sign
from kobert_kit.corpus.copies.near import THRESHOLD
from kobert_kit.corpus.copies.ngrams import hash_ngrams
from kobert_kit.corpus.copies.overlap import build_index, find_sentences, is_looked_for
from kobert_kit.corpus.documents import ReadReport
from kobert_kit.corpus.files import find_files
from kobert_kit.corpus.reading import read_documents
from kobert_kit.corpus.sentences import split_sentences
from kobert_kit.corpus.stage.comparing import find_copies

PLANTED = 2_000


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--evaluation", type=Path)
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("corpus", nargs="+", type=Path)
    arguments = parser.parse_args()
    seed = arguments.seed
    documents = read_documents(find_files(arguments.corpus), ReadReport())
    texts = list({hash_text(document.text): document.text for document in documents}.values())
    print(
        f"{len(texts):,} distinct documents; {PLANTED:,} planted copies of each kind; seed {seed}"
    )
    plant_copies(texts, seed)
    plant_others(texts, seed + 1)
    if arguments.evaluation:
        plant_sentences(texts, arguments.evaluation, seed)


def plant_copies(texts: Sequence[str], seed: int) -> None:
    rng = random.Random(seed)
    signatures, sizes = sign(texts)
    long = np.flatnonzero(sizes >= FEWEST).tolist()
    chosen = rng.sample(long, PLANTED)
    kinds: dict[str, Callable[[random.Random, str], str]] = {
        "exact": lambda rng, text: text,
        "sentences reordered": reorder,
        "5 % of characters replaced": replace,
    }
    for name, change in kinds.items():
        kept = compare(texts, [change(rng, texts[number]) for number in chosen], signatures, sizes)
        found = kept[len(texts) :] == kept[chosen]
        print(f"{name}: {100 * found.mean():.2f} % found")
    alone = kept[: len(texts)] != np.arange(len(texts))
    print(f"taken for near duplicates among the corpus itself: {int(alone.sum())}")


def compare(
    texts: Sequence[str], planted: Sequence[str], signatures: Signatures, sizes: Indices
) -> Indices:
    """For each of ``texts``, whose signatures are known, and ``planted`` the one that is kept."""
    more, counts = sign(planted)
    digests = np.array([hash_text(text) for text in (*texts, *planted)], np.uint64)
    compared = np.concatenate([sizes, counts]) >= FEWEST
    with tempfile.TemporaryDirectory() as work:
        together = np.concatenate([signatures, more])
        return find_copies(digests, together, compared, Path(work) / "buckets").kept


def plant_others(texts: Sequence[str], seed: int) -> None:
    """Documents that must stay. One that is taken for a copy is a false merge, unless chance made
    it one: two texts behind one form may begin alike."""
    rng = random.Random(seed)
    signatures, sizes = sign(texts)
    long = [number for number in np.flatnonzero(sizes >= FEWEST) if len(texts[number]) >= 400]
    form = texts[rng.choice(long)]
    for name, change in (("half the text of another", halves), ("a form of its own", formed)):
        made = []
        for first, second in zip(rng.sample(long, PLANTED), rng.sample(long, PLANTED), strict=True):
            made.append(change(texts[first], texts[second] if change is halves else form))
        kept = compare(texts, made, signatures, sizes)[len(texts) :]
        merged = np.flatnonzero(kept != np.arange(len(texts), len(texts) + len(kept)))
        everything = [*texts, *made]
        alike = [jaccard(made[number], everything[kept[number]]) for number in merged]
        false = sum(share < THRESHOLD for share in alike)
        print(
            f"{name}: {100 * false / PLANTED:.2f} % of {PLANTED:,} falsely merged; "
            f"{len(merged) - false} more are alike (n-grams in common {THRESHOLD} and more)"
        )


def jaccard(first: str, second: str) -> float:
    """The exact similarity of two texts, of which signatures give an estimate."""
    sets = [set(hash_ngrams([text], NGRAM).hashes.tolist()) for text in (first, second)]
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def halves(first: str, second: str) -> str:
    """The beginning of one text and as much of another."""
    half = min(len(first), len(second)) // 2
    return f"{first[:half]}\n{second[-half:]}"


def formed(text: str, form: str) -> str:
    """A form filled in: in turn a line's length of the form, the same in all, and of the text."""
    size, half = 60, 200
    parts = zip(range(0, half, size), range(0, len(text[: 2 * half]), size), strict=False)
    return "\n".join(f"{form[a : a + size]}\n{text[b : b + size]}" for a, b in parts)


def reorder(rng: random.Random, text: str) -> str:
    parts = split_sentences(text)
    return " ".join(rng.sample(parts, len(parts)))


def replace(rng: random.Random, text: str) -> str:
    chars = list(text)
    for place in rng.sample(range(len(chars)), len(chars) // 20):
        chars[place] = chr(rng.randrange(0xAC00, 0xD7A4))
    return "".join(chars)


def plant_sentences(texts: Sequence[str], evaluation: Path, seed: int) -> None:
    rng, files = random.Random(seed), evaluation_files([evaluation])
    index = build_index(files)
    sentences = [sentence for path in files for sentence in evaluation_sentences(path)]
    long = [sentence for sentence in sentences if is_looked_for(sentence)]
    chosen = rng.sample(long, min(PLANTED, len(long)))
    hosts = rng.sample(range(len(texts)), len(chosen))
    before = find_sentences(index, [texts[host] for host in hosts])
    grown = [f"{texts[host]} {sentence}" for host, sentence in zip(hosts, chosen, strict=True)]
    after = find_sentences(index, grown)
    alone = find_sentences(index, chosen)
    found = sum(bool(set(own) & set(hit)) for own, hit in zip(alone, after, strict=True))
    print(f"evaluation sentences found: {100 * found / len(chosen):.2f} % of {len(chosen):,}")
    print(f"documents with one before they were planted: {sum(map(bool, before)):,}")


if __name__ == "__main__":
    main()
