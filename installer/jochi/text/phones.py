"""Telephone numbers in a text, by Google's rules for every country (phonenumbers). Their forms are made in `jochi.text.forms`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import phonenumbers


class Number(NamedTuple):
    """A telephone number. ``international``: +49170…; None where it is written without a country. ``national``: as it is dialled
    without one, its own digits first, then otherwise; or as it is written. No zeros ahead."""

    international: str | None
    national: tuple[str, ...]


_GAP = r"[\s()./\-‐‑‒–−]{0,3}"
_RUN = re.compile(rf"(?<![\w.@#+/-])(?:tel:)?(\(?[+＋]?\(?\d(?:{_GAP}\d)+)(?![\w@]|[.-]\w)", re.IGNORECASE)
_GROUP = re.compile(r"[+＋]?\d+")
_NONE = re.compile(
    r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|\d{1,3}(?:\.\d{1,3}){3}|\d{1,3}(?:\.\d{3})+|\d+\.\d+"
)
"""Dates, addresses of the network, numbers with points: none of them is a telephone's."""
_LEAST, _MOST = 7, 17
"""Digits."""
_LONGEST = 4 * _MOST
"""Characters, with the marks between the digits."""


def numbers(text: str) -> Iterator[tuple[int, int, Number]]:
    """What may be a telephone number in ``text``, and where it stands."""
    for run in _RUN.finditer(text):
        for start, stop in _parts(run[1]):
            if (number := _number(run[1][start:stop])) is not None:
                yield run.start(1) + start, run.start(1) + stop, number


def number_of(text: str) -> Number | None:
    """The number that ``text`` is as a whole."""
    found = _RUN.fullmatch(text)
    return None if found is None else _number(found[1])


def _parts(run: str) -> Iterator[tuple[int, int]]:
    """The parts of a run of digits that may be a number: it may stand behind another number, and one may follow it."""
    groups = [group.span() for group in _GROUP.finditer(run)]
    starts = [0]
    for (_, before), (start, stop) in pairwise(groups):
        # A zero that stands alone, or a short group, is a part of a number: +49 (0)170.
        zero = run[before:start].isspace() and run[start] == "0" and stop - start >= 3
        if zero or run[start] in "+＋":
            starts.append(start)
    ends = [*starts[1:], len(run)]
    for at, start in enumerate(starts):
        for stop in ends[at:]:
            if stop - start > _LONGEST:
                break
            yield start, start + len(run[start:stop].rstrip(" \t\n()./-"))


@lru_cache(maxsize=4096)
def _number(written: str) -> Number | None:
    digits = "".join(str(unicodedata.decimal(character)) for character in written if character.isdecimal())
    if not _LEAST <= len(digits) <= _MOST or _NONE.fullmatch(written.strip("() ")) or not digits.strip("0"):
        return None
    number = _with_country(written, digits)
    if number is None:
        return Number(None, (digits.lstrip("0"),))
    return Number(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), _national(number))


def _with_country(written: str, digits: str) -> phonenumbers.PhoneNumber | None:
    if written.lstrip("(")[:1] in ("+", "＋"):
        dialled = digits
    elif digits.startswith("00"):
        dialled = digits[2:]
    else:
        return None
    try:
        number = phonenumbers.parse(f"+{dialled}")
    except phonenumbers.NumberParseException:
        return None
    return number if phonenumbers.is_possible_number(number) else None


def _national(number: phonenumbers.PhoneNumber) -> tuple[str, ...]:
    """The digits by which it is dialled within its country, and with the country's code but no plus; without zeros ahead."""
    own = phonenumbers.national_significant_number(number)
    region = phonenumbers.region_code_for_country_code(number.country_code or 0)
    trunk = phonenumbers.ndd_prefix_for_region(region, True) or ""
    every = (own, trunk + own, f"{number.country_code}{own}")
    return tuple(dict.fromkeys(each.lstrip("0") for each in every))
