"""Numbers that belong to persons, by rule: resident numbers, cards and telephones become a mask.

A number is taken by its form and by what its digits must fulfil; nothing is looked up.
"""

from __future__ import annotations

import re
from datetime import date

_DASH = "[-\u2010-\u2015\u2212\uff0d]"
_GAP = rf"(?: ?{_DASH} ?| )"
# Not within a longer number, nor as the end or start of one with several parts (1.10.1234.5678).
_FRONT = r"(?<!\d)(?<!\d[-.])"
_BACK = r"(?!\d|[-.]\d)"

_LOCAL = "3[1-3]|4[1-4]|5[1-5]|6[1-4]"  # area codes but Seoul's 2
_LAND = rf"0(?:2|{_LOCAL}|70|50[2-8])"
_MOBILE = "01[016-9]"
_YEARS = rf"(?:19|20)\d\d{_DASH}(?:19|20)\d\d"
_PHONES = (
    # +82 10 1234 5678, +82-2-123-4567, (+82)10-…, +82 (0)10-…
    rf"(?:\(\+82\)|\+82)(?:{_GAP}|\.)?(?:\(0\) ?|0)?"
    rf"\(?(?:1[016-9]|2|{_LOCAL}|70|50[2-8])\)?[.]?{_GAP}?\d{{3,4}}[.]?{_GAP}?\d{{4}}",
    rf"(?:00)?82{_DASH}10{_DASH}\d{{4}}{_DASH}\d{{4}}",
    # (02)123-4567, 02) 123-4567, 0507-1234-5678, 010-12345678
    rf"(?:\((?:{_MOBILE}|{_LAND})\) ?|(?:{_MOBILE}|{_LAND})(?:\) ?| ?{_DASH} ?))"
    rf"\d{{3,4}}(?:{_GAP}|\.)?\d{{4}}",
    # 010 1234 5678, 01012345678, 0101234-5678
    rf"(?:010{_GAP}?\d{{4}}|01[16-9]{_GAP}?\d{{3,4}}){_GAP}?\d{{4}}",
    r"(?:010\. ?\d{4}|01[16-9]\. ?\d{3,4})\. ?\d{4}",
    # 02 123 4567, but neither years nor a row of figures
    rf"(?<!\d ){_LAND} (?!{_YEARS})\d{{3,4}}(?: |{_DASH})\d{{4}}(?! \d)",
    rf"{_LAND}\.\d{{3,4}}\.\d{{4}}",
    rf"(?<![A-Za-z_]){_LAND}[1-9]\d{{6,7}}",
)
_CARDS = (
    # Four fours: Visa, Mastercard, and 9 for what is valid in Korea only. Years are no card's.
    rf"(?:[4-69]\d|2[2-7]|35)\d\d(?P<gap>{_GAP}?)\d{{4}}(?P=gap)\d{{4}}(?P=gap)\d{{4}}",
    rf"3[47]\d\d(?P<gap2>{_GAP}?)\d{{6}}(?P=gap2)\d{{5}}",  # American Express
)
_RESIDENT = rf"(?<![A-Za-z_])\d{{6}}{_GAP}?[1-8]\d{{6}}"
_NUMBER = re.compile(
    rf"{_FRONT}(?:(?P<card>(?<!\d{{4}} )(?:{'|'.join(_CARDS)})(?! \d{{4}}(?!\d)))"
    rf"|(?P<resident>{_RESIDENT})|(?P<phone>{'|'.join(_PHONES)})){_BACK}"
)
# Where any of them can be: the quick search that most texts end with.
_DIGITS = re.compile(r"[+(\d][-\d ().\u2010-\u2015\u2212\uff0d]{8,}")
_BOOK = re.compile(r"IS[BS]N(?:[- ]?1[03])?[: ]*$", re.IGNORECASE)
_LATEST = 2040  # no one's year of birth yet


def mask_numbers(text: str) -> str:
    """``text`` with [CARD], [RESIDENT] and [PHONE] for the numbers of persons."""
    return _NUMBER.sub(_mask, text) if _DIGITS.search(text) else text


def _mask(found: re.Match[str]) -> str:
    number = found.group()
    digits = [int(char) for char in number if char.isdecimal()]
    if found["card"]:
        return "[CARD]" if _is_card(digits) else number
    if _BOOK.search(found.string, max(0, found.start() - 12), found.start()):
        return number
    if found["resident"]:
        return "[RESIDENT]" if _is_resident(number, digits) else number
    return "[PHONE]"


def _is_card(digits: list[int]) -> bool:
    """By the check digit that card numbers carry (Luhn)."""
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_resident(number: str, digits: list[int]) -> bool:
    """Whether it begins with a day of birth that there can be, and is no number of another kind.

    The check digit of resident numbers ended in 2020, so it is asked for only where the same digits
    are likely something else: a company's number, by the check digit that those have; a time in
    milliseconds, a day and a count, or a Korean bar code; two figures in a row.
    """
    year, month, day = (10 * digits[i] + digits[i + 1] for i in (0, 2, 4))
    year += 1900 if digits[6] in (1, 2, 5, 6) else 2000
    try:
        date(year, month, day)
    except ValueError:
        return False
    if year >= _LATEST:
        return False
    *body, last = digits
    if last == (11 - sum(d * (2 + i % 8) for i, d in enumerate(body)) % 11) % 10:
        return True
    company = -sum(d * (1 + i % 2) for i, d in enumerate(body)) % 10 == last
    other = number[6] == " " and number[7].isdecimal()
    return not (company or other or (number.isdecimal() and number.startswith(("1", "20", "880"))))
