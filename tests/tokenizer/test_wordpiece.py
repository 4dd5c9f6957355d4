"""The trainer and the pieces, on counts small enough to check by hand."""

from itertools import islice

from kobert_kit.tokenizer.pieces import PieceCounter, alphabet_entries, choose_alphabet
from kobert_kit.tokenizer.wordpiece import merges, train_wordpiece


def test_merges_by_hand() -> None:
    # ##다: 5 + 3 pairs; (##니, ##다) 5 and (##습, ##니) 5 tie, the smaller string goes first.
    pieces = {"##습니다": 5, "##었다": 3, "먹": 9}
    assert list(merges(pieces, 1)) == ["##니다", "##습니다", "##었다"]


def test_a_merge_never_crosses_a_piece() -> None:
    strings = set(merges({"학교": 50, "##에서": 50, "##는": 50}, 1))
    assert strings == {"학교", "##에서"}


def test_overlapping_repeats() -> None:
    assert list(islice(merges({"ㅋㅋㅋㅋㅋ": 2}, 1), 4)) == ["##ㅋㅋ", "##ㅋㅋㅋㅋ", "ㅋㅋㅋㅋㅋ"]


def test_frequency_bounds_the_merges() -> None:
    assert list(merges({"가나": 3, "다라": 1}, 2)) == ["가나"]


def test_no_dead_entries_and_the_exact_size() -> None:
    pieces = {"##습니다": 50, "##입니다": 1, "먹": 9, "먹이": 4}
    alphabet = alphabet_entries("습니다입먹이")
    # ##니다 is used once, by ##입니다; ##습니 never, once ##습니다 is there.
    assert train_wordpiece(pieces, alphabet, len(alphabet) + 2, 2) == [
        *alphabet,
        "##습니다",
        "먹이",
    ]
    # Not more than the text yields.
    assert train_wordpiece(pieces, alphabet, 1000, 2) == [*alphabet, "##습니다", "먹이"]


def test_ties_do_not_depend_on_the_order_of_the_counts() -> None:
    pieces = {first + second: 2 for first in "가나다라" for second in "마바사아"}
    backwards = dict(reversed(pieces.items()))
    assert list(merges(pieces, 1)) == list(merges(backwards, 1)) == sorted(pieces)


def test_the_alphabet_covers_the_text() -> None:
    counts = {"가": 98, "나": 1, "뷁": 1, "大": 1}
    alphabet = choose_alphabet(counts, coverage=0.98, most=1000)
    assert {"가", "大", "0", "Z", "a", "[", "’"} <= set(alphabet)
    assert not {"나", "뷁"} & set(alphabet)  # as rare, with greater code points
    assert alphabet == sorted(alphabet)


def test_a_small_vocabulary_gets_a_smaller_alphabet() -> None:
    counts = {"가": 9900, "나": 60, "다": 40}
    assert "다" not in choose_alphabet(counts, coverage=1.0, most=10)
    assert "다" in choose_alphabet(counts, coverage=1.0, most=1000)


def test_pieces_are_what_the_tokenizer_sees() -> None:
    counter = PieceCounter(choose_alphabet({"먹었습니다를라위원회": 1}, 1.0, 1000))
    counter.add("먹었습니다.", (1, 2, 5), 3)
    counter.add("BERT를,", (4, 5), 2)
    counter.add("“위원회”라", (1, 4, 5), 1)
    counter.add("뷁를", (1,), 1)  # an unknown character is isolated like punctuation
    assert counter.counts == {
        "먹": 3,
        "##었": 3,
        "##습니다": 3,
        "BERT": 2,
        "##를": 2,
        "위원회": 1,
        "라": 1,
        "를": 1,
    }
