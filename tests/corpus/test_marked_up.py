"""HTML and Markdown give their main text, and nothing of what stands around it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from corpus_files import write_bytes
from test_curate import lines, run
from test_raw import read

from kobert_kit.corpus.formats.html_text import main_text

PAGE = """<!doctype html><html lang=ko class="menu"><head><meta charset="euc-kr">
<title>등대 이야기 | 달빛신문</title><style>p{}</style>
<script>var x = "<p>가짜다.</p>";</script></head>
<body><header><a href="/">달빛신문</a><nav><ul><li><a href="/a">정치</a><li>경제</ul></nav></header>
<div class="gnb main-menu"><p>메뉴는 읽지 않는다.</p></div>
<article><header><h1>등대 이야기가 있다.</h1></header><p class=byline>김하나 기자
<p>바닷가 마을의 등대는 <b>백&nbsp;년</b>이
넘었다.<br>등대지기는 매일 저녁 불을 밝혔다고 전해진다.
<p>마을 사람들은 &lt;등대&gt;를 &quot;할아버지&quot;라고 부른다.</p>
<ul><li>첫째는 배의 이름이다.</li><li><a href=x>다른 글도 읽어 보세요.</a></li></ul>
<pre>code();</pre><figure><img src=a.jpg><figcaption>불 켜진 등대다.</figcaption></figure>
<p hidden>숨은 글이다.</p><p style="display: none">안 보인다.</p>
<form><p>구독해 주세요.</p><button>구독</button></form></article>
<aside><p>많이 본 뉴스입니다.</p></aside><p>기사 밖의 문장이다.</p>
<footer>무단 전재와 재배포를 금합니다.</footer></body></html>"""
TEXT = (
    "바닷가 마을의 등대는 백 년이 넘었다.\n등대지기는 매일 저녁 불을 밝혔다고 전해진다.\n"
    '마을 사람들은 <등대>를 "할아버지"라고 부른다.\n첫째는 배의 이름이다.'
)


def test_main_text_of_a_page() -> None:
    assert main_text(PAGE) == ("등대 이야기 | 달빛신문", TEXT)


def test_a_page_of_divisions_alone() -> None:
    page = (
        "<html><body><div class=gnb><a href=a>홈</a> <a href=b>뉴스</a></div><table><tr><td>"
        "<div id=view>봄비가 온다. 우산을 챙겨 나갔다.<br/><br/>길에는 사람들이 많았다</div></td>"
        "<td><div>광고 문의</div></td></tr></table><div id=footer>회사를 소개합니다.</div>"
        "<div><a href=1>시장이 열렸다.</a> | <a href=2>기차가 늦었다.</a></div>"
    )
    assert main_text(page)[1] == "봄비가 온다. 우산을 챙겨 나갔다.\n길에는 사람들이 많았다"
    assert main_text("") == ("", "") and main_text("그냥 글이다.") == ("", "그냥 글이다.")


@pytest.mark.parametrize(
    "page",
    [
        "<html><head><title>가</title><script>x()</script><body><p>%s</p></body></html>",
        "<html><head><meta charset=utf-8><title>가</title><p>%s</p>",
        "<head><noscript><img src=a></noscript><title>가</title></head><p>%s",
        "<body><form id=form1 method=post><div><p>%s</p><select><option>하나다.</select>"
        "</div></form><p>끝이다.</p>",
        "<form><main><p>%s</p></main><p>옆의 글이다.</p></form>",
        "<p>%s</p><form><p>구독해 주세요.</p></form>",
    ],
)
def test_forms_of_a_page(page: str) -> None:
    text = "등대는 배가 다니는 길을 밝힌다."
    assert main_text(page % text)[1].removesuffix("\n끝이다.") == text


@pytest.mark.parametrize(
    "inside",
    [
        "<ruby>등대<rt>lighthouse</rt></ruby>",
        "<ruby>등대<rp>(</rp><rt>light<rp>)</rp></ruby>",
        "<ruby>등<rt>light</rt>대<rt>house</rt></ruby>",
        "등<script>var a = 1;</script>대<svg><g><text>불이다.</text></g></svg>",
    ],
)
def test_what_is_gone_within_a_paragraph_does_not_cut_it(inside: str) -> None:
    assert main_text(f"<p>이 마을의 {inside}는 높다.</p>")[1] == "이 마을의 등대는 높다."


def test_lines_that_end_as_comments_do() -> None:
    said = "강에 다녀옴 ㅎㅎ", "진짜 맛있음ㅠㅠ", "또 가고 싶어^^;", "하늘이 예뻤음 ☀️", "최고👍🏽"
    page = "".join(f"<p>{line}</p>" for line in (*said, "홈", "글쓴이 ^", "ㅋㅋ", "👍"))
    assert main_text(page)[1] == "\n".join(said)


@pytest.mark.parametrize(
    "opening, closing",
    [
        ("<code>", "</code>"),
        ("<acronym title='등'>", "</acronym>"),
        ("<big>", "</big>"),
        ("<strike>", "</strike>"),
        ("<nobr>", "</nobr>"),
        ("<o:p>", "</o:p>"),
        ("<x-term lang=ko>", "</x-term>"),
        ("<output>", "</output>"),
        ("<input type=checkbox>", ""),
        ("<button>누름</button>", ""),
    ],
)
def test_elements_within_a_line_do_not_cut_it(opening: str, closing: str) -> None:
    page = f"<p>이 마을의 {opening}등대{closing}는 높다.</p>"
    assert main_text(page)[1] == "이 마을의 등대는 높다."


@pytest.mark.parametrize(
    "unit",
    [
        "<div>",
        "<form>",
        "<head>",
        "<body>",
        "<rt>",
        "<p>",
        "<a",
        "<a href=x>",
        "</div>",
        "<!--",
        "<b>가</i>",
        "&",
        "<br>",
        "<nav>",
    ],
)
def test_hostile_pages_take_no_time(unit: str) -> None:
    started = time.process_time()
    main_text("<p>글이다." + unit * (400_000 // len(unit)) + "</div>끝이다.")
    assert time.process_time() - started < 20  # a quadratic search takes hours


MARKUP = """---
title: 앞말
---
달빛 마을
=========

