"""Which files make a corpus, and in which order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kobert_kit.corpus.files import compression_of, find_files, fingerprint, format_of, total_bytes
from kobert_kit.errors import DataError, UsageError


def touch(path: Path, content: bytes = b"x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_folder_gives_the_same_order_however_it_was_filled(tmp_path: Path) -> None:
    names = ["a/2.txt", "a/10.jsonl.xz", "a.txt", "b/가.parquet", "b/나/z.txt.zst", "B.TXT.GZ"]
    expected = ["B.TXT.GZ", "a/10.jsonl.xz", "a/2.txt", "a.txt", "b/가.parquet", "b/나/z.txt.zst"]
    for seed in range(5):
        folder = tmp_path / str(seed)
        for name in random.Random(seed).sample(names, len(names)):
            touch(folder / name)
        found = [file.relative_to(folder).as_posix() for file in find_files([folder])]
        assert found == expected


def test_paths_keep_their_order_and_a_file_reached_twice_is_taken_once(tmp_path: Path) -> None:
    late, early = touch(tmp_path / "z.txt"), touch(tmp_path / "a.txt")
    (tmp_path / "link.txt").symlink_to(late)
    assert find_files([late, tmp_path]) == [late, early]


def test_folders_pass_over_other_and_hidden_files(tmp_path: Path) -> None:
    kept = touch(tmp_path / "data.jsonl")
    for name in ["README.md", "data.jsonl.zip", ".cache/old.txt", "._data.jsonl", "notes.gz"]:
        touch(tmp_path / name)
    assert find_files([tmp_path]) == [kept]


def test_links_to_folders_are_followed_and_loops_end(tmp_path: Path) -> None:
    elsewhere = touch(tmp_path / "elsewhere" / "far.txt").parent
    corpus = touch(tmp_path / "corpus" / "near.txt").parent
    (corpus / "linked").symlink_to(elsewhere)
    (corpus / "loop").symlink_to(corpus)
    (elsewhere / "back").symlink_to(corpus)
    assert find_files([corpus]) == [corpus / "linked" / "far.txt", corpus / "near.txt"]


def test_what_is_missing_unknown_or_empty_is_a_usage_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.txt: no such file"):
        find_files([tmp_path / "gone.txt"])
    with pytest.raises(UsageError, match=r"notes\.docx: unknown kind of file.*\.jsonl"):
        find_files([touch(tmp_path / "notes.docx")])
    with pytest.raises(UsageError, match=r"no corpus files found"):
        find_files([tmp_path])
    (tmp_path / "broken.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"broken\.txt: not a file"):
        find_files([tmp_path])


def test_format_and_compression_come_from_the_name() -> None:
    kinds = [Path(name) for name in ("a.b.JSONL.Xz", "a.txt", "archive.tar.gz")]
    assert [format_of(path) for path in kinds] == [".jsonl", ".txt", ""]
    assert [compression_of(path) for path in kinds] == [".xz", "", ".gz"]


def test_size_and_fingerprint_depend_on_content(tmp_path: Path) -> None:
    one, two = touch(tmp_path / "1.txt", b"abc"), touch(tmp_path / "2.txt", b"defgh")
    before = fingerprint([one, two])
    assert total_bytes([one, two]) == 8
    assert fingerprint([one, two]) == before
    assert fingerprint([two, one]) != before
    two.write_bytes(b"defgi")
    assert fingerprint([one, two]) != before
    two.unlink()
    with pytest.raises(DataError, match=r"2\.txt: cannot be read"):
        fingerprint([one, two])
