"""Numbers about a tokenizer, checked against counting by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import sentences

from kobert_kit.cli import group
from kobert_kit.errors import DataError
from kobert_kit.morphology.splitter import Splitter
from kobert_kit.report.inspection import measures, page
from kobert_kit.tasks.spans import read_answers, read_entities
from kobert_kit.tokenizer.boundaries import BoundaryMarker
from kobert_kit.tokenizer.inspection import SYLLABLES, add_texts, begin, character_class
from kobert_kit.tokenizer.subject import open_subject
from kobert_kit.tokenizer.tokens import tokens_of

NER = (
    "## 설명\n## 문장-1\t<지수:PS>는\n지\tB-PS\n수\tI-PS\n는\tO\n \tO\n시\tB-LC\n장\tI-LC\n에\tO\n"
    "서\tO\n\n#\tO\n책\tB-OG\n"
)


def invoke(*arguments: str) -> str:
    outcome = CliRunner().invoke(group, list(arguments))
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_counts_by_hand(folder: Path) -> None:
    subject = open_subject(str(folder))
    inspection = begin(subject)
    # 지수 ##는 | [UNK] 는 | 찾 ##았 ##습니다 ; 뷁는 is one eojeol of two tokens
    add_texts(
        inspection, subject, ["지수는 뷁는  찾았습니다", ""], BoundaryMarker(), [[(0, 2)], []]
    )
    assert (inspection.texts, inspection.texts_with_unknown) == (2, 1)
    assert (inspection.eojeols, inspection.tokens, inspection.unknown_tokens) == (3, 7, 1)
    assert inspection.characters == {"syllable": 10} and inspection.unknown == {"syllable": 1}
    assert (inspection.cuts, inspection.cuts_met, inspection.crossed) == (4, 4, 0)
    assert (inspection.spans, inspection.spans_hurt_at_start, inspection.spans_hurt_at_end) == (
        1,
        0,
        0,
    )
    add_texts(inspection, subject, ["도서관에서"], BoundaryMarker(), [[(0, 2), (1, 3), (3, 4)]])
    # 도서관 ##에서: 2 is inside the first token, 1 too; 4 is inside the second
    assert (inspection.spans, inspection.spans_hurt_at_start, inspection.spans_hurt_at_end) == (
        4,
        1,
        2,
    )


def test_the_vocabulary_alone(folder: Path) -> None:
    subject = open_subject(str(folder))
    inspection = begin(subject)
    entries = subject.native.get_vocab()
    assert inspection.entries == len(entries) == 470
    # Which syllables can be written is which ones are entries.
    assert inspection.reachable_syllables == sum(syllable in entries for syllable in SYLLABLES)
    assert inspection.dead == []
    assert len(inspection.longest[0].removeprefix("##")) == max(
        len(entry.removeprefix("##")) for entry in entries if entry[0] != "["
    )


def test_dead_entries_are_found(folder: Path, tmp_path: Path) -> None:
    values = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    values["model"]["vocab"]["##뷁"] = 470  # not in the alphabet, so it is isolated
    values["model"]["vocab"]["책시장"] = 471  # reachable
    (tmp_path / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")
    assert begin(open_subject(str(tmp_path))).dead == ["##뷁"]


@pytest.mark.parametrize(
    ("char", "kind"),
    [
        *(("가", "syllable"), ("ㅋ", "jamo"), ("\u1100", "jamo"), ("大", "Hanja"), ("𠮷", "Hanja")),
        *(("é", "Latin"), ("7", "digit"), ("😀", "emoji"), ("\u200d", "emoji"), (".", "symbol")),
        *(("∑", "symbol"), ("ア", "other"), ("я", "other")),
    ],
)
def test_classes(char: str, kind: str) -> None:
    assert character_class(char) == kind


def test_gold_spans(tmp_path: Path) -> None:
    (tmp_path / "ner.tsv").write_text("\ufeff" + NER, encoding="utf-8")
    assert list(read_entities(tmp_path / "ner.tsv")) == [
        ("지수는 시장에서", [(0, 2), (4, 6)]),
        ("#책", [(1, 2)]),
    ]
    (tmp_path / "bad.tsv").write_text(NER.replace("장\tI-LC", "장 I-LC"), encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.tsv:8: .*'장 I-LC'"):
        list(read_entities(tmp_path / "bad.tsv"))
    qas = [{"answers": [{"text": "지수", "answer_start": 0}]}]
    data = {"data": [{"paragraphs": [{"context": "지수는 간다", "qas": qas}]}]}
    (tmp_path / "qa.json").write_text(json.dumps(data), encoding="utf-8")
    assert list(read_answers(tmp_path / "qa.json")) == [("지수는 간다", [(0, 2)])]
    qas[0]["answers"][0]["answer_start"] = 9
    (tmp_path / "qa.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(DataError, match="ends after its paragraph"):
        list(read_answers(tmp_path / "qa.json"))


def test_the_command(folder: Path, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "ner.tsv").write_text(NER, encoding="utf-8")
    look = tmp_path / "look.html"
    arguments = [str(corpus), "--tokenizer", str(folder), "--against", str(folder)]
    arguments += ["--ner", str(tmp_path / "ner.tsv"), "--html", str(look)]
    text = invoke("inspect", *arguments)
    assert "tokens per eojeol" in text and "gold spans hurt at the end" in text
    html = look.read_text(encoding="utf-8")
    assert 'title="##는 (' in html and "<script" not in html
    assert html.count("</div>") == 20  # a tokenizer named twice is measured once
    for row in measures([begin(open_subject(str(folder)))]):
        assert row[0] in html or row[0].startswith("gold") or row[1] == "-"


def test_html_is_escaped(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("<b>책</b> & <script>", encoding="utf-8")
    look = tmp_path / "look.html"
    arguments = [str(tmp_path / "text.txt"), "--tokenizer", str(folder), "--html", str(look)]
    invoke("inspect", *arguments)
    html = look.read_text(encoding="utf-8")
    assert "<script" not in html and "&lt;script&gt;" in html and "&amp;" in html


def test_the_page_marks_what_a_foreign_tokenizer_does_not_know(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    backend = Tokenizer(models.WordPiece({"<nil>": 0, "책": 1, "##을": 2}, unk_token="<nil>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<nil>").save_pretrained(tmp_path)
    subject = open_subject(str(tmp_path))
    text = "책을 샀다"
    rows = list(tokens_of(subject, [text], Splitter()))
    html = page([begin(subject)], [(text, rows)])
    assert html.count('class="token unknown"') == 1
    assert 'class="token unknown" title="&lt;nil&gt; (0), 3-5' in html


def takes_spaces_along(folder: Path) -> Path:
    """A tokenizer whose tokens have the spaces around words in them, as many on the hub have."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    entries = ["<nil>", "▁", "▁책", "을▁", "▁책을▁", "샀다"]
    model = models.WordPiece(
        {entry: number for number, entry in enumerate(entries)},
        unk_token="<nil>",
        continuing_subword_prefix="",
    )
    backend = Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<nil>").save_pretrained(folder)
    return folder


