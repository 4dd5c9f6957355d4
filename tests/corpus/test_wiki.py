"""Wikipedia in its forms gives prose, and nothing but."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest
from corpus_files import page, write_bytes
from test_curate import lines, run
from test_raw import read

pytest.importorskip("mwparserfromhell")

from kobert_kit.corpus.formats.raw import Raw
from kobert_kit.corpus.formats.wikitext import prose
from kobert_kit.corpus.stage.cutting import read_raw

ARTICLE = """{{마을 정보|이름=달빛마을|그림=[[파일:달.png]]}}
'''달빛마을'''({{언어|en|Moon}})은 [[바다]] 옆의 [[마을 (1)|작은 마을]]이다.<ref>지도</ref>
== 역사 ==
[[파일:항구.jpg|섬네일|옛 [[항구]]의 모습]]
1990년에 ''어부''들이 세웠다.<!-- 확인 필요 -->&nbsp;지금은 [http://example.com 안내소]가 있다.
* 목록의 첫째
*# [[둘째]]
{| class="wikitable"
! 해 !! 사람
|-
| 1990 || 12
|}
<math>x^2</math>
[[분류:마을]] [[en:Moon village]]
"""
PROSE = "달빛마을은 바다 옆의 작은 마을이다.\n1990년에 어부들이 세웠다.\xa0지금은 안내소가 있다."


def test_wikitext_to_prose() -> None:
    assert prose(ARTICLE) == PROSE
    assert prose("") == ""
    for broken in ("{{" * 5_000, "[[" * 5_000, "{|" * 500, "<ref>" * 500, "'''" * 3_001):
        prose(broken + "글")


def test_links_to_other_languages_go_and_titles_with_a_colon_stay() -> None:
    text = (
        "미국 드라마 [[CSI: 마이애미]]와 애니 [[Re:제로의 집|리제로]], [[:분류:마을]]이다.\n"
        "[[en:Moon village]]\n[[zh-min-nan:달]] [[SIMPLE: Moon]]\n[[ko:달|달]]"
    )
    assert prose(text) == "미국 드라마 CSI: 마이애미와 애니 리제로, 분류:마을이다."


def test_switches_of_a_page_go() -> None:
    text = "__NOTOC__달이 뜬다.__목차숨김__\n__noeditsection__\n__색인거부__ 해가 진다. __FILE__"
    assert prose(text) == "달이 뜬다.\n해가 진다. __FILE__"


@pytest.mark.parametrize(
    "markup",
    [
        ':{| class="wikitable"\n|-\n| 1990 || 12\n|}\n%s',
        ":: {|\n| 1990\n|}\n%s",
        '{| class="wikitable"\n! 해 !! 사람\n|-\n| 1990 || 12\n\n%s',
        "{|\n| 하나\n|}{|\n| 둘\n|}\n%s",
        "<ul><li>하나</li><li>둘</li></ul>%s",
        "<ol>\n<li>하나\n<li>둘\n</ol>\n%s",
        "<dl><dt>등대</dt><dd>불</dd></dl>%s",
        "* 항목<br />그 둘째 줄<br>셋째 줄\n%s",
        "<h3>이름</h3>%s",
        '<div style="float:right">{{지도}}</div>%s',
        '<mapframe latitude="37">{"type": "Point"}</mapframe>%s',
        "<includeonly>틀에서만 보인다.</includeonly>%s",
    ],
)
def test_tables_lists_and_headings_of_every_spelling_go(markup: str) -> None:
    assert prose(markup % "마을에는 등대가 있다.") == "마을에는 등대가 있다."


@pytest.mark.parametrize(
    "markup, text",
    [
        ("달({{언어|en|Moon}}, {{한자|月}}, 1950년 ~ )은", "달(1950년 ~ )은"),
        ("달(月, {{언어|en|Moon}}, [[1950년]])은", "달(月, 1950년)은"),
        ("달([[영어]]: {{언어|en|Moon}}, 1950년)은", "달(1950년)은"),
        ("달 ({{언어|en|Moon}} 또는 {{언어|la|Luna}})은", "달은"),
        ("달({{음|달}} / {{음|딸}}; 1/2)은", "달(1/2)은"),
        ("달(1950년{{출처}}, 서울)은", "달(1950년, 서울)은"),
        ("달(가로, 세로)과 함수 f(x, )는", "달(가로, 세로)과 함수 f(x, )는"),
        ("달이 {{출처}} 떴다 {{출처}}.", "달이 떴다."),
        ("{{lang|ko|'''달'''}}은 {{Nowrap|384,400 km}} 멀다.", "달은 384,400 km 멀다."),
        ("<ruby>月<rp>(</rp><rt>월</rt><rp>)</rp></ruby>이 <code>if</code>로", "月이 if로"),
        ("'''달'이 뜬다.''' 해'''는 진다.", "달'이 뜬다. 해는 진다."),
        ("<p>달이 뜬다.</p><p>해가 진다.</p>", "달이 뜬다.\n해가 진다."),
        ("<center>달</center>이 뜬다.<br>|x| < 1이다.", "달\n이 뜬다.\n|x| < 1이다."),
    ],
)
def test_what_templates_leave_reads_on(markup: str, text: str) -> None:
    assert prose(markup) == text


@pytest.mark.parametrize(
    "start, unit",
    [("(", "{{a}}"), ("(", "{{a}} "), ("", "({{a}}"), ("", "({{a}},"), ("(", ", ")],
)
def test_many_holes_take_no_time(start: str, unit: str) -> None:
    started = time.process_time()
    prose(start + unit * (200_000 // len(unit)) + "글")
    assert time.process_time() - started < 6  # a quadratic search takes 8 to 20


def test_a_dump_is_read_page_by_page(tmp_path: Path) -> None:
    pages = [
        page("달빛마을", ARTICLE),
        page("옛 이름", "#넘겨주기 [[달빛마을]]", redirect="<redirect title='달빛마을' />"),
        page("사용자:하나", "안녕하세요", ns=2),
        page("바다", "바다는 넓다. " * 5),
    ]
    xml = "<mediawiki xml:lang='ko'><siteinfo><base>x</base></siteinfo>\n" + "".join(pages)
    path = write_bytes(tmp_path / "kowiki-pages-articles.xml.bz2", (xml + "</mediawiki>").encode())
    ledger = run([path], tmp_path / "out", filters=("length=10",))
    first, second = lines(tmp_path / "out", "documents")
    assert first["text"] == PROSE.replace("\xa0", " ")
    assert (first["id"], first["title"], second["title"]) == ("7", "달빛마을", "바다")
    assert {why: n for why, (n, _) in ledger.total.dropped.items()} == {
        "a redirect": 1,
        "not an article but a page of another kind": 1,
    }
    redirect = lines(tmp_path / "out", "dropped")[0]
    xml_lines = xml.split("\n")
    assert xml_lines[redirect["line"] - 1].startswith("<page><title>옛 이름")


def test_a_dump_in_several_files_as_wikipedia_names_them(tmp_path: Path) -> None:
    names = [
        f"kowiki-20240101-pages-articles{kind}"
        for kind in ("1.xml-p1p9.bz2", "2.xml-p10p19", "-multistream.xml.bz2")
    ]
    (tmp_path / "dump").mkdir()
    for number, name in enumerate(names):
        text = page("달빛마을", f"달빛마을은 {number}번째 섬에 있다.")
        write_bytes(tmp_path / "dump" / name, f"<mediawiki>{text}</mediawiki>".encode())
    index = "kowiki-20240101-pages-articles-multistream-index.txt.bz2"
    write_bytes(tmp_path / "dump" / index, "616:5:달빛마을\n".encode())
    ledger = run([tmp_path / "dump"], tmp_path / "out", presets={}, near_duplicates=False)
    found = sorted(row["text"] for row in lines(tmp_path / "out", "documents"))
    assert found == [f"달빛마을은 {number}번째 섬에 있다." for number in range(3)]
    (problem,) = ledger.problems()
    assert "1 file in .txt.bz2 passed over" in problem["problem"]


def test_a_dump_cut_short_keeps_its_whole_pages(tmp_path: Path) -> None:
    xml = ("<mediawiki>\n" + page("바다", "바다는 넓다. ") * 3).encode()
    found, end = read(write_bytes(tmp_path / "a.xml", xml[:-30]))
    assert len(found) == 2 and "damaged" in end.problem
    _, end = read(write_bytes(tmp_path / "b.xml", b"<html><body/></html>"))
    assert end.problem == "not a dump of a MediaWiki, but of <html>"
    _, end = read(write_bytes(tmp_path / "c.xml", b"<mediawiki><page></wrong>"))
    assert end.problem.startswith("not XML, or damaged: mismatched tag")


def island(number: int) -> str:
    text = "".join(
        f"{number}번째 섬의 {each}번째 등대는 희다.\n" for each in range(number % 40 + 1)
    )
    return page(f"섬 {number}", text).replace("<id>7<", f"<id>{number}<")


DAMAGE = {
    "bad bytes": ("등대는 희다".encode(), b"\xff\xfe"),
    "bad bytes in a tag": (b"</title>", b"</t\xff\xfe>"),
    "a control character": ("등대는".encode(), b"\x08"),
    "an open tag": ("등대는".encode(), b"<"),
    "an entity": ("등대는".encode(), b"&none;"),
    "no end of a text": (b"</text>", b""),
    "another end of a page": (b"</page>", b"</pege>"),
    "a damaged beginning": (b"<page>", b"<p\xff\xfege>"),
}


@pytest.mark.parametrize("where", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
@pytest.mark.parametrize("places", [[0], [399], [150, 153, 300]])
def test_damage_to_a_dump_costs_its_page_and_no_other(
    tmp_path: Path, where: tuple[bytes, bytes], encoding: str, places: list[int]
) -> None:
    old, new = where[0].decode().encode(encoding), where[1]
    pages = [island(number).encode(encoding) for number in range(400)]
    head = b"<mediawiki>\n<siteinfo>x</siteinfo>\n"
    starts = [1 + (head + b"".join(pages[:place])).count(b"\n") for place in places]
    for place in places:
        pages[place] = pages[place].replace(old, new, 1)
    path = write_bytes(tmp_path / "a.xml", head + b"".join(pages) + b"</mediawiki>\n")
    found, end = read(path)
    kept = [parsed.id for _, parsed in found if not parsed.problem]
    assert kept == [str(number) for number in range(400) if number not in places]
    lost = [(line, parsed.problem) for line, parsed in found if parsed.problem]
    expected = [(start, "a page of damaged XML") for start in starts]
    if places == [399]:  # nothing shows where it ends
        assert end.problem.startswith("not XML, or damaged: ")
        assert lost in (expected, [])
    else:
        assert not end.problem and lost == expected


def test_a_damaged_dump_is_accounted_for(tmp_path: Path) -> None:
    pages = [island(number) for number in range(90)]
    pages[20] = pages[20].replace("</page>\n", "")
    xml = f"<mediawiki>{''.join(pages)}</mediawiki>".encode()
    xml = xml.replace("39번째 섬의 0".encode(), b"\xff")
    path = write_bytes(tmp_path / "a.xml.bz2", xml)
    ledger = run([path], tmp_path / "out", presets={}, near_duplicates=False)
    dropped = lines(tmp_path / "out", "dropped")
    reasons = [row["reason"] for row in dropped]
    assert reasons == ["a page that does not end", "a page of damaged XML"]
    assert all(row["bytes"] > 500 for row in dropped) and ledger.total.kept[0] == 88
    assert ledger.total.read[0] == 90 and ledger.total.balance() == (0, 0)


@pytest.mark.parametrize("encoding", ["euc-kr", "cp949", "utf-16", "utf-8"])
def test_dumps_are_read_in_the_encoding_they_declare(tmp_path: Path, encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>\n'
    xml = head + "<mediawiki>" + "".join(map(island, range(50))) + "</mediawiki>"
    found, end = read(write_bytes(tmp_path / "a.xml", xml.encode(encoding)))
    assert not end.problem and [p.id for _, p in found] == [str(number) for number in range(50)]
    assert found[0][1].text == "0번째 섬의 0번째 등대는 희다."
    other = f"{head}<text><body>글</body></text>".encode(encoding)
    _, end = read(write_bytes(tmp_path / "b.xml", other))
    assert end.problem == "not a dump of a MediaWiki, but of <text>"


def test_a_page_that_is_too_long_is_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = 1 << 20
    monkeypatch.setattr("kobert_kit.corpus.formats.wiki_files.LONGEST_RECORD", longest)
    long = "긴 글이다. " * longest
    xml = f"<mediawiki>{island(1)}{page('긴 글', long)}{island(2)}</mediawiki>".encode()
    path = write_bytes(tmp_path / "a.xml", xml)
    size = len(long.encode())
    del long, xml
    tracemalloc.start()
    records = list(read_raw(0, path, "text", lambda consumed: None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pages = [raw for raw in records if isinstance(raw, Raw)]
    assert [raw.problem for raw in pages] == ["", "longer than 32 MiB", ""]
    assert pages[1].size == size and pages[1].line == 5
    assert peak < 3 * longest


@pytest.mark.parametrize("name", ["wiki_00", "wiki_12.bz2"])
def test_what_wikiextractor_writes(tmp_path: Path, name: str) -> None:
    tagged = '<doc id="3" url="u" title="산 &amp; 강">\n산 & 강\n\n산은 높다.\n강은 길다.\n</doc>\n'
    as_json = json.dumps({"id": "4", "title": "바다", "text": "바다는 넓다."}, ensure_ascii=False)
    found, end = read(write_bytes(tmp_path / name, (tagged + as_json).encode()))
    assert [(line, p.id, p.title, p.text) for line, p in found] == [
        (1, "3", "산 & 강", "산은 높다.\n강은 길다."),
        (7, "4", "바다", "바다는 넓다."),
    ]
    assert not end.problem


def article(number: int) -> list[str]:
    text = f"{number}번째 섬에는 등대가 {number + 3}개 있다."
    return [f'<doc id="{number}" url="u" title="섬">', "섬", "", text, "{둥근 섬}", "</doc>"]


@pytest.mark.parametrize(
    "at, damaged, whole, lost",
    [
        (6, '<dcc id="1" url="u" title="섬">', [0, 2, 3], {7: "in no article"}),
        (6, "", [0, 2, 3], {8: "in no article"}),
        (11, "</dcc>", [0, 2, 3], {7: "an article that does not end"}),
        (23, "", [0, 1, 2], {19: "an article that does not end"}),
        (0, "{doc", [1, 2, 3], {1: "not JSON", 2: "in no article"}),
    ],
)
@pytest.mark.parametrize("json_behind", [False, True])
def test_damage_to_what_wikiextractor_writes_costs_an_article_and_is_named(
    tmp_path: Path, at: int, damaged: str, whole: list[int], lost: dict[int, str], json_behind: bool
) -> None:
    made = [line for number in range(4) for line in article(number)]
    made[at] = damaged
    if json_behind and at < 23:
        made.insert(24, '{"id": "9", "title": "", "text": "육지에도 등대가 있다."}')
        whole = [*whole, 9]
    path = write_bytes(tmp_path / "wiki_00", "\n".join(made).encode())
    ledger = run([path], tmp_path / "out", presets={}, near_duplicates=False)
    kept, dropped = lines(tmp_path / "out", "documents"), lines(tmp_path / "out", "dropped")
    assert [row["id"] for row in kept] == [str(number) for number in whole]
    assert not any("doc" in row["text"] for row in kept)
    assert {row["line"]: row["reason"] for row in dropped} == lost
    assert all(row["bytes"] > 0 for row in dropped)
    assert ledger.total.read[0] == len(kept) + len(dropped)


def test_an_article_that_is_too_long_is_one_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kobert_kit.corpus.formats.wiki_files.LONGEST_RECORD", 1_000)
    made = article(0)
    made[3:3] = ["긴 글이다."] * 99 + ["가" * 2_000] + ["{끝이 멀다.}"] * 99
    path = write_bytes(tmp_path / "wiki_00", "\n".join([*made, *article(1)]).encode())
    found, _ = read(path)
    assert [(line, p.problem) for line, p in found] == [(1, "longer than 32 MiB"), (206, "")]


def test_of_a_truncated_file_of_wikiextractor_the_last_article_is_named(tmp_path: Path) -> None:
    made = [line for number in range(3_000) for line in article(number)]
    path = write_bytes(tmp_path / "wiki_00.gz", "\n".join(made).encode())
    path.write_bytes(path.read_bytes()[:-2_000])
    found, end = read(path)
    *whole, (line, last) = found
    assert [p.id for _, p in whole] == [str(number) for number in range(len(whole))]
    assert line == 6 * len(whole) + 1 and last.problem == "an article that does not end"
    assert end.problem.startswith("truncated or damaged after line")
