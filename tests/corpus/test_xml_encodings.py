"""A dump of a MediaWiki in any encoding, and one that says another than it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_files import page, write_bytes
from test_raw import read

pytest.importorskip("mwparserfromhell")


@pytest.mark.parametrize("encoding", ["euc-kr", "cp949", "utf-16", "utf-8", "no-such"])
@pytest.mark.parametrize("padding", [0, 300_000])
def test_a_dump_in_another_encoding_is_read(tmp_path: Path, encoding: str, padding: int) -> None:
    declared = f'<?xml version="1.0" encoding="{encoding}"?>\n<!--{" " * padding}-->\n'
    pages = [page(f"바다 {n}", "바다는 넓고 깊다. " * n) for n in range(1, 300)]
    written = "utf-8" if encoding == "no-such" else encoding
    for root in ("mediawiki", "tei.2"):
        content = f"{declared}<{root}>\n{''.join(pages)}</{root}>".encode(written)
        found, end = read(write_bytes(tmp_path / "a.xml", content))
        if root == "mediawiki":
            assert [p.title for _, p in found] == [f"바다 {n}" for n in range(1, 300)]
            assert found[5][1].text == ("바다는 넓고 깊다. " * 6).strip() and not end.problem
        else:
            assert end.problem == "not a dump of a MediaWiki, but of <tei.2>"