마을은 [바다](https://example.com) 옆에 있다. **등대**가
높고 `불빛`이 밝다.<!-- 주석 -->

![그림](a.png)

- 배가 온다.
- 사람이 간다. &amp; 온다

> 옛말이 있다.

    code()

```python
print("가짜다.")
```

| 해 | 수 |
|---|---|
| 1990 | 12 |

<div>꾸밈이다.</div>

## 끝 ##
마지막 줄이다.
"""
PROSE = (
    "마을은 바다 옆에 있다. 등대가 높고 불빛이 밝다.\n배가 온다.\n사람이 간다. & 온다\n"
    "옛말이 있다.\n마지막 줄이다."
)


def test_markdown_to_prose() -> None:
    pytest.importorskip("markdown_it")
    from kobert_kit.corpus.formats.markdown_text import markdown_prose

    assert markdown_prose(MARKUP) == ("달빛 마을", PROSE)
    assert markdown_prose("") == ("", "")
    for unit in ("[", "> ", "*", "`", "- ", "|", "<", "![", "_a", "\\", "가**(", "*a)"):
        started = time.process_time()
        markdown_prose("글이다.\n\n" + unit * 20_000)
        assert time.process_time() - started < 20, unit


@pytest.mark.parametrize(
    "markup, words",
    [
        (
            '**한국어(Korean)**는 언어다. **"강조"**라고 했다.',
            '한국어(Korean)는 언어다. "강조"라고 했다.',
        ),
        ("**가(a)**는 **나**와 *다(c)*의 ***라!***가", "가(a)는 나와 다(c)의 라!가"),
        ('그는**"네"** 했고 **[바다(b)](x)**로 갔다.', '그는"네" 했고 바다(b)로 갔다.'),
        ("`**a(b)**는` 코드, \\*\\*(c)\\*\\*는 글", "**a(b)**는 코드, **(c)**는 글"),
        ("3 * (2) * 4는 곱이고 **끝", "3 * (2) * 4는 곱이고 **끝"),
    ],
)
def test_emphasis_before_a_particle(markup: str, words: str) -> None:
    pytest.importorskip("markdown_it")
    from kobert_kit.corpus.formats.markdown_text import markdown_prose

    assert markdown_prose(markup)[1] == words


@pytest.mark.parametrize(
    "markup, words",
    [
        ("등대가 높다[^1].\n\n[^1]: 백 년 전에 세웠다.", "등대가 높다.\n백 년 전에 세웠다."),
        ("등대가 높다[^주].\n\n[^주]: https://example.com", "등대가 높다."),
        ("배가 ~~간다~~ 온다.", "배가 간다 온다."),
        ("- [ ] 등불을 켠다.\n- [x] 배를 맨다.", "등불을 켠다.\n배를 맨다."),
        ("> [!NOTE]\n> 밤에는 춥다.", "밤에는 춥다."),
        ("`[^1]`과 `[x] 가`는 코드다. \\[^1]", "[^1]과 [x] 가는 코드다. [^1]"),
        ("표 [ ] 칸과 물결 ~5~ 표.", "표 [ ] 칸과 물결 ~5~ 표."),
    ],
)
def test_marks_that_github_knows_go(markup: str, words: str) -> None:
    pytest.importorskip("markdown_it")
    from kobert_kit.corpus.formats.markdown_text import markdown_prose

    assert markdown_prose(markup)[1] == words


def test_a_folder_of_pages(tmp_path: Path) -> None:
    pytest.importorskip("markdown_it")
    folder = tmp_path / "pages"
    folder.mkdir()
    write_bytes(folder / "a.HTML", PAGE.encode("cp949"))
    write_bytes(folder / "b.htm.gz", PAGE.replace("등대", "우체국").encode("utf-16"))
    write_bytes(folder / "c.md", MARKUP.replace("\n", "\r\n").encode())
    write_bytes(folder / "README.md", "이 폴더의 글을 설명한다.".encode())
    write_bytes(folder / "d.html", b"<p><a href=x>menu</a></p>")
    bad = "<p>성한 줄이다.\n".encode() + b"\xff\xff\xff\n" + "<p>또 성하다.".encode()
    write_bytes(folder / "e.html", bad)
    cut = write_bytes(folder / "f.html.gz", ("<p>글이다.\n" * 30_000).encode())
    cut.write_bytes(cut.read_bytes()[:-9])
    ledger = run([folder], tmp_path / "out", presets={}, near_duplicates=False)
    found = lines(tmp_path / "out", "documents")
    assert [line["text"] for line in found[:4]] == [
        TEXT,
        TEXT.replace("등대", "우체국"),
        PROSE,
        "성한 줄이다.\n또 성하다.",
    ]
    assert [line.get("title") for line in found[:3]] == [
        "등대 이야기 | 달빛신문",
        "우체국 이야기 | 달빛신문",
        "달빛 마을",
    ]
    assert [file["encoding"] for file in ledger.files[:3]] == ["cp949", "utf-16-le", "utf-8"]
    dropped = [
        (Path(entry["file"]).name, entry["line"], entry["reason"])
        for entry in lines(tmp_path / "out", "dropped")
    ]
    assert dropped == [
        ("d.html", 1, "no main text"),
        ("e.html", 2, "a line that cannot be decoded"),
    ]
    (problem,) = ledger.problems()
    assert problem["file"].endswith("f.html.gz") and len(found[4]["text"]) > 1_000


def test_a_page_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kobert_kit.corpus.stage.cutting.LONGEST_RECORD", 50_000)
    ((_, parsed),), end = read(write_bytes(tmp_path / "a.html", b"<p>x" * 20_000))
    assert parsed.problem.startswith("longer than") and not end.problem


@pytest.mark.parametrize(
    "section",
    ["<![if !supportLists]>", "<![endif]>", "<![foo]>", "<![ 한글>", "<![>", "<![C x[y]]>", "<!>"],
)
def test_sections_that_word_processors_leave_cost_nothing_but_themselves(section: str) -> None:
    page = f"<p>첫 문단이다.</p>{section}<p>둘째 문단이다.</p>"
    assert main_text(page)[1] == "첫 문단이다.\n둘째 문단이다."
    main_text(page[: page.index(section) + 3])  # a page that ends inside one
