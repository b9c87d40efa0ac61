"""Expressions of time, and which time they mean (dateparser). Nothing but a span that can be a time is handed over.

A span is a run of words that the language's calendar knows, numbers, and what stands between them. What isn't sure stays
open: a weekday or a day of the month alone, `03/04/2025` outside languages that write the day first.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any, ClassVar, Literal

from jochi_workers.language.extra import packages
from jochi_workers.language.reading import Moment

MOST = 200
"""Spans of one text that are resolved; further ones are found, but stay open."""
_MOST_TOKENS, _MOST_CHARACTERS = 10, 60
_MOST_KEPT = 4_096
_LOCALES = {"no": "nb"}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"),
    "december",
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = ("year", "month", "week", "day", "hour", "minute", "second", "decade", "fortnight")
_PARTS = ("morning", "afternoon", "evening", "night")
_TOKEN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\w-])"
    r"|(?<![\w./-])\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})(?![\w/-]|\.\d)|\d{1,2}:\d{2}(?!\d)|[^\W\d_]+|\d+|[^\w\s]"
)
_FULL = re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})")
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-]\d{2,4}")
_CLOCK = re.compile(r"\d{1,2}:\d{2}")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20|21)\d\d(?!\d)")
_ENGLISH_NUMBERS = (
    *("a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("twenty", "thirty"),
)
_ENGLISH = {"tonight": "relative", "weekend": "unit", "noon": "part", "midnight": "part"}
_FROM_ELSEWHERE = frozenset({"before", "after"})  # `two days before`: not seen from now
_AMBIGUOUS = frozenset(
    {"may", "march", "mar", "sun", "sat", "mon", "wed", "fri", "we", "so", "do", "die", "mit", "sec"}
)
_BETWEEN = frozenset(
    [
        *("of", "the", "at", "on", "in", ",", ".", "-", "about", "st", "nd", "rd", "th"),
        *("um", "uhr", "de", "del", "à", "den", "dem", "le", "la", "el"),
    ]
)


_Token = tuple[str, str, int, int]
"""Kind, as written, start, end."""


@cache
def _calendar(language: str) -> dict[str, str]:
    """A language's words in folded case, each with its kind; none of a language that has no calendar."""
    [loader] = packages("dateparser.languages.loader")
    try:
        info: dict[str, Any] = loader.LocaleDataLoader().get_locale(_LOCALES.get(language, language)).info
    except ValueError:
        return {}
    kinds: dict[str, str] = {}
    groups = (("unit", _UNITS), ("part", _PARTS), ("weekday", _WEEKDAYS), ("month", _MONTHS), ("ago", ("ago",)))
    for kind, names in groups:
        for name in names:
            for written in info.get(name, ()):
                words = written.casefold().strip(".").split()
                if len(words) == 1 and len(words[0]) > (2 if kind in ("month", "weekday") else 1):
                    kinds[words[0]] = kind
    for meaning, phrases in info.get("relative-type", {}).items():
        for phrase in phrases:
            words = phrase.casefold().split()
            if len(words) == 1 and "second" not in meaning:
                kinds[words[0]] = "relative"
            elif words and words[0] not in kinds and len(words[0]) > 2 and len(words) == 2:
                kinds[words[0]] = "which"
    if language == "en":
        kinds |= (
            _ENGLISH | dict.fromkeys(_ENGLISH_NUMBERS, "number") | {"next": "which", "last": "which", "this": "which"}
        )
    for written in info.get("in", ()):
        kinds.setdefault(written.casefold(), "in")
    for simplified in info.get("simplifications", ()):
        for written, stands_for in simplified.items():
            if written.isalpha() and str(stands_for).isdigit():
                kinds.setdefault(written.casefold(), "number")
    return {word: kind for word, kind in kinds.items() if word not in _FROM_ELSEWHERE}


def find_spans(text: str, language: str) -> Iterator[Moment]:
    """The spans of ``text`` that can be a time, in time that grows with its length."""
    calendar = _calendar(language)
    run: list[_Token] = []
    for token in _TOKEN.finditer(text):
        word = token[0]
        kind = _kind(word, calendar)
        far = run and (token.start() - run[-1][3] > 2 or len(run) >= _MOST_TOKENS)
        if run and (far or not kind or token.end() - run[0][2] > _MOST_CHARACTERS):
            yield from _closed(text, run)
            run = []
        if kind and (run or kind != "between"):
            run.append((kind, word, token.start(), token.end()))
    if run:
        yield from _closed(text, run)


def _kind(word: str, calendar: dict[str, str]) -> str:
    if word[0].isdigit():
        if _FULL.fullmatch(word):
            return "full"
        if _CLOCK.fullmatch(word):
            return "clock"
        return "year" if _YEAR.fullmatch(word) else ("number" if len(word) <= 5 else "")
    folded = word.casefold()
    kind = calendar.get(folded, "")
    if kind in ("month", "weekday") and folded in _AMBIGUOUS and not word[0].isupper():
        return ""
    return kind or ("between" if folded in _BETWEEN else "")


