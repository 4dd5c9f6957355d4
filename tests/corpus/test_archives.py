"""Archives are folders of files: their members are read, and those that lead out are not."""

from __future__ import annotations

import contextlib
import io
import random
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus_files import COMPRESS, jsonl, parquet
from test_curate import lines, run, text

from kobert_kit.corpus.formats.archives import Entry, list_members, walk
from kobert_kit.corpus.formats.compression import Damaged
from kobert_kit.errors import DataError

KINDS = [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar.zst"]


def pack(path: Path, members: dict[str, bytes]) -> Path:
    """Write an archive of ``members`` as its suffix says."""
    made = io.BytesIO()
    if path.suffix == ".zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        path.write_bytes(made.getvalue())
        return path
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    suffix = ".gz" if path.suffix == ".tgz" else path.suffix.replace(".tar", "")
    path.write_bytes(COMPRESS[suffix](made.getvalue()))
    return path


def documents(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return [text(rng) for _ in range(count)]


def texts(folder: Path) -> list[str]:
    return [line["text"] for line in lines(folder, "documents")]


@pytest.mark.parametrize("kind", KINDS)
def test_members_are_read_as_files_are(tmp_path: Path, kind: str) -> None:
    first, second, third, fourth = (documents(seed, 60) for seed in range(4))
    members = {
        "./뉴스/하나.txt": "\n\n".join(first).encode("cp949"),
        "b.jsonl.gz": COMPRESS[".gz"](jsonl(*({"text": made} for made in second))),
        "c.parquet": parquet({"text": third, "id": [f"p{n}" for n in range(60)]}),
        "c.parquet.xz": COMPRESS[".xz"](parquet({"text": fourth})),
        "d.jsonl": jsonl({"text": first[7]}),
        "image.png": b"\x89PNG",
        ".hidden.txt": b"hidden",
        "__MACOSX/._a.txt": b"\0",
    }
    path = pack(tmp_path / f"all{kind}", members)
    ledger = run([path], tmp_path / "out", presets={})
    assert texts(tmp_path / "out") == first + second + third + fourth
    assert ledger.total.read[0] == 241
    (problem,) = ledger.problems()
    assert problem["problem"].startswith("1 file in .png passed over, the first ")
    assert [entry["file"] for entry in ledger.files if entry != problem] == [
        f"{path}/{name.removeprefix('./')}" for name in list(members)[:5]
    ]
    assert ledger.files[0]["encoding"] == "cp949" and set(ledger.sources) == {"all"}
    (copy,) = lines(tmp_path / "out", "dropped")
    assert copy["file"] == f"{path}/d.jsonl" and f"of {path}/뉴스/하나.txt:" in copy["detail"]
    assert lines(tmp_path / "out", "documents")[130]["id"] == "p10"


def test_workers_change_no_byte_and_archives_stand_beside_files(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for seed, kind in enumerate(KINDS):
        members = {
            f"{n}.txt": "\n\n".join(documents(100 * seed + n, 30)).encode() for n in range(3)
        }
        pack(folder / f"{seed}{kind}", members)
    (folder / "9.txt").write_text("\n\n".join(documents(999, 30)), encoding="utf-8")
    ledger = run([folder], tmp_path / "one", presets={})
    run([folder], tmp_path / "three", presets={}, workers=3)
    assert texts(tmp_path / "one") == texts(tmp_path / "three")
    assert ledger.total.kept[0] == 30 * (3 * len(KINDS) + 1) and not ledger.problems()


@pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
@pytest.mark.parametrize(
    "name",
    ["../climbs.txt", "a/../../climbs.txt", "/etc/climbs.txt", "..\\climbs.txt", "C:\\x.txt"],
)
def test_a_member_that_leads_out_is_refused_and_the_rest_read(
    tmp_path: Path, kind: str, name: str
) -> None:
    members = {"a.txt": "앞의 글".encode(), name: b"evil", "b.txt": "뒤의 글".encode()}
    path = pack(tmp_path / f"all{kind}", members)
    ledger = run([path], tmp_path / "out", presets={})
    (problem,) = ledger.problems()
    assert f"its name ({name}) leads out of the archive" in problem["problem"]
    assert texts(tmp_path / "out") == ["앞의 글", "뒤의 글"]


def test_links_and_what_cannot_be_read_are_refused_by_name(tmp_path: Path) -> None:
    packed = tmp_path / "a.tar"
    with tarfile.open(packed, "w") as tar:
        for name, kind in (("soft.txt", tarfile.SYMTYPE), ("hard.txt", tarfile.LNKTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
        pipe = tarfile.TarInfo("pipe.txt")
        pipe.type = tarfile.FIFOTYPE
        tar.addfile(pipe)
        tar.add(pack(tmp_path / "inner.zip", {"x.txt": b"x"}), "inner.zip")
        for content in ("글이다.", "다른 글이다."):
            (tmp_path / "t").write_text(content, encoding="utf-8")
            tar.add(tmp_path / "t", "text.txt")
    linked = tmp_path / "b.zip"
    with zipfile.ZipFile(linked, "w") as archive:
        link = zipfile.ZipInfo("soft.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("locked.txt", "secret")
    locked = bytearray(linked.read_bytes())
    for header, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # where the flags are
        locked[locked.rindex(header) + place] |= 1
    linked.write_bytes(locked)
    (tmp_path / "inner.zip").unlink()
    ledger = run([packed, linked], tmp_path / "out", presets={}, filters=("length=3-9",))
    found = {Path(file["file"]).name: file["problem"] for file in ledger.problems()}
    assert len(ledger.problems()) == 7, "soft.txt is in both"
    assert found["hard.txt"] == "a link (to /etc/passwd), which is not followed"
    assert found["soft.txt"] == "a link, which is not followed"
    assert found["pipe.txt"] == "neither a file nor a folder"
    assert found["inner.zip"] == "an archive in an archive, which is not read; unpack it first"
    assert found["text.txt"] == "a second member of this name; only the first is read"
    assert found["locked.txt"] == "encrypted; unpack it first"
    assert texts(tmp_path / "out") == ["글이다."]


@pytest.mark.parametrize("kind", [*KINDS, ".stored.zip"])
@pytest.mark.parametrize("keep", [0.48, 0.9])
def test_of_a_truncated_archive_what_can_be_read_is_kept(
    tmp_path: Path, kind: str, keep: float
) -> None:
    made = [documents(seed, 40) for seed in range(20)]
    members = {f"{n:02d}.txt": "\n\n".join(part).encode() for n, part in enumerate(made)}
    path = pack(tmp_path / f"all{kind}", members)
    if kind == ".stored.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
    path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    if kind == ".tar.bz2":  # which gives nothing before its block of 900 kB is whole
        with pytest.raises(DataError, match="truncated or damaged at its first member"):
            run([path], tmp_path / "out", presets={})
        return
    ledger = run([path], tmp_path / "out", presets={}, near_duplicates=False)
    problems = {Path(file["file"]).name: file["problem"] for file in ledger.problems()}
    assert "truncated or damaged at" in problems[path.name]
    kept, wanted = texts(tmp_path / "out"), [document for part in made for document in part]
    assert wanted[: len(kept) - 1] == kept[:-1] and wanted[len(kept) - 1].startswith(kept[-1])
    assert len(kept) > (keep - 0.4) * len(wanted)
    member = Path(problems[path.name].split("damaged at ")[1].split(" (")[0]).name
    assert "truncated or damaged after line" in problems[member]


def test_damage_in_one_member_of_a_zip_costs_that_member(tmp_path: Path) -> None:
    made = [documents(seed, 40) for seed in range(3)]
    members = {f"{n}.txt": "\n\n".join(part).encode() for n, part in enumerate(made)}
    path = pack(tmp_path / "all.zip", members)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 50] = bytes(50)
    path.write_bytes(content)
    ledger = run([path], tmp_path / "out", presets={})
    (problem,) = ledger.problems()
    assert problem["file"] == f"{path}/1.txt" and "truncated or damaged" in problem["problem"]
    kept = texts(tmp_path / "out")
    assert kept[:40] == made[0] and kept[-40:] == made[2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_without_a_name_is_named_by_its_archive(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"all{kind}"
    if kind != ".zip":
        pack(path, {"": "하나.".encode(), "나.txt": "둘이다.".encode()})
    else:  # zipfile writes no name that is empty, but reads this one so
        with zipfile.ZipFile(path, "w") as archive:
            nameless = zipfile.ZipInfo("가.txt")
            nameless.filename = "\0"
            archive.writestr(nameless, "하나.")
            archive.writestr("나.txt", "둘이다.")
    ledger = run([path], tmp_path / "out", presets={"": "none"})
    assert texts(tmp_path / "out") == ["둘이다."]
    (problem,) = ledger.problems()
    assert problem["file"] == str(path)
    assert problem["problem"] == "a member without a name; it is not read"


def test_korean_names_as_windows_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "말뭉치.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("names.txt")
        info.filename = "메신저.txt".encode("cp949").decode("cp437")
        archive.writestr(info, "글이다.")
    content = path.read_bytes()
    raw = "메신저.txt".encode("cp949")
    assert raw not in content  # zipfile marks the name as UTF-8; a Korean Windows would not
    utf8 = "메신저.txt".encode("cp949").decode("cp437").encode()
    plain = bytearray(content.replace(utf8, raw))
    for header, flags, length in ((b"PK\x03\x04", 6, 26), (b"PK\x01\x02", 8, 28)):
        at = plain.index(header)
        plain[at + flags + 1] &= ~0x08
        plain[at + length : at + length + 2] = len(raw).to_bytes(2, "little")
    shift = len(utf8) - len(raw)
    end = plain.index(b"PK\x05\x06")
    for place, by in ((12, shift), (16, shift)):  # size and place of the list of members
        value = int.from_bytes(plain[end + place : end + place + 4], "little") - by
        plain[end + place : end + place + 4] = value.to_bytes(4, "little")
    path.write_bytes(plain)
    ledger = run([path], tmp_path / "out", presets={})
    assert [file["file"] for file in ledger.files] == [f"{path}/메신저.txt"]


def test_a_zip_with_damage_anywhere_is_named_and_gives_what_is_left(tmp_path: Path) -> None:
    rng = random.Random(4)
    whole = pack(tmp_path / "a.zip", {"가.txt": text(rng).encode(), "나.txt": text(rng).encode()})
    content = whole.read_bytes()
    directory = content.index(b"PK\x01\x02")
    spots = [*range(directory, len(content)), *rng.sample(range(directory), 100)]
    for spot in spots:
        broken = bytearray(content)
        broken[spot] ^= 0xFF
        whole.write_bytes(broken)
        assert len(list_members(whole, (".txt",), lambda path, what: None)) <= 2
        assert len(list(walk_quietly(whole))) <= 2
    # A name that says it is UTF-8 and is not costs nobody but the name.
    whole.write_bytes(content.replace("가".encode(), b"\xff\xfe\xff"))
    ledger = run([whole], tmp_path / "clean", presets={"": "none"})
    assert ledger.total.kept[0] == 2 and len(ledger.problems()) == 1


def walk_quietly(archive: Path) -> Iterator[Entry]:
    """The members, each with its content read, as far as they go."""
    with contextlib.suppress(Damaged):
        for entry in walk(archive, lambda consumed: None):
            with contextlib.suppress(Damaged):
                list(entry.blocks)
            yield entry