def test_a_token_of_spaces_is_in_no_morpheme(tmp_path: Path) -> None:
    subject = open_subject(str(takes_spaces_along(tmp_path)))
    spaces, words = tokens_of(subject, ["  ", "샀다 책을 샀다"], Splitter())
    assert [(one.token, one.morpheme, one.tag) for one in spaces] == [("▁", "", "")] * 2
    assert [one.token for one in words] == ["샀다", "▁책을▁", "샀다"]
    assert [one.morpheme for one in words] == ["샀", "책", "샀"]


def test_spaces_in_a_token_hurt_no_gold_span(tmp_path: Path) -> None:
    subject = open_subject(str(takes_spaces_along(tmp_path)))
    inspection = begin(subject)
    spans = [[(3, 5), (3, 4), (4, 5)]]  # 책을, 책, 을
    add_texts(inspection, subject, ["샀다 책을 샀다"], BoundaryMarker(), spans)
    assert (inspection.spans_hurt_at_start, inspection.spans_hurt_at_end) == (1, 1)
    add_texts(inspection, subject, ["뷁  뷁"], BoundaryMarker())  # one <nil> of four characters
    assert inspection.unknown == {"syllable": 2}


def test_tokenize_styles(folder: Path, tmp_path: Path) -> None:
    arguments = ["tokenize", "--tokenizer", str(folder), "지수는 찾았습니다"]
    assert invoke(*arguments, "--format", "line") == "지수 ##는 찾 ##았 ##습니다\n"
    values = json.loads(invoke(*arguments, "--format", "json"))
    assert values["text"] == "지수는 찾았습니다"
    assert values["tokens"][1] == {
        "token": "##는",
        "id": open_subject(str(folder)).native.token_to_id("##는"),
        "start": 2,
        "end": 3,
        "morpheme": "는",
        "tag": "JX",
    }
    table = invoke(*arguments)
    assert "| ##습니다 |" in table and "EF" in table
    lines = tmp_path / "lines.txt"
    lines.write_text("\ufeff" + "\n".join(sentences()[:3]) + "\n\n", encoding="utf-8")
    found = invoke("tokenize", "--tokenizer", str(folder), "--file", str(lines), "--format", "line")
    assert found.count("\n") == 4 and found.endswith(".\n\n") and "[UNK]" not in found


def test_tokenize_says_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    assert "TEXT or --file" in runner.invoke(group, ["tokenize", "--tokenizer", str(folder)]).output
    (tmp_path / "bad.txt").write_bytes(b"ok\n\xff\n")
    outcome = runner.invoke(
        group,
        ["tokenize", "--tokenizer", str(folder), "--file", str(tmp_path / "bad.txt")],
    )
    assert isinstance(outcome.exception, DataError) and "bad.txt:2" in str(outcome.exception)
    outcome = runner.invoke(group, ["tokenize", "--tokenizer", str(tmp_path / "none"), "책"])
    assert isinstance(outcome.exception, DataError) and "none" in str(outcome.exception)
    outcome = runner.invoke(group, ["inspect", "--tokenizer", str(folder)])
    assert outcome.exit_code == 2 and "CORPUS, --ner or --qa" in outcome.output
