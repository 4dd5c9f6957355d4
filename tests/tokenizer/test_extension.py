"""Which morphemes are chosen as new entries, on eojeols that are cut by hand."""

from __future__ import annotations

import json
from pathlib import Path

from foreign_bert import vocabulary, write_bert

from kobert_kit.tokenizer.extension import (
    Candidate,
    CountedEojeol,
    candidates,
    choose_entries,
    count_pieces,
    look_up,
)
from kobert_kit.tokenizer.subject import Subject, open_subject

TEXT = "법원은 특허권을, (주)사과나무에게 피고인이다 아버지"


def subject(folder: Path, *entries: str) -> Subject:
    return open_subject(str(write_bert(folder, vocabulary(TEXT, entries))))


def chosen(subject: Subject, eojeols: list[CountedEojeol], tokens: int = 9) -> list[str]:
    return [one.entry for one in choose_entries(subject, eojeols, tokens, min_frequency=2)]


def test_pieces_are_counted_as_they_are_looked_up(tmp_path: Path):
    """Punctuation ends a word of BERT's, so what follows it is looked up without ##."""
    native = subject(tmp_path).native
    counts = count_pieces(
        native,
        [
            CountedEojeol("특허권을,", (3, 4), 2),
            CountedEojeol("(주)사과나무에게", (1, 2, 3, 7), 3),
            CountedEojeol("##법원", (2,), 5),
            CountedEojeol("法법원", (), 7),  # BERT isolates Hanja
        ],
    )
    assert counts == {
        **{"특허권": 2, "##을": 2, ",": 2},
        **{"(": 3, "주": 3, ")": 3, "사과나무": 3, "##에게": 3},
        **{"#": 10, "법원": 12, "法": 7},
    }


def test_a_lower_casing_tokenizer_is_met_in_lower_case(tmp_path: Path):
    folder = write_bert(tmp_path, vocabulary("gpt는"))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"do_lower_case": True, "strip_accents": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    lower = open_subject(str(folder))
    assert chosen(lower, [CountedEojeol("GPT는", (3,), 2)]) == ["gpt"]


def test_look_up_is_word_piece(tmp_path: Path):
    one = subject(tmp_path, "사과", "##나무에")
    known = one.native.get_vocab()
    for text in ("사과나무에게", "사과나무", "특허권", "법", "나사과"):
        (encoding,) = one.encode([text])
        assert list(look_up(text, known)) == encoding.tokens
        (encoding,) = one.encode([f"법{text}"])
        assert list(look_up(f"##{text}", known)) == encoding.tokens[1:]
    assert look_up("사과뷁", known) == () and look_up("##뷁", known) == ()


def test_the_best_are_those_that_save_most_tokens(tmp_path: Path):
    one = subject(tmp_path, "법원")
    counts = count_pieces(
        one.native,
        [
            CountedEojeol("법원은", (2,), 99),  # both entries already
            CountedEojeol("사과나무", (), 4),  # 3 tokens saved each time
            CountedEojeol("특허권", (), 6),  # 2
            CountedEojeol("피고인", (), 6),
            CountedEojeol("뷁", (), 7),  # [UNK], as one character: 1
            CountedEojeol("뷁뷁뷁", (), 3),  # 3
            CountedEojeol("아버지", (), 1),  # too rare
        ],
    )
    ranked = sorted(candidates(one, counts, 2), key=lambda candidate: candidate.rank)
    assert ranked == [
        Candidate(12, 6, "특허권", ("특", "##허", "##권")),
        Candidate(12, 6, "피고인", ("피", "##고", "##인")),
        Candidate(12, 4, "사과나무", ("사", "##과", "##나", "##무")),
        Candidate(9, 3, "뷁뷁뷁", ("[UNK]",)),
        Candidate(7, 7, "뷁", ("[UNK]",)),
    ]
    reverse = Candidate(7, 7, "뷁", ("[UNK]",)), *reversed(ranked[:-1])
    assert sorted(reverse, key=lambda candidate: candidate.rank) == ranked


def test_an_entry_that_is_not_reached_gives_way(tmp_path: Path):
    """Longest match takes 사과나 first, and never comes to where ##나무 begins."""
    one = subject(tmp_path, "사과나")
    eojeols = [
        CountedEojeol("사과나무에게", (2, 4), 9),
        CountedEojeol("특허권", (), 2),
    ]
    assert chosen(one, eojeols, tokens=2) == ["##에게", "특허권"]
    assert chosen(subject(tmp_path / "plain"), eojeols, tokens=2) == ["##나무", "##에게"]


def test_an_entry_that_would_be_used_across_morphemes_gives_way(tmp_path: Path):
    """아버지 is a word of its own twice, but 아버 + 지 nine times."""
    one = subject(tmp_path)
    crossing = [
        CountedEojeol("아버지", (), 2),
        CountedEojeol("아버지은", (2, 3), 9),
        CountedEojeol("피고인", (), 2),
    ]
    assert chosen(one, crossing) == ["아버", "피고인"]
    mostly = [CountedEojeol("아버지", (), 99), *crossing[1:]]
    assert "아버지" in chosen(one, mostly)