def _closed(text: str, run: list[_Token]) -> Iterator[Moment]:
    """The run without what only stands between; nothing where no word in it makes it a time."""
    led = run[0][0] == "in" or len(run) > 1
    while run and run[-1][0] in ("between", "in", "number", "which") and not (run[-1][0] == "number" and _dated(run)):
        if run[-1][0] == "number" and len(run) > 1 and run[-2][0] in ("month", "clock"):
            break
        run.pop()
    while run and (run[0][0] == "between" or (run[0][0] == "in" and not _counted(run))):
        run.pop(0)
    kinds = [each[0] for each in run]
    if not run:
        return
    start, end = run[0][2], run[-1][3]
    if kind := _sure(run, kinds, led=led):
        yield Moment(text[start:end], start, end, kind)


def _sure(run: list[_Token], kinds: list[str], *, led: bool) -> Literal["fixed", "moving", "open", ""]:
    """Whether the run is a time, and one alone. ``led``: more than one word stood there, so that `in 2019` is no room 2019."""
    named = "month" in kinds or "weekday" in kinds
    if "full" in kinds:
        slashed = _SLASHED.fullmatch(run[kinds.index("full")][1])
        return "fixed" if not slashed or max(int(slashed[1]), int(slashed[2])) > 12 else "open"
    if "month" in kinds and "year" in kinds:
        return "fixed"
    near = "which" in kinds and (named or "unit" in kinds or "part" in kinds)
    far = "unit" in kinds and "number" in kinds and ("ago" in kinds or kinds[0] == "in")
    if "relative" in kinds or near or far:
        return "moving"
    if kinds == ["year"]:
        return "fixed" if led else "open"
    is_ambiguous_word = len(run) == 1 and run[0][1].casefold() in _AMBIGUOUS
    return "open" if "clock" in kinds or (named and not is_ambiguous_word) else ""


def _dated(run: list[_Token]) -> bool:
    return any(each[0] in ("month", "clock") for each in run)


def _counted(run: list[_Token]) -> bool:
    """`in` and a number of units: a distance, not a place."""
    kinds = [each[0] for each in run]
    return "number" in kinds and "unit" in kinds and "month" not in kinds


def resolve(moment: Moment, language: str, now: datetime | None) -> Moment:
    """With the time that is meant, in the zone of ``now`` (UTC without one); years beyond 9999 stay without."""
    if moment.kind == "open" or (moment.kind == "moving" and now is None):
        return moment
    since, until = _Times.of(moment.text, language, now if moment.kind == "moving" else None, now)
    return moment._replace(since=since, until=until)


Interval = tuple[datetime | None, datetime | None]


_ANY = datetime(2000, 1, 1, tzinfo=timezone.utc)  # what is fixed means the same from everywhere


class _Times:
    """What dateparser said, kept for the same words at the same time."""

    kept: ClassVar[OrderedDict[tuple[str, str, datetime | None, Any], Interval]] = OrderedDict()

    @classmethod
    def of(cls, written: str, language: str, base: datetime | None, now: datetime | None) -> Interval:
        zone = (now.tzinfo if now is not None else None) or timezone.utc
        key = (written, language, base, str(zone))
        if key not in cls.kept:
            cls.kept[key] = parse(written, language, base or _ANY, zone)
            while len(cls.kept) > _MOST_KEPT:
                cls.kept.popitem(last=False)
        return cls.kept[key]


def forget() -> None:
    """Empties what is kept of times."""
    _Times.kept.clear()
    _parser.cache_clear()


@cache
def _parser(language: str, base: datetime, prefer: str) -> Any:
    [date] = packages("dateparser.date")
    settings = {
        "RELATIVE_BASE": base,
        "RETURN_TIME_AS_PERIOD": True,
        "PREFER_DAY_OF_MONTH": "first",
        "PREFER_MONTH_OF_YEAR": "first",
        "PREFER_DATES_FROM": prefer,
    }
    return date.DateDataParser(languages=[_LOCALES.get(language, language)], settings=settings)


def parse(
    written: str,
    language: str,
    base: datetime,
    zone: Any,
    prefer: Literal["current_period", "future"] = "current_period",
) -> Interval:
    """First and end of the time that ``written`` means, seen from ``base``; None twice where dateparser knows none. ``prefer``:
    which of several days of a name is meant."""
    if _parser.cache_info().currsize > 64:
        _parser.cache_clear()
    try:
        data = _parser(language, base.replace(tzinfo=None, microsecond=0), prefer).get_date_data(written)
        if data.date_obj is None:
            return None, None
        since = data.date_obj if data.date_obj.tzinfo else data.date_obj.replace(tzinfo=zone)
        return _interval(since, data.period)
    except (ValueError, OverflowError, TypeError):
        return None, None


_LENGTHS = {"day": timedelta(days=1), "week": timedelta(days=7), "part_of_day": timedelta(hours=6)}


def _interval(at: datetime, period: str) -> Interval:
    if period == "time":
        return at, at
    if period != "part_of_day":
        at = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if period in ("month", "year", "quarter"):
        months = {"month": 1, "quarter": 3, "year": 12}[period]
        at = at.replace(day=1, month=1 if period == "year" else at.month)
        month = at.month - 1 + months
        return at, at.replace(year=at.year + month // 12, month=month % 12 + 1)
    if period == "week":
        at -= timedelta(days=at.weekday())
    if period not in _LENGTHS:
        return None, None
    return at, at + _LENGTHS[period]
