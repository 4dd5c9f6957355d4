"""Documents in the JSON layouts of Korean corpora, read as a stream."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from corpus_files import write_bytes
from test_curate import lines, run
from test_raw import read

pytest.importorskip("ijson")

import kobert_kit.corpus.formats.json_files
from kobert_kit.corpus.formats.json_constants import null_constants
from kobert_kit.corpus.formats.json_escapes import replace_halves
from kobert_kit.corpus.formats.namumark import namu_prose
from kobert_kit.corpus.stage.cutting import read_raw

WRITTEN = {
    "id": "WARW01",
    "metadata": {"title": "말뭉치"},
    "document": [
        {
            "id": "WARW01.1",
            "metadata": {"title": "섬 이야기", "date": "2019"},
            "paragraph": [{"id": "1", "form": "섬에 산다."}, {"id": "2", "form": "배가 온다."}],
        },
        {"id": "WARW01.2", "metadata": {}, "paragraph": [{"form": "둘째 글이다."}]},
    ],
}
SPOKEN = {
    "id": "SDRW01",
    "document": [
        {
            "id": "SDRW01.1",
            "utterance": [
                {"id": "1", "form": "밥 먹었어?", "speaker_id": "1"},
                {"id": "2", "form": "", "original_form": "어"},
                {"id": "3", "form": "응 먹었어 ㅋㅋ", "speaker_id": "2"},
            ],
        }
    ],
}
READING = {"data": [{"doc_id": 7, "doc_title": "강", "paragraphs": [{"context": "강이 흐른다."}]}]}
PARTS = [[{"sentence": "하나."}, {"sentence": "둘."}], [{"sentence": "셋."}]]
SUMMARY = {"documents": [{"id": "3", "text": PARTS}]}
TALK = {"data": [{"header": {"title": "주문"}, "body": {"dialogue": [{"utterance": "커피요."}]}}]}
SENTENCES = {"document": [{"id": "S1", "sentence": [{"form": "비가 온다."}, {"form": "춥다."}]}]}
PAPER = {"data": [{"doc_id": "P", "title": "논문", "summary_entire": [{"orginal_text": "본문."}]}]}
TURNS = [
    {"talk": {"id": {"talk-id": "1"}, "content": {"HS01": "속상해.", "SS01": "왜요?", "HS02": ""}}}
]
CHAT = {"info": [{"id": "9", "annotations": {"text": "1 : 밥?", "lines": [{"norm_text": "밥?"}]}}]}
PAPERS = [{"dataset_name": "논문", **PAPER}, PAPER, {"data": []}]
REPORT = {
    "Meta(Acqusition)": {"doc_id": "R1", "doc_name": "회의록"},
    "Meta(Refine)": {"passage_id": "1", "passage": "다리의 이름을 정했다."},
    "Annotation": {"summary1": "이름을 정함."},
}
SCRIPT = {"Meta": {"doc_id": "S", "doc_name": "방송", "passage": "막이 오른다."}, "Annotation": {}}
BOOK = {"passage_id": "B", "metadata": {"doc_id": "1", "doc_name": "섬"}, "passage": "섬에 산다."}
WEB = {"SJML": {"text": [{"title": "강", "content": "강이 길다."}, {"content": "산이 높다."}]}}
LABELLED = {
    "named_entity": [
        {
            "title": [{"sentence": "강", "labels": []}],
            "content": [
                {"sentence": "강이 길다.", "labels": [{"entity": "강"}]},
                {"sentence": "맑다."},
            ],
        },
        {"content": [{"sentence": "산이 높다."}]},
    ]
}
NAMED = {"text": "강이 흐른다.", "named_entity": [{"entity": "강"}], "data": [{"label": "LC"}]}
SPEECH = {"utterances": [{"original_text": "네."}, {"text": "아니요."}]}
PLAIN = [{"title": "바다", "text": "넓다."}, {"text": "깊다."}]
FIRST = ("WARW01.1", "섬 이야기", "섬에 산다.\n배가 온다.")


@pytest.mark.parametrize(
    "content, expected",
    [
        (WRITTEN, [FIRST, ("WARW01.2", "", "둘째 글이다.")]),
        (SPOKEN, [("SDRW01.1", "", "밥 먹었어?\n응 먹었어 ㅋㅋ")]),
        (READING, [("7", "강", "강이 흐른다.")]),
        (SUMMARY, [("3", "", "하나. 둘.\n셋.")]),
        (TALK, [("", "주문", "커피요.")]),
        (SENTENCES, [("S1", "", "비가 온다. 춥다.")]),
        (PAPER, [("P", "논문", "본문.")]),
        (TURNS, [("", "", "속상해.\n왜요?")]),
        (CHAT, [("9", "", "밥?")]),
        (SPEECH, [("", "", "네.\n아니요.")]),
        (PLAIN, [("", "바다", "넓다."), ("", "", "깊다.")]),
        (PAPERS, [("P", "논문", "본문.")] * 2 + [("", "", "")]),
        (REPORT, [("R1", "회의록", "다리의 이름을 정했다.")]),
        (SCRIPT, [("S", "방송", "막이 오른다.")]),
        (BOOK, [("1", "섬", "섬에 산다.")]),
        (WEB, [("", "강", "강이 길다."), ("", "", "산이 높다.")]),
        (LABELLED, [("", "강", "강이 길다. 맑다."), ("", "", "산이 높다.")]),
        (NAMED, [("", "", "강이 흐른다.")]),
        ([NAMED], [("", "", "강이 흐른다.")]),
    ],
)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_layouts(tmp_path: Path, content: Any, expected: list[Any], mark: bytes) -> None:
    raw = mark + json.dumps(content, ensure_ascii=False).encode()
    found, end = read(write_bytes(tmp_path / "a.json.gz", raw))
    assert [(p.id, p.title, p.text) for _, p in found] == expected
    assert [line for line, _ in found] == list(range(1, len(expected) + 1)) and not end.problem


def test_documents_in_parts_fill_chunks(tmp_path: Path) -> None:
    documents = [
        {"id": str(n), "paragraph": [{"form": f"{n}번째 글이다. " * 20}]} for n in range(99)
    ]
    path = write_bytes(tmp_path / "a.json", json.dumps({"document": documents}).encode())
    run([path], tmp_path / "out", presets={}, near_duplicates=False)
    assert len(list((tmp_path / "out" / "documents").iterdir())) > 1
    assert [line["id"] for line in lines(tmp_path / "out", "documents")] == list(
        map(str, range(99))
    )


def test_namuwiki(tmp_path: Path) -> None:
    markup = (
        "[목차]\n== 개요 ==\n'''달빛마을'''은 [[바다]] 옆의 [[마을|작은 마을]]이다.[* [[지도]]]\n"
        "{{{#red 붉은 {{{+1 등대}}}}}}가 있다. ~~농담이다~~\n||표||칸||\n * 목록\n> 인용\n"
        "[include(틀:마을)][youtube(abc)]\n[[파일:달.png|width=100]]끝이다.[br]다음 줄.\n"
        "[[분류:마을]]"
    )
    assert namu_prose(markup) == (
        "달빛마을은 바다 옆의 작은 마을이다.\n붉은 등대가 있다.\n끝이다.\n다음 줄."
    )
    for broken in ("{{{" * 3_000, "[[" * 3_000, "[*" * 3_000, "~~" * 3_000, "'''" * 3_001):
        namu_prose(broken + "글")
    pages = [
        {"namespace": "0", "title": "마을", "text": markup, "contributors": ["하나"]},
        {"namespace": "0", "title": "동네", "text": "#redirect 마을"},
        {"namespace": "1", "title": "틀", "text": "틀이다"},
    ]
    found, _ = read(write_bytes(tmp_path / "namu.json", json.dumps(pages).encode()))
    assert [p.problem for _, p in found] == ["", "empty text", "empty text"]


@pytest.mark.parametrize(
    "markup, text",
    [
        ("좋다^^ 정말,, 그래~~ 끝~~", "좋다^^ 정말,, 그래~~ 끝~~"),
        ("snake_case__name과 other__name", "snake_case__name과 other__name"),
        ("C--와 D--의 차이", "C--와 D--의 차이"),
        (
            "물은 H,,2,,O이고 넓이는 m^^2^^이며 __밑줄 친 말__이다.",
            "물은 H2O이고 넓이는 m2이며 밑줄 친 말이다.",
        ),
        ("날이 --춥다-- 덥다. 꽤 ~~많이~~ 덥다.", "날이  덥다. 꽤  덥다."),
        ("||표 칸\n내용||\n|| [[바다]][br]둘째 줄 || 셋 ||\n글이다.", "글이다."),
        ("||\n칸이다.\n||\n글이다.", "글이다."),
        ("||끝나지 않는 줄\n글이다.\n\n둘째 글이다. ||", "글이다.\n둘째 글이다. ||"),
        ("||끝나지 않는 줄\n글이다.", "글이다."),
        ('{{{#!folding [ 접기 ]\n{{{#!wiki style="a"\n속이다.}}}}}}글이다.', "글이다."),
        ("{{{#!html <style>b{c:d}</style>\n{{{#red 속}}} 이다.}}}글이다.", "글이다."),
        ("{{{+2 {{{#red,#blue 큰}}} 글}}}이다. {{{#글}}}과 {{{-x}}}", "큰 글이다. #글과 -x"),
        ("글이다.[* 원문은 [아래]와 [[섬]]에 있다.] 끝[*가 [1] 둘째.].", "글이다. 끝."),
        ("[ruby(漢字, ruby=한자)]를 [Ruby(日,ruby=일)]로[BR]읽는다.", "漢字를 日로\n읽는다."),
        ("문서가 [pagecount]개다. [주의]는 남는다.", "문서가 개다. [주의]는 남는다."),
        ("{{{ 열린 글이다. }}} 닫힌 }}} 글 {{{", "열린 글이다.  닫힌 }}} 글 {{{"),
    ],
)
def test_marks_of_namuwiki_that_are_none(markup: str, text: str) -> None:
    assert namu_prose(markup) == text


@pytest.mark.parametrize(
    "unit",
    ["{{{a", "{{{#!a", "[*[a]", "__", "__a", "^^a", ",,a", "a--", "~~a", "||a\n", "||\n", "'"],
)
def test_a_megabyte_of_marks_takes_no_time(unit: str) -> None:
    started = time.process_time()
    namu_prose(unit * (1_000_000 // len(unit)))
    assert time.process_time() - started < 10  # a quadratic search takes hours


def test_bad_json_is_named(tmp_path: Path) -> None:
    whole = '[{"text": "하나"}, {"text": "둘"}, {"text": "셋"}]'.encode()
    found, end = read(write_bytes(tmp_path / "cut.json", whole[:-10]))
    assert len(found) == 2 and end.problem.startswith("not JSON, or damaged after document 2")
    _, end = read(write_bytes(tmp_path / "other.json", b"[1, 2]"))
    assert end.problem == "no documents in a layout of JSON that is known here"
    _, end = read(write_bytes(tmp_path / "deep.json", b"[" * 1_000_000))
    assert end.problem.startswith("nested deeper than 10,000 levels after document 1;")
    found, _ = read(write_bytes(tmp_path / "no.json", b'[{"a": "b"}]'))
    assert [p.problem for _, p in found] == ["no 'text'"]
    _, end = read(write_bytes(tmp_path / "odd.json", '[{"text": "가"} %나]'.encode()))
    assert "damaged after document 1" in end.problem and "b'" not in end.problem
    _, end = read(write_bytes(tmp_path / "odd.json", f'[{{"글": null["{"나" * 24}"]}}]'.encode()))
    assert end.problem.endswith(
        "(parse error: after key and value, inside map, I expect ',' or '}')"
    )
    _, end = read(write_bytes(tmp_path / "empty.json", b""))
    assert end.problem == "the file is empty"


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_a_bad_byte_costs_its_document_and_no_other(tmp_path: Path, encoding: str) -> None:
    rows = [{"text": f"{n}번째 글이다."} for n in range(4_000)]
    raw = json.dumps(rows, ensure_ascii=False).encode(encoding)
    for number in (3_000, 7):
        at = raw.index(f"{number}번째".encode(encoding)) + len(str(number))
        raw = raw[:at] + b"\xff" + raw[at:]
    found, end = read(write_bytes(tmp_path / "a.json", raw))
    assert not end.problem and len(found) == 4_000
    bad = [(line, parsed.problem) for line, parsed in found if parsed.problem]
    assert bad == [(n, "bytes that are not of the file's encoding") for n in (8, 3_001)]
    assert [p.text for _, p in found if p.text] == [
        row["text"] for n, row in enumerate(rows) if n not in (7, 3_000)
    ]


def test_a_file_that_is_one_document_or_a_document_a_line(tmp_path: Path) -> None:
    for content, expected in (
        ({"id": 1, "title": "섬", "text": "섬이다."}, ("1", "섬", "섬이다.")),
        (WRITTEN["document"][0], FIRST),  # type: ignore[index]
        ({"namespace": None, "text": "이름 없는 곳이다."}, ("", "", "이름 없는 곳이다.")),
    ):
        for indent in (None, 2):
            raw = json.dumps(content, ensure_ascii=False, indent=indent).encode()
            found, end = read(write_bytes(tmp_path / "one.json", raw + b"\n"))
            assert [(p.id, p.title, p.text) for _, p in found] == [expected] and not end.problem
    rows = [b'{"text": "\xea\xb0\x80", "id": 5}', b"", b"{broken", b'{"a": 1}', b'{"text": "\xff"}']
    rows += [json.dumps(WRITTEN["document"][0]).encode()]  # type: ignore[index]
    found, end = read(write_bytes(tmp_path / "lines.json.gz", b"\n".join(rows) + b"\n"))
    assert [(line, p.text or p.problem) for line, p in found] == [
        (1, "가"),
        (3, "not JSON"),
        (4, "no 'text'"),
        (5, "not UTF-8"),
        (6, FIRST[2]),
    ]
    assert not end.problem
    # Objects one after another, of many lines each, are read as well.
    raw = "\n".join(json.dumps(row, indent=1, ensure_ascii=False) for row in PLAIN).encode()
    found, _ = read(write_bytes(tmp_path / "more.json", raw))
    assert [p.text for _, p in found] == ["넓다.", "깊다."]


def test_a_document_that_is_too_long_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kobert_kit.corpus.formats.json_files.LONGEST_RECORD", 50_000)
    rows = [{"text": "가"}, {"paragraph": [{"form": "긴 글이다. " * 1_000}] * 9}, {"text": "나"}]
    found, end = read(write_bytes(tmp_path / "a.json", json.dumps(rows).encode()))
    assert [p.text or p.problem[:11] for _, p in found] == ["가", "longer than", "나"]
    assert not end.problem


def test_json_in_cp949_and_with_large_numbers(tmp_path: Path) -> None:
    texts = [f"{n}번째 글이다. " * (n % 7 + 1) for n in range(4_000)]  # over several blocks
    for encoding in ("utf-8", "cp949", "utf-16"):
        rows = [{"id": 10**30 + n, "score": 1e300, "text": text} for n, text in enumerate(texts)]
        raw = json.dumps(rows, ensure_ascii=False).encode(encoding)
        found, end = read(write_bytes(tmp_path / "a.json", raw))
        assert [p.text for _, p in found] == texts and not end.problem
        assert found[1][1].id == str(10**30 + 1)


def test_a_large_file_is_never_whole_in_memory(tmp_path: Path) -> None:
    row = {"namespace": "0", "title": "가", "text": "긴 글이다. " * 1_000}
    path = write_bytes(tmp_path / "namu.json", json.dumps([row] * 1_500).encode())
    tracemalloc.start()
    count = sum(1 for _ in read_raw(0, path, "text", lambda consumed: None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 1_501 and peak < path.stat().st_size / 10


def test_a_string_of_many_megabytes_takes_no_longer_than_its_length(tmp_path: Path) -> None:
    def seconds(megabytes: int) -> float:
        long = "가나다라마바사아 " * 40_000 * megabytes
        rows = [{"text": "앞의 글이다."}, {"text": long}, {"text": "뒤의 글이다."}]
        path = write_bytes(tmp_path / "a.json", json.dumps(rows, ensure_ascii=False).encode())
        begun = time.process_time()
        *found, end = read_raw(0, path, "text", lambda consumed: None)
        taken = time.process_time() - begun
        assert [len(raw.content["text"]) for raw in found] == [len(row["text"]) for row in rows]
        assert not end.problem
        return taken

    # Four times the length took sixteen times as long.
    assert seconds(24) < 8 * seconds(6) + 0.5


def test_a_value_without_end_ends_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kobert_kit.corpus.formats.json_files, "LONGEST_VALUE", 1 << 20)
    content = b'[{"text": "' + "앞의 글이다.".encode() + b'"}, {"text": "' + b"a" * (3 << 20)
    *found, end = read_raw(
        0, write_bytes(tmp_path / "a.json", content), "text", lambda consumed: None
    )
    assert len(found) == 1 and end.problem.startswith("a value longer than 1 MiB")


def test_documents_between_a_long_string_and_damage_are_kept(tmp_path: Path) -> None:
    rows = [{"text": "가 " * 100_000}] + [{"text": f"{n}째 글이다."} for n in range(2000)]
    content = json.dumps(rows, ensure_ascii=False).encode()
    packed = write_bytes(tmp_path / "a.json.gz", content).read_bytes()
    (tmp_path / "a.json.gz").write_bytes(packed[:-8])  # all of the text, but not its checksum
    *found, end = read_raw(0, tmp_path / "a.json.gz", "text", lambda consumed: None)
    assert len(found) == 2001 and "the file ends early" in end.problem


@pytest.mark.parametrize("container", [None, "documents"])
def test_what_is_no_object_among_documents_is_named_and_counted(container, tmp_path):
    items: list[Any] = [{"text": "첫째."}, "둘째.", None, 3, [{"text": "안"}], {"text": "셋째."}]
    other = {"data": {"made": "2020", "by": [1, 2]}, "note": ["비고"]}
    write_bytes(
        tmp_path / "a.json",
        json.dumps(items if container is None else {container: items, **other}).encode(),
    )
    run([tmp_path / "a.json"], tmp_path / "out", presets={"": "none"})
    assert [each["text"] for each in lines(tmp_path / "out", "documents")] == ["첫째.", "셋째."]
    dropped = lines(tmp_path / "out", "dropped")
    assert [each["line"] for each in dropped] == [2, 3, 4, 5]
    assert {each["reason"] for each in dropped} == {"no object, where documents stand"}


@pytest.mark.parametrize("values", [[], [1, 2, 3], ["가", None], [[1], [{"a": 2}]]])
@pytest.mark.parametrize("key", ["data", "document", "documents"])
@pytest.mark.parametrize("layout", ["one", "indented", "lines", "array", "first"])
def test_a_list_of_no_objects_is_a_field_of_its_document(
    tmp_path: Path, values: list[Any], key: str, layout: str
) -> None:
    rows: list[dict[str, Any]] = [
        {"text": f"{n}번째 배가 들어온다.", key: values, "id": n} for n in range(3)
    ]
    if layout == "first":
        rows = [{key: row.pop(key), **row} for row in rows]
    if layout in ("one", "indented"):
        del rows[1:]
    content = "\n".join(
        json.dumps(row, ensure_ascii=False, indent=1 if layout == "indented" else None)
        for row in rows
    )
    if layout == "array":
        content = json.dumps(rows, ensure_ascii=False)
    found, end = read(write_bytes(tmp_path / "a.json", content.encode()))
    assert not end.problem
    assert [(p.text, p.id) for _, p in found] == [(row["text"], str(row["id"])) for row in rows]


def test_what_is_no_object_before_the_documents_is_counted(tmp_path: Path) -> None:
    content = {
        "data": [1, "둘", [{"text": "셋"}], {"text": "배가 들어온다."}, None, {"text": "끝"}]
    }
    found, end = read(write_bytes(tmp_path / "a.json", json.dumps(content).encode()))
    none = "no object, where documents stand"
    assert [(line, p.text or p.problem) for line, p in found] == [
        *((line, none) for line in (1, 2, 3)),
        (4, "배가 들어온다."),
        (5, none),
        (6, "끝"),
    ]
    assert not end.problem


DAMAGED_LINES = {
    "cut": '{"text": "바다가'.encode(),
    "cut behind a comma": b'{"id": 1,',
    "cut behind a colon": b'{"id": 1, "text":',
    "no JSON": "%% 나루터".encode(),
    "no characters": b"\xff\x80{",
    "no object": b"[",
    "too much": b'{"text": "\xea\xb0\x80"}}',
}


@pytest.mark.parametrize("damage", DAMAGED_LINES.values(), ids=DAMAGED_LINES)
@pytest.mark.parametrize("place", [0, 1, -1])
@pytest.mark.parametrize("good", [1, 5])
def test_a_damaged_line_of_json_lines_costs_itself_wherever_it_is(
    tmp_path: Path, damage: bytes, place: int, good: int
) -> None:
    texts = [f"{n}번째 배가 들어온다." for n in range(good)]
    rows = [json.dumps({"text": text}, ensure_ascii=False).encode() for text in texts]
    at = range(good + 1)[place]
    rows.insert(at, damage)
    path = write_bytes(tmp_path / "a.json", b"\n".join(rows) + b"\n")
    ledger = run([path], tmp_path / "out", presets={"": "none"}, near_duplicates=False)
    assert [row["text"] for row in lines(tmp_path / "out", "documents")] == texts
    (dropped,) = lines(tmp_path / "out", "dropped")
    assert dropped["line"] == at + 1 and dropped["bytes"] > 0
    assert ledger.total.read[0] == good + 1 and ledger.total.balance() == (0, 0)
    assert not ledger.problems()


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("separator", [",\n", "\n,\n", ",", "\n"])
def test_what_is_not_a_document_a_line_is_not_taken_for_it(
    tmp_path: Path, separator: str, indent: int | None
) -> None:
    for count in (1, 2, 3, 2_000):
        texts = [f"{n}번째 배가 들어온다." for n in range(count)]
        rows = [json.dumps({"text": t}, ensure_ascii=False, indent=indent) for t in texts]
        content = separator.join(rows)
        for raw in (f"[{content}]", f"[\n{content}\n]\n", f'{{"data":\n[\n{content}\n]\n}}'):
            if separator == "\n":  # values one after another
                raw = content
            found, end = read(write_bytes(tmp_path / "a.json", raw.encode()))
            assert [p.text for _, p in found] == texts and not end.problem


def test_numbers_that_are_none_cost_no_document(tmp_path: Path) -> None:
    odd = [float("nan"), float("inf"), float("-inf")]
    rows: list[Any] = [
        {"text": "NaN은 수가 아니다.", "score": odd[0], "rest": [odd, {"NaN": odd[2]}]},
        {"text": '그는 "Infinity"라고 했다. \\', "score": odd[1]},
        {"text": odd[0], "id": "둘째"},
        {"text": "끝 글이다.", "id": odd[0], "title": "-Infinity"},
    ] * 500
    for content in (rows, {"document": rows}):
        raw = json.dumps(content, ensure_ascii=False).encode()
        found, end = read(write_bytes(tmp_path / "a.json", raw))
        assert [p.text or p.problem for _, p in found] == [
            "no 'text'" if row.get("id") == "둘째" else row["text"] for row in rows
        ]
        assert found[3][1].title == "-Infinity" and not end.problem


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_numbers_that_are_none_are_found_over_the_ends_of_blocks(encoding: str) -> None:
    value = {"가": [1.5, float("nan"), "NaN", 'a" NaN'], "\\": float("-inf"), '\\"': float("inf")}
    expected = {"가": [1.5, None, "NaN", 'a" NaN'], "\\": None, '\\"': None}
    raw, whole = (json.dumps(v, ensure_ascii=False).encode(encoding) for v in (value, expected))
    for first in range(len(raw)):
        for second in range(first, len(raw)):
            blocks = [raw[:first], raw[first:second], raw[second:]]
            assert b"".join(null_constants(blocks)) == whole
    assert b"".join(null_constants([raw[at : at + 1] for at in range(len(raw))])) == whole


@pytest.mark.parametrize("levels", [150, 3_000])
def test_what_is_nested_too_deep_costs_its_document_and_no_other(
    tmp_path: Path, levels: int
) -> None:
    def nested(opening: str, closing: str) -> str:
        return opening * levels + "1" + closing * levels

    deep = [f'{{"text": "깊은 글", "more": {nested("[", "]")}}}', nested('{"a": ', "}")]
    good = ['{"text": "앞의 글이다."}', '{"text": "뒤의 글이다."}']
    rows = ", ".join([good[0], *deep, nested("[", "]"), good[1]])
    for raw in (f"[{rows}]", f'{{"about": {nested("[", "]")}, "documents": [{rows}]}}'):
        path = write_bytes(tmp_path / "a.json", raw.encode())
        ledger = run([path], tmp_path / str(len(raw)), presets={"": "none"})
        kept = [row["text"] for row in lines(tmp_path / str(len(raw)), "documents")]
        assert kept == ["앞의 글이다.", "뒤의 글이다."] and not ledger.problems()
        dropped = lines(tmp_path / str(len(raw)), "dropped")
        assert [(row["line"], row["reason"]) for row in dropped] == [
            (2, "nested deeper than 100 levels"),
            (3, "nested deeper than 100 levels"),
            (4, "no object, where documents stand"),
        ]
        assert ledger.total.balance() == (0, 0) and ledger.total.read[0] == 5


@pytest.mark.parametrize(
    "number", ["9" * 5_000, "-" + "8" * 200_000, "1e" + "9" * 20, "-2.5E-" + "7" * 3_000]
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_a_number_that_nothing_can_hold_costs_no_document(
    tmp_path: Path, number: str, encoding: str
) -> None:
    digits = "그 수는 " + "9" * 5_000 + " 1e99999999999 이다."  # which is a text, and stays
    for value in (f"[{number}, {number}, 5]", f'{{"n": {number}, "NaN": NaN}}', number):
        rows = f'''{{"id": {number}, "text": "앞의 글이다."}}, {{"n": {value}, "text": "{digits}"}},
            {{"paragraph": {number}}}, {{"text": {number}}}, {{"n": 7, "text": "뒤의 글이다."}}'''
        for raw in (f"[{rows}]", f'{{"n": {value}, "data": [{rows}], "m": {number}}}'):
            found, end = read(write_bytes(tmp_path / "a.json", raw.encode(encoding)))
            assert [p.text or p.problem for _, p in found] == [
                *("앞의 글이다.", digits, "no 'text'", "no 'text'", "뒤의 글이다.")
            ]
            assert not end.problem


def test_long_numbers_are_found_over_the_ends_of_blocks() -> None:
    raw = b'[{"9": 1e99999999999, "a": -1.5e7}, "1e99999999999\\"", [NaN, 3], 2E+1234567890]'
    whole = b'[{"9": null, "a": -1.5e7}, "1e99999999999\\"", [null, 3], null]'
    for first in range(len(raw)):
        for second in range(first, len(raw)):
            blocks = [raw[:first], raw[first:second], raw[second:]]
            assert b"".join(null_constants(blocks)) == whole
    for size in (1, 599, 600, 601, 2_500):
        raw = b'[1, %b, "%b", 2, %b]' % (b"7" * 4_000, b"7" * 4_000, b"0.%b" % (b"5" * 598))
        blocks = [raw[at : at + size] for at in range(0, len(raw), size)]
        whole = b'[1, null, "%b", 2, 0.%b]' % (b"7" * 4_000, b"5" * 598)
        assert b"".join(null_constants(blocks)) == whole


def test_half_an_emoji_becomes_the_replacement_character_as_in_json_lines(tmp_path: Path) -> None:
    texts = [
        *(r"가\udc00나", r"\ud83d", r"\ud83d\ud83d", r"\ud83d\ude00", r"\uD83D\uDE00\uDE00"),
        *(r"\\ud83d", r"\\\ud83d가", r"\\\\ud83d\\\udc00", r"\ud83d\\ude00", r"\ud55c\n\ud83d\""),
    ]
    rows = [f'{{"text": "{text}", "{text}": 1, "id": "{text}"}}' for text in texts]
    write_bytes(tmp_path / "a.jsonl", "\n".join(rows).encode())
    write_bytes(tmp_path / "a.json", f"[{','.join(rows)}]".encode())
    as_lines, _ = read(tmp_path / "a.jsonl")
    as_array, end = read(tmp_path / "a.json")
    assert [(p.text, p.id) for _, p in as_array] == [(p.text, p.id) for _, p in as_lines]
    assert [p.text for _, p in as_array[:5]] == [
        "가\ufffd나",
        "\ufffd",
        "\ufffd" * 2,
        "😀",
        "😀\ufffd",
    ]
    assert not end.problem


def test_halves_are_found_over_the_ends_of_blocks() -> None:
    raw = rb'"\ud83d\ude00\\ud83d\\\ud83d\ud83d\uDE00\udc00\\\\\ud83d\\\\ud83d\n\udbff"'
    whole = rb'"\ud83d\ude00\\ud83d\\\ufffd\ud83d\uDE00\ufffd\\\\\ufffd\\\\ud83d\n\ufffd"'
    for first in range(len(raw)):
        for second in range(first, len(raw)):
            blocks = [raw[:first], raw[first:second], raw[second:]]
            assert b"".join(replace_halves(blocks)) == whole
    assert b"".join(replace_halves([raw[at : at + 1] for at in range(len(raw))])) == whole
