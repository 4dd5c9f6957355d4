"""What the filter for personal data masks, and what it must leave."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from corpus_files import jsonl, write_bytes
from test_curate import lines, run

from kobert_kit.corpus.stage.edits import EDITS
from kobert_kit.corpus.stage.filters import describe_change

MASKED = {
    "[PHONE]": """010-1234-5678
010-12345678
010 - 1234 - 5678
010–1234–5678
010‑1234‑5678
010 1234 5678
010 1234-5678
010.1234.5678
010. 1234. 5678
010)1234-5678
(010) 1234-5678
01012345678
0101234-5678
010 12345678
011-234-5678
0192345678
02-123-4567
02) 123-4567
(02)123-4567
(02) 1234-5678
02 123 4567
02.123.4567
0212345678
021234567
031-123-4567
0311234567
06412345678
070-1234-5678
07012345678
0507-1234-5678
0505-123-4567
050712345678
+821012345678
+82 10-1234-5678
+82 10 1234 5678
+82 2-123-4567
+82-2-123-4567
+82-31-123-4567
+82-(0)2-123-4567
+82 (0)10-1234-5678
(+82)10-1234-5678
+82-10-1234-5678
+82.2.123.4567
82-10-1234-5678
0082-10-1234-5678
010－1234－5678""",
    "[RESIDENT]": """900101-1234567
900101-1234568
900101 - 1234567
900101–1234567
9001011234567
9001011234568
900101 1234568
051231-3234567
0512313234567
850615-5234567""",
    "[CARD]": """4111-1111-1111-1111
4111 1111 1111 1111
4111 - 1111 - 1111 - 1111
4111–1111–1111–1111
4111111111111111
5555-5555-5555-4444
2223-0031-2200-3222
9410-0000-0000-0005
3782-822463-10005
3782 822463 10005
378282246310005
371449635398431""",
    "[EMAIL]": """hong@example.com
hong.gildong+a@mail.example.co.kr
Hong_77@EXAMPLE.COM
a@163.com
1234@example.com
홍길동@example.com
홍길동77@example.com
hong길동@example.com""",
}
LEFT = """react@18.2.0
tfjs-node@1.2.4
@babel/core@7.1.0-beta.two
numpy@v1.26.0
logo@2x.png
@사용자
a@b
10. 2019-2020 시즌
1996. 10. 1996-1997
2024. 02. 2019-2020
02 2019-2020
10 100 1000
100 02 300 4000
010 100 1000
v1.10.1234.5678
1.02.1234.5678
2024-05-01
2024-02-123-4567
1,234,567원
3.14159265358979
192.168.10.1234
ISBN 978-89-01-12345-6
ISBN 0521234567
ISBN-10: 0311234567
A0212345678
2010 2011 2012 2013
1990-1991-1992-1993
1000 4111 1111 1111 1111
4111-1111-1111-1112
3782-822463-10006
0000-0000-0000-0000
991332-1234567
900101-9234567
880104-3014809
110111-0006249
110111-1234569
1601234567890
2012051512345
8801115114155
900101 1234567
200101 1234567
A9001011234567
12345678901234567890
010-1234-5678-9012"""


@pytest.mark.parametrize(
    "mask, text", [(mask, text) for mask, texts in MASKED.items() for text in texts.split("\n")]
)
@pytest.mark.parametrize(
    "around", ["%s", "연락 바랍니다[%s].", "번호:%s로 한다, 끝", "앞 %s 뒤\n1"]
)
def test_masked(mask: str, text: str, around: str) -> None:
    edit = EDITS["personal"]("")
    assert edit(around % text) == around % mask
    assert edit(around % mask) == around % mask


@pytest.mark.parametrize("text", LEFT.split("\n"))
@pytest.mark.parametrize("around", ["%s", "값은(%s)이다.", "앞 %s 뒤"])
def test_left(text: str, around: str) -> None:
    assert EDITS["personal"]("")(around % text) == around % text


def test_several_in_a_line() -> None:
    text = "전화 02 123 4567, 팩스 (02)123-4568 / 010-1234-5678 010-8765-4321 카드 4111111111111111"
    masked = "전화 [PHONE], 팩스 [PHONE] / [PHONE] [PHONE] 카드 [CARD]"
    assert EDITS["personal"]("")(text) == masked
    assert EDITS["personal"]("")("연락(010-1234-5678)") == "연락([PHONE])"
    assert EDITS["personal"]("")("연락처는hong@example.com이다") == "연락처는[EMAIL]이다"


@pytest.mark.parametrize(
    "unit",
    ["0", "1", "1-", "010 ", "02) ", "4111 ", "+82", "(", "1. ", "900101-", "가", "a", "a.", "a-"],
)
def test_a_line_of_a_megabyte_takes_no_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit)) + " x@y"
    started = time.process_time()
    EDITS["personal"]("")(text)
    assert time.process_time() - started < 10  # a quadratic search takes hours


@pytest.mark.parametrize("preset", ["news", "wiki", "comments", "none"])
def test_what_is_masked_is_nowhere_in_the_folder(tmp_path: Path, preset: str) -> None:
    numbers = [form for forms in MASKED.values() for form in forms.split("\n")]
    around = (
        "&amp;%s",
        "값：%s",
        "\u200b%s",
        "http://a.kr %s",
        "ㅋㅋㅋㅋㅋ %s",
        "a@b.kr %s",
        "  %s",
    )
    texts = [
        (around[n % len(around)] % number)
        + f"에서 {n}번째 손님이 물건을 찾는다고 했다.\n광고 {number}"
        for n, number in enumerate(numbers)
    ]
    rows = [{"title": number, "text": text} for number, text in zip(numbers, texts, strict=True)]
    path = write_bytes(tmp_path / "a.jsonl", jsonl(*rows))
    filters = ("personal", "length=30", "boilerplate=2", "duplicate-lines=corpus")
    ledger = run([path], tmp_path / "out", presets={"": preset}, filters=filters)
    tally = ledger.filters["personal"]
    assert tally.documents > 60 and all("[" in shown for shown in tally.examples)
    found = lines(tmp_path / "out", "documents") + lines(tmp_path / "out", "dropped")
    ledger_text = (tmp_path / "out" / "ledger.json").read_text(encoding="utf-8")
    whole = json.dumps(found, ensure_ascii=False) + ledger_text
    assert not [number for number in numbers if number in whole]
    assert len(ledger.filters["boilerplate"].examples) > 1


def test_examples_show_what_changed_beside_what_is_masked() -> None:
    hide = EDITS["personal"]("")
    assert describe_change("가 &lt; 나", "가 < 나") == "'가 &lt; 나' -> '가 < 나'"
    before, after = "010-1234-5678 &lt; 나", "010-1234-5678 < 나"
    assert describe_change(before, after, hide) == "'[PHONE] &lt; 나' -> '[PHONE] < 나'"
    assert describe_change(after, "[PHONE] < 나", hide) == "'[PHONE] < 나'"
