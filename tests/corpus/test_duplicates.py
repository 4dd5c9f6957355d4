"""Planted copies and evaluation sentences are found, and what differs is left alone."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import random
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from corpus_files import write_bytes
from test_curate import lines, run, text

import kobert_kit.corpus.copies.buckets
from kobert_kit.corpus.copies.buckets import group_starts, sorted_buckets
from kobert_kit.corpus.copies.minhash import FEWEST, NGRAM, PLACES, sign, similarity
from kobert_kit.corpus.copies.near import THRESHOLD, find_near
from kobert_kit.corpus.copies.ngrams import hash_ngrams
from kobert_kit.corpus.copies.overlap import build_index, find_sentences
from kobert_kit.corpus.disk import let_go
from kobert_kit.errors import DataError


def ngram_set(text: str, n: int = NGRAM) -> set[str]:
    kept = "".join(char for char in text.lower() if char.isalnum())
    return {kept[at : at + n] for at in range(len(kept) - n + 1)}


def random_text(rng: random.Random, length: int) -> str:
    return "".join(chr(rng.randrange(0xAC00, 0xD7A4)) for _ in range(length))


def edited(rng: random.Random, text: str, share: float) -> str:
    chars = list(text)
    for at in rng.sample(range(len(chars)), int(share * len(chars))):
        chars[at] = random_text(rng, 1)
    return "".join(chars)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 13])
def test_ngrams_are_those_of_the_letters(n: int) -> None:
    texts = [
        "",
        "가",
        "가나다",
        "가 나! 다라마바사아자차카타파하",
        "Ab 1.5 가나다라마바사아자차카 ab",
        "ㅋ" * 40,
    ]
    ngrams = hash_ngrams(texts, n)
    at, names = 0, dict[int, str]()
    for whole, size in zip(texts, ngrams.sizes.tolist(), strict=True):
        kept = "".join(char for char in whole.lower() if char.isalnum())
        expected = [kept[i : i + n] for i in range(len(kept) - n + 1)]
        assert size == len(expected)
        for name, number in zip(expected, ngrams.hashes[at : at + size].tolist(), strict=True):
            assert names.setdefault(number, name) == name
        at += size
    assert len(set(names.values())) == len(names), "equal n-grams have equal numbers"


def test_signatures_estimate_the_jaccard_similarity() -> None:
    rng, errors = random.Random(2), []
    for _ in range(150):
        first = random_text(rng, rng.randrange(FEWEST + NGRAM, 800))
        second = edited(rng, first, rng.choice([0.0, 0.02, 0.1, 0.4]))
        a, b = ngram_set(first), ngram_set(second)
        signatures, _ = sign([first, second])
        errors.append(similarity(signatures[0], signatures[1]) - len(a & b) / len(a | b))
    assert abs(np.mean(errors)) < 0.01 and np.std(errors) < 0.035
    alone, _ = sign([first])
    assert (alone[0] == sign([random_text(rng, 99), first])[0][1]).all(), "whatever else is signed"


@pytest.mark.skipif(sys.platform != "linux", reason="workers fork on Linux alone")
def test_a_forked_child_signs_as_its_parent_did() -> None:
    texts = [random_text(random.Random(7), 300) for _ in range(3_000)]  # enough for threads
    expected, _ = sign(texts)

    def check() -> None:
        assert (sign(texts)[0] == expected).all()

    child = multiprocessing.get_context("fork").Process(target=check)
    child.start()
    child.join(60)
    child.kill()
    assert child.exitcode == 0, "it does not wait for threads that it has not"


def test_texts_too_short_or_without_letters_have_no_signature() -> None:
    signatures, sizes = sign(["", "...", "가나다라", "가" * (FEWEST + NGRAM - 2), "가" * 300])
    assert sizes.tolist() == [0, 0, 0, FEWEST - 1, 296]
    assert not signatures[:4].any() and signatures[4].any()
    assert sign([])[0].shape == (0, PLACES)


def test_planted_near_duplicates_are_found_and_nothing_else(tmp_path: Path) -> None:
    rng = random.Random(4)
    originals = [text(rng, rng.randrange(8, 40)) for _ in range(400)]
    copies = []
    for original in originals:
        sentences = original.replace("\n", " ").split(". ")
        copies.append(". ".join(rng.sample(sentences, len(sentences))))
        copies.append(edited(rng, original, 0.05))
    others = [text(rng, rng.randrange(8, 40)) for _ in range(400)]
    signatures, sizes = sign([*originals, *others, *copies])
    assert sizes.min() >= FEWEST
    wanted = np.ones(len(signatures), bool)
    found = find_near(signatures, wanted, tmp_path / "work").kept
    assert (found[:800] == np.arange(800)).all(), "no false merge"
    of = found[800:].reshape(-1, 2) == np.arange(400)[:, None]
    reordered, edits = of.mean(axis=0)
    assert reordered > 0.95 and edits > 0.9
    wanted[:400] = False
    assert (find_near(signatures, wanted, tmp_path / "work").kept[800:] >= 400).all()


def test_of_copies_the_first_is_kept_and_every_copy_is_like_it(tmp_path: Path) -> None:
    rng, chain = random.Random(5), [text(random.Random(6), 30)]
    for _ in range(30):
        chain.append(edited(rng, chain[-1], 0.03))
    signatures, _ = sign(chain)
    found = find_near(signatures, np.ones(len(chain), bool), tmp_path / "work")
    for copy, (kept, alike) in enumerate(zip(found.kept, found.similarity, strict=True)):
        assert kept <= copy and found.kept[kept] == kept
        assert kept == copy or THRESHOLD <= alike < 1
    assert 1 < len(set(found.kept.tolist())) < len(chain), "the far end of a chain is no copy"


def test_buckets_on_disk_give_what_sorting_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    hashes = random.integers(0, 50, 1_000).astype(np.uint64) * np.uint64(2**57 + 1)
    places = np.split(np.arange(1_000), 10)
    blocks = [(hashes[indices], indices) for indices in places]
    for size in (10_000, 100):
        monkeypatch.setattr(kobert_kit.corpus.copies.buckets, "BUCKET", size)
        first = np.full(1_000, -1)
        for keys, indices in sorted_buckets(blocks, 1_000, tmp_path / "buckets"):
            first[indices] = indices[group_starts(keys)]
        assert first.tolist() == [hashes.tolist().index(value) for value in hashes.tolist()]
        assert not (tmp_path / "buckets").exists()


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    """Made-up evaluation data in the layouts of the benchmarks."""
    folder = tmp_path / "eval"
    folder.mkdir()
    rows = [
        {"guid": "nli_0", "premise": "가을 산에는 붉은 단풍이 곱게 물들어 있었다.", "label": "참"},
        {"guid": "nli_1", "premise": "이것은 짧은 질문입니까?", "hypothesis": "그렇다"},
    ]
    (folder / "nli.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    context = "바닷가 마을의 등대는 백 년이 넘었다. 등대지기는 매일 저녁 불을 밝혔다고 전해진다."
    squad = {"data": [{"paragraphs": [{"context": context, "qas": [{"question": "누가?"}]}]}]}
    ner = "## ner_0\t가는 <제주도:LC>의 바닷길이 열렸다\n가\tO\n"
    (folder / "ner.tsv").write_text(ner, encoding="utf-8")
    (folder / "qa.json").write_text(json.dumps(squad, ensure_ascii=False), encoding="utf-8")
    reviews = "id\tdocument\tlabel\n1\t주인공의 연기가 너무 어색해서 몰입이 안 됨\t0\n2\t굿\t1\n"
    (folder / "reviews.tsv").write_text(reviews, encoding="utf-8")
    return folder


def test_evaluation_sentences_are_found_however_they_are_spaced(evaluation: Path) -> None:
    index = build_index(sorted(evaluation.iterdir()))
    planted = [
        "앞말. 가을 산에는 붉은 단풍이 곱게 물들어 있었다. 뒷말.",
        "앞말 가을산에는 붉은단풍이 곱게 물들어있었다 뒷말",
        "아무 말. 등대지기는 매일 저녁 불을 밝혔다고 전해진다",
        "제목\n주인공의 연기가 너무 어색해서, 몰입이 안 됨;;",
        "앞말 이것은 짧은질문입니까 아니다.",
        "가는 제주도의 바닷길이 열렸다.",
        "굿",
    ]
    innocent = ["가을 산에는 붉은 단풍이 많다.", "그렇다", "여기 이것은 짧은 질문입니까만"]
    found = find_sentences(index, planted[:6] + innocent)
    assert [len(sentences) for sentences in found] == [1] * 6 + [0] * 3
    assert find_sentences(index, planted[6:]) == [[]], "too short to look for"


@pytest.mark.parametrize("action", ["drop", "report"])
def test_the_stage_tells_what_it_found_of_each_evaluation_file(
    evaluation: Path, tmp_path: Path, action: str
) -> None:
    rng = random.Random(8)
    documents = [text(rng) for _ in range(60)]
    documents[7] += "\n등대지기는 매일 저녁 불을 밝혔다고 전해진다."
    documents[50] += " 주인공의 연기가 너무 어색해서 몰입이 안 됨"
    source = tmp_path / "web.txt"
    source.write_text("\n\n".join(documents), encoding="utf-8")
    output = tmp_path / "clean"
    ledger = run([source], output, evaluation=(evaluation,), drop_overlap=action == "drop")
    table = {
        Path(row.file).name: (row.sentences, row.too_short, row.found, row.documents)
        for row in ledger.evaluation
    }
    assert table == {
        "nli.json": (4, 2, 0, 0),
        "ner.tsv": (2, 1, 0, 0),
        "qa.json": (3, 1, 1, 1),
        "reviews.tsv": (2, 1, 1, 1),
    }
    kept = {line["text"] for line in lines(output, "documents")}
    assert len(kept) == (58 if action == "drop" else 60)
    if action == "drop":
        assert [entry["reason"] for entry in lines(output, "dropped")] == ["evaluation text"] * 2
        assert "qa.json" in lines(output, "dropped")[0]["detail"]


@pytest.mark.parametrize("kind", ["txt", "tsv.gz", "parquet", "jsonl.zst"])
def test_evaluation_sentences_are_found_as_the_filters_leave_them(
    kind: str, tmp_path: Path
) -> None:
    """Documents are compared after they were cleaned."""
    sentences = [
        "진짜 너무 재밌어ㅋㅋㅋㅋㅋㅋㅋㅋㅋ 또 볼 거예요ㅠㅠㅠㅠㅠㅠ",
        "ㅠㅠㅠㅠㅠㅠ민수가 가다니ㅠㅠㅠㅠㅠㅠ",
        "자세한 내용은 https://example.com/notice/20 에서 볼 수 있습니다",
        "화가는 &quot;봄&amp;가을&quot; 전시회에서 그림 열 점을 선보였다",
        "ＫＢＣ는 ２０２４년 가을에 새 연속극을 내놓는다고 알렸다",
        "문의는 010-1234-5678이나 help@example.com 으로 해 주시기 바랍니다",
        unicodedata.normalize("NFD", "산골 마을 아이들은 눈이 오면 썰매를 타고 놀았다"),
    ]
    path = tmp_path / f"evaluation.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"text": sentences}), path)
    elif kind == "tsv.gz":
        path.write_bytes(gzip.compress("".join(f"{s}\t1\n" for s in sentences).encode()))
    elif kind == "jsonl.zst":
        rows = "".join(json.dumps({"text": s}) + "\n" for s in sentences)
        path.write_bytes(zstandard.compress(rows.encode()))
    else:
        path.write_text("\n".join(sentences), encoding="utf-8")
    rng = random.Random(11)
    documents = [f"{text(rng)} {sentence} {text(rng)}" for sentence in sentences]
    source = tmp_path / "web.txt"
    source.write_text("\n\n".join([*documents, text(rng)]), encoding="utf-8")
    for preset in ("comments", "news"):
        ledger = run(
            [source],
            tmp_path / preset,
            presets={"": preset},
            filters=("personal", "urls=mask"),
            evaluation=(path,),
        )
        [row] = ledger.evaluation
        assert (row.sentences, row.found, row.documents) == (7, 7, 7)
        assert len(lines(tmp_path / preset, "documents")) == 1


@pytest.mark.parametrize("parts", [1, 2])
def test_evaluation_data_that_cannot_be_read_shows_before_any_work(
    tmp_path: Path, parts: int
) -> None:
    path = write_bytes(tmp_path / "a.txt", "글이다.".encode())
    (tmp_path / "eval.json").write_text("[{")
    with pytest.raises(DataError, match=r"eval\.json: evaluation data that cannot be read"):
        run([path], tmp_path / "out", evaluation=(tmp_path / "eval.json",), parts=parts)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="asks Linux what is in memory")
def test_a_mapped_file_that_was_looked_at_is_let_go_and_keeps_what_was_written(tmp_path):
    path = tmp_path / "mapped.npy"
    mapped = np.lib.format.open_memmap(path, "w+", np.uint32, (1 << 20, 8))
    part = mapped[:-1]
    part[:] = 7

    def resident() -> int:
        lines = Path("/proc/self/smaps").read_text().splitlines()
        at = next(number for number, line in enumerate(lines) if line.endswith(str(path)))
        return int(next(line for line in lines[at:] if line.startswith("Rss:")).split()[1])

    assert resident() > 16_000  # kB
    let_go(part)
    assert resident() < 1000
    assert (part == 7).all() and not mapped[-1].any()
    let_go(np.zeros(3))  # not mapped: nothing to do
