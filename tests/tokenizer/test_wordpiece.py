"""The trainer and the pieces, on counts small enough to check by hand."""

import random
from collections import Counter
from itertools import islice

from kobert_kit.tokenizer.merges import merges
from kobert_kit.tokenizer.pieces import Alphabet, PieceCounter, choose_alphabet
from kobert_kit.tokenizer.wordpiece import MAX_CROSSING, Uses, train_wordpiece


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
    alphabet = Alphabet("습니다입먹이").entries()
    # ##니다 is used once, by ##입니다; ##습니 never, once ##습니다 is there.
    assert train_wordpiece(pieces, {}, alphabet, len(alphabet) + 2, 2) == [
        *alphabet,
        "##습니다",
        "먹이",
    ]
    # Not more than the text yields.
    assert train_wordpiece(pieces, {}, alphabet, 1000, 2) == [*alphabet, "##습니다", "먹이"]


def test_ties_do_not_depend_on_the_order_of_the_counts() -> None:
    pieces = {first + second: 2 for first in "가나다라" for second in "마바사아"}
    backwards = dict(reversed(pieces.items()))
    assert list(merges(pieces, 1)) == list(merges(backwards, 1)) == sorted(pieces)


def test_the_alphabet_covers_the_text() -> None:
    counts = {"가": 98, "나": 1, "뷁": 1, "大": 1}
    alphabet = choose_alphabet(counts, coverage=0.98, most=1000)
    assert {"가", "大", "0", "Z", "a", "[", "’"} <= set(alphabet.joined)
    assert not {"나", "뷁"} & {*alphabet.joined, *alphabet.alone}  # as rare, greater code points
    assert alphabet.joined == sorted(alphabet.joined) and not alphabet.alone


def test_rare_characters_stand_alone() -> None:
    alphabet = choose_alphabet({"가": 99_900, "나": 60, "大": 30, "뷁": 10}, 0.9999, 1000)
    assert "가" in alphabet.joined and alphabet.alone == ["大", "나"] and len(alphabet) > 150
    entries = alphabet.entries()
    assert {"##가", "나"} <= set(entries) and "##나" not in entries
    assert len(entries) == len(set(entries)) == 2 * len(alphabet.joined) - 1 + 2  # no ###


def test_a_small_vocabulary_gets_a_smaller_alphabet() -> None:
    counts = {"가": 9900, "나": 60, "다": 40}
    assert "다" not in choose_alphabet(counts, coverage=1.0, most=10).entries()
    assert "다" in choose_alphabet(counts, coverage=1.0, most=1000).entries()


def test_what_crosses_morphemes_gives_way() -> None:
    # 아 | 이다 is one word, 아이 | 다 another. With 아이 as an entry, the first loses its 이다.
    pieces = {"아": 9, "##이다": 9, "아이": 3, "##다": 3}
    alphabet = Alphabet("아이다").entries()
    harmful = {("아이다", (1,)): 9, ("아이다", (2,)): 2}
    assert train_wordpiece(pieces, harmful, alphabet, 1000, 2) == [*alphabet, "##이다"]
    # Where it is mostly right, it stays.
    harmless = {("아이다", (1,)): 1, ("아이다", (2,)): 9}
    assert train_wordpiece(pieces, harmless, alphabet, 1000, 2) == [*alphabet, "##이다", "아이"]


def test_no_entry_crosses_more_than_allowed() -> None:
    """On random words of random morphemes, counted anew by the slowest of ways."""
    generator = random.Random(0)
    morphemes = [
        "".join(generator.choices("가나다라", k=generator.randint(1, 3))) for _ in range(40)
    ]
    counter = PieceCounter("가나다라", words := {})
    for _ in range(400):
        first, second = generator.choices(morphemes, k=2)
        words.setdefault(first + second, (len(first),))
    for number, (word, cuts) in enumerate(words.items()):
        counter.add(word, cuts, 1 + number % 7)
    alphabet = Alphabet("가나다라").entries()
    entries = set(train_wordpiece(counter.counts, counter.runs, alphabet, 60, 1))
    assert len(entries) > len(alphabet) + 10
    texts = [(word, cuts, count) for (word, cuts), count in counter.runs.items()]
    uses, across = counted_simply(texts, entries)
    assert all(across[entry] <= MAX_CROSSING * uses[entry] for entry in uses)


def counted_simply(
    texts: list[tuple[str, tuple[int, ...], int]], entries: set[str]
) -> tuple[Counter[str], Counter[str]]:
    """What longest-match-first uses, and across cuts; single characters aside."""
    uses, across = Counter(), Counter()
    for text, cuts, count in texts:
        mark = "##" if text.startswith("##") else ""
        rest, start = text.removeprefix("##"), 0
        while rest:
            length = max(n for n in range(1, len(rest) + 1) if mark + rest[:n] in entries)
            if length > 1:
                uses[mark + rest[:length]] += count
                across[mark + rest[:length]] += count * any(
                    start < cut < start + length for cut in cuts
                )
            rest, start, mark = rest[length:], start + length, "##"
    return uses, across


def test_uses_follow_a_changing_vocabulary() -> None:
    """Entries come and go; what is counted is what counting anew gives."""
    generator = random.Random(1)
    texts = []
    for number in range(300):
        form = "".join(generator.choices("가나다", k=generator.randint(1, 9)))
        cuts = tuple(cut for cut in range(1, len(form)) if generator.random() < 0.4)
        texts.append((generator.choice(["", "##"]) + form, cuts, 1 + number % 5))
    alphabet = set(Alphabet("가나다").entries())
    strings = ["".join(generator.choices("가나다", k=generator.randint(2, 5))) for _ in range(200)]
    candidates = sorted({generator.choice(["", "##"]) + string for string in strings})
    uses = Uses(texts)
    for share in (0.5, 0.6, 0.1, 0.9, 0.9, 0.0, 0.3):
        entries = alphabet | {one for one in candidates if generator.random() < share}
        uses.change(entries)
        counted, across = counted_simply(texts, entries)
        assert {entry: n for entry, n in uses.counts.items() if n} == counted
        assert {e: n for e, n in uses.across.items() if n} == {e: n for e, n in across.items() if n}
        assert uses.crossing() == {e for e in across if across[e] > MAX_CROSSING * counted[e]}


def test_pieces_are_what_the_tokenizer_sees() -> None:
    alphabet = choose_alphabet({"먹었습니다를라위원회": 1}, 1.0, 1000)
    counter = PieceCounter(alphabet.joined, {"먹었습니다.", "뷁를"})
    counter.add("먹었습니다.", (1, 2, 5), 3)
    counter.add("BERT를,", (4, 5), 2)
    counter.add("“위원회”라", (1, 4, 5), 1)
    counter.add("뷁를", (1,), 1)  # what follows an isolated character starts afresh
    counter.add("##라", (2,), 1)
    assert counter.counts == {
        **{"먹": 3, "##었": 3, "##습니다": 3, "##.": 3, "BERT": 2, "##를": 2, "##,": 2},
        **{"“": 1, "##위원회": 1, "##”": 1, "##라": 2, "를": 1, "#": 2},
    }
    assert counter.runs == {("먹었습니다.", (1, 2, 5)): 3, ("를", ()): 1}
