"""Rare eojeols are cut after commoner ones that share their parts."""

import pytest

from kobert_kit.tokenizer.relatives import Relatives

COMMON = [
    ("도서관에", (3,), 9),
    ("학교에서는", (2, 4), 5),
    ("학교", (), 7),
    ("먹었습니다", (1, 2), 4),
    ("가", (), 3),
]


def learnt(counted: list[tuple[str, tuple[int, ...], int]]) -> Relatives:
    relatives = Relatives()
    for eojeol, cuts, count in counted:
        relatives.add(eojeol, cuts, count)
    return relatives


@pytest.mark.parametrize("counted", [COMMON, COMMON[::-1]])
@pytest.mark.parametrize(
    ("eojeol", "cuts"),
    [
        ("도서관에서는", (3, 5)),
        ("도서관", ()),  # alone, as 학교 is
        ("가었습니다", (1, 2)),
        ("우체국에서는", None),  # an unknown beginning
        ("도서관보다", None),  # an unknown rest
        ("가" * 1000, None),
        ("", None),
    ],
)
def test_a_known_beginning_and_a_known_rest(
    counted: list[tuple[str, tuple[int, ...], int]], eojeol: str, cuts: tuple[int, ...] | None
) -> None:
    assert learnt(counted).cuts(eojeol) == cuts


def test_the_commonest_parts() -> None:
    counted = [("나는", (1,), 2), ("나는", (), 1), ("가나", (1,), 3), ("가나", (), 2)]
    # 가|나는 is unknown; 가나|는 (2 x 2) is not.
    assert learnt(counted).cuts("가나는") == (2,)
    # The rest 라다 is one morpheme more often than two.
    counted = [("가라다", (1,), 3), ("나라다", (1, 2), 2), ("마", (), 1)]
    assert learnt(counted).cuts("마라다") == (1,)


def test_ties_do_not_depend_on_the_order() -> None:
    counted = [("가나", (1,), 1), ("가나다", (1,), 1), ("가다", (1,), 1), ("나나", (), 1)]
    counted += [("다나다", (1,), 1), ("다나다", (1, 2), 1), ("다나", (), 1), ("라다", (1,), 1)]
    for order in (counted, counted[::-1]):
        relatives = learnt(order)
        # 다|나다 (2 x 3) before 다나|다 (1 x 2), and of its cuts the smaller.
        assert relatives.cuts("다나다") == (1,)
    for order in (["나는", "나는다"], ["나는다", "나는"]):
        relatives = learnt([("나", (), 1), ("나는", (), 1)])
        for eojeol in order:
            relatives.add("라" + eojeol[1:], (1,), 1)
        relatives.add("마다", (1,), 1)
        # 나|는다 and 나는|다 are as common: the shorter beginning.
        assert relatives.cuts("나는다") == (1,)
