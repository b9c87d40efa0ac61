"""Dates and times as WhatsApp writes them in exports, in the form of the phone's language, and what they mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date, datetime, tzinfo
from functools import cache
from typing import NamedTuple

from jochi.toml import beside
from jochi.write.ingesting.moments import plausible

MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
"""Marks of direction, as a part of a class of characters: WhatsApp puts them around dates, names and its own words."""

_MARK = re.compile(f"[{MARKS}]+")
_DATE = r"(?P<a>\d{1,4})(?P<by>[./-] ?)(?P<b>\d{1,2})(?P=by)(?P<era>R?)(?P<c>\d{1,4})\.?"
_TIME = r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
_DATE_FIRST = re.compile(rf"{_DATE}(?P<before>\D{{1,16}}?){_TIME}(?P<after>\D{{0,16}})")
_TIME_FIRST = re.compile(rf"{_TIME}(?P<after>\D{{0,16}}?)(?P<before>,? ){_DATE}")
_DIGIT = re.compile(r"[^\x00-\x7f]")
_NOT_WORDS = re.compile(r"[\s.,،\"״'’]+")
_FIRST_YEAR, _LAST_YEAR = 2009, 2099
"""WhatsApp began in 2009."""
_BUDDHIST, _REIWA = 543, 2018
_ENOUGH_DAYS = 4

Numbers = tuple[int, int, int]


class Stamp(NamedTuple):
    """A date and a time as they stand in a line.

    ``shape`` is what those of one file have in common. ``words`` are those beside the time, such as PM, in small letters and
    without dots. ``padded``: a zero stands before a number of the date. ``small``: am or pm is in small letters.
    """

    shape: tuple[object, ...]
    numbers: Numbers
    hour: int
    minute: int
    second: int
    words: tuple[str, ...]
    padded: bool
    small: bool


def stamp_of(text: str) -> Stamp | None:
    """The date and time that ``text`` is, whatever digits and blanks it has; None if it is something else."""
    plain = " ".join(_MARK.sub("", _DIGIT.sub(_ascii, text)).split())
    found = _DATE_FIRST.fullmatch(plain) or _TIME_FIRST.fullmatch(plain)
    if found is None:
        return None
    a, b, c = found.group("a", "b", "c")
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    year = int(c) + _REIWA if found["era"] else int(c)
    beside_time = found["before"] + " " + found["after"]
    words = tuple(filter(None, (_NOT_WORDS.sub("", each) for each in _apart(beside_time))))
    shape = (found.re is _DATE_FIRST, found["by"], len(a) > 2, len(c) > 2, found["second"] is None)
    return Stamp(
        shape,
        (int(a), int(b), year),
        hour,
        minute,
        second,
        tuple(word.lower() for word in words),
        any(each.startswith("0") for each in (a, b)),
        any(word in ("am", "pm") for word in words),
    )


def _ascii(found: re.Match[str]) -> str:
    digit = unicodedata.decimal(found[0], None)
    return found[0] if digit is None else str(digit)


def _apart(text: str) -> list[str]:
    # "a. m." is one word, and so is "in the morning"; what stands before the time is another than what stands behind it.
    return text.split("  ") if "  " in text else [text]


@cache
def words(name: str) -> frozenset[str]:
    """A list of whatsapp.toml."""
    return frozenset(beside(__file__, "whatsapp.toml")[name])


def _day_first(numbers: Numbers) -> Numbers:
    return numbers[2], numbers[1], numbers[0]


def _month_first(numbers: Numbers) -> Numbers:
    return numbers[2], numbers[0], numbers[1]


def _year_first(numbers: Numbers) -> Numbers:
    return numbers


_ORDERS: tuple[Callable[[Numbers], Numbers], ...] = (_day_first, _month_first, _year_first)
"""Each gives year, month, day of the numbers of a date as they stand."""


class Dates:
    """What the dates and times of a file mean, told by all of them: `see` each, then ask `at`."""

    def __init__(self) -> None:
        self._valid = dict.fromkeys(_ORDERS, True)
        self._falls = dict.fromkeys(_ORDERS, 0)
        self._last: Numbers | None = None
        self._firsts: set[int] = set()
        self._seconds: set[int] = set()
        self._padded = self._small = self._large = self._odd_words = False
        self._seen = self._latest_hour = 0
        self._stamp: Stamp | None = None

    def see(self, stamp: Stamp) -> None:
        """Take in the date and time of one more message, in their order."""
        self._stamp = stamp
        self._seen += 1
        self._padded = self._padded or stamp.padded
        self._small = self._small or stamp.small
        self._large = self._large or (not stamp.small and any(word in ("am", "pm") for word in stamp.words))
        self._latest_hour = max(self._latest_hour, stamp.hour)
        self._odd_words = self._odd_words or any(_half(word) is None for word in stamp.words)
        if stamp.numbers == self._last:
            return
        if len(self._firsts) < _ENOUGH_DAYS:
            self._firsts.add(stamp.numbers[0])
        if len(self._seconds) < _ENOUGH_DAYS:
            self._seconds.add(stamp.numbers[1])
        for order in _ORDERS:
            now = _day(order(stamp.numbers))
            self._valid[order] = self._valid[order] and now is not None
            # The first message may be a notice of a later day.
            before = _day(order(self._last)) if self._last and self._seen > 2 else None
            self._falls[order] += now is not None and before is not None and now < before
        self._last = stamp.numbers

    def order(self) -> Callable[[Numbers], Numbers] | None:
        """The one order that the dates can have; None where more than one can be, or none."""
        if self._stamp is None:
            return None
        if self._stamp.shape[2]:
            return _year_first if self._valid[_year_first] else None
        able = [order for order in _ORDERS if self._valid[order]]
        if not self._stamp.shape[3] and self._valid[_year_first] and len(able) > 1:
            # A year of two digits stands first in one language, Korean, with full stops and blanks.
            able = [_year_first] if self._stamp.shape[1] == ". " else [each for each in able if each is not _year_first]
        if self._stamp.shape[3]:
            able = [each for each in able if each is not _year_first]
        fewest = min((self._falls[each] for each in able), default=0)
        able = [each for each in able if self._falls[each] == fewest]
        if len(able) < 2:
            return able[0] if able else None
        usual, varying = self._usual(), self._varying()
        return usual or varying if usual is None or varying is None or usual is varying else None

    def _usual(self) -> Callable[[Numbers], Numbers] | None:
        """The order in which phones write dates of this form."""
        assert self._stamp is not None
        if self._padded or self._small or self._stamp.shape[3] or str(self._stamp.shape[1]).startswith("."):
            return _day_first
        return _month_first if self._large else None

    def _varying(self) -> Callable[[Numbers], Numbers] | None:
        """Where one number of the dates is always the same and the other takes many values, the other is the day."""
        if len(self._firsts) == 1 and len(self._seconds) >= _ENOUGH_DAYS:
            return _month_first
        return _day_first if len(self._seconds) == 1 and len(self._firsts) >= _ENOUGH_DAYS else None

    def why_none(self) -> str | None:
        """A sentence where the messages have no time; None where they have."""
        if self._stamp is None:
            return None
        if self.order() is None:
            return "Which number of the dates is the day can't be told, so the messages of this file have no time."
        if self._odd_words and self._latest_hour < 13:
            return "Which half of the day the times are in can't be told, so the messages of this file have no time."
        return None

    def reader(self, zone: tzinfo) -> Callable[[Stamp], datetime | None]:
        """What gives the moment of a date and time in ``zone``, or None where there is none or it can't be told."""
        order = self.order()
        if order is None or self.why_none():
            return lambda _: None

        def moment_of(stamp: Stamp) -> datetime | None:
            day = _day(order(stamp.numbers))
            if day is None:
                return None
            halves = {_half(word) for word in stamp.words}
            hour = stamp.hour
            if "afternoon" in halves and hour < 12:
                hour += 12
            elif "morning" in halves and hour == 12:
                hour = 0
            return plausible(datetime(day.year, day.month, day.day, hour, stamp.minute, stamp.second), zone)  # noqa: DTZ001

        return moment_of


def _half(word: str) -> str | None:
    """Which half of the day a word names, or that it names none; None if it isn't known."""
    return next((name for name in ("morning", "afternoon", "fillers") if word in words(name)), None)


def _day(numbers: Numbers) -> date | None:
    year, month, day = numbers
    if year < 100:
        year += 2000
    elif year > 2400:
        year -= _BUDDHIST
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None
