"""By which day something is to be done, as a sentence says it of what is to come: "by Friday", "bis Ende des Monats"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from functools import cache

from jochi.toml import beside
from jochi_workers.language import moments
from jochi_workers.language.reading import Moment

_DAY = timedelta(days=1)
_WEEKDAY = re.compile(r"^[^\W\d]+,\s*(?=\d)")
"""Of "Wednesday, 18 March" the date alone is read."""


def due_day(sentence: str, language: str, said: datetime) -> date | None:
    """The first day, from that of ``said`` on and in its time zone, that the sentence names as one to come; None where it names
    none, or only one that is over, begins or comes again and again."""
    if language not in beside(__file__, "due.toml"):
        return None
    days = [day for day in _days(sentence, language, said) if day is not None]
    return next((day for day in days if day >= said.date()), None)


def without_times(sentence: str, language: str) -> str:
    """The sentence without its expressions of time: in "by 5 May" nothing is possible."""
    for span in reversed(list(moments.find_spans(sentence, language))):
        sentence = f"{sentence[: span.start]} {sentence[span.end :]}"
    return sentence


def _days(sentence: str, language: str, said: datetime) -> Iterator[date | None]:
    """What the sentence names, the surest first: a whole date, the end of a span, words of the calendar."""
    folded, today = sentence.casefold(), said.date()
    if found := _pattern(language, "date").search(folded):
        yield _next_date(int(found["day"]), int(found["month"]), today)
    if found := _pattern(language, "day").search(folded):
        yield _next_date(int(found["day"]), None, today)
    if _pattern(language, "week").search(folded):
        yield today + (6 - today.weekday()) * _DAY
    if _pattern(language, "next_week").search(folded):
        yield today + (13 - today.weekday()) * _DAY
    if _pattern(language, "month").search(folded):
        yield today.replace(day=calendar.monthrange(today.year, today.month)[1])
    if _pattern(language, "year").search(folded):
        yield today.replace(month=12, day=31)
    # A date is surer than a weekday.
    for span in sorted(moments.find_spans(sentence, language), key=lambda one: not any(map(str.isdigit, one.text))):
        if not _pattern(language, "no_limit_before").search(folded[: span.start]):
            yield _day_of(span, language, said)
    if _pattern(language, "weekend").search(folded):
        yield today + (6 - today.weekday()) * _DAY


def _day_of(span: Moment, language: str, said: datetime) -> date | None:
    """The day of a span. `next Friday` said on a Tuesday is that of the next week."""
    zone = said.tzinfo or timezone.utc
    written = _WEEKDAY.sub("", span.text)
    later = _pattern(language, "next").match(written.casefold())
    # A date may be that of today; a weekday is the next one.
    dated = span.kind != "moving" and any(map(str.isdigit, written))
    base = said.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(seconds=1) if dated else said
    since, until = moments.parse(later["weekday"] if later else written, language, base, zone, "future")
    if since is None or until is None:
        return None
    if later and since.date().isocalendar()[:2] == said.date().isocalendar()[:2]:
        return since.date() + 7 * _DAY
    return since.date() if until - since < _DAY else (until - _DAY).date()


def _next_date(day: int, month: int | None, today: date) -> date | None:
    """The next such day from today on; None where there is none within four years."""
    for months in range(48):
        at = today.month - 1 + months
        year, of = today.year + at // 12, at % 12 + 1
        if (
            month in (None, of)
            and 1 <= day <= calendar.monthrange(year, of)[1]
            and (found := date(year, of, day)) >= today
        ):
            return found
    return None


@cache
def _pattern(language: str, name: str) -> re.Pattern[str]:
    words = beside(__file__, "due.toml")[language]
    if name == "no_limit_before":
        return re.compile(rf"\b{words['no_limit']}\s+$")
    return re.compile(words[name] if name in ("day", "date", "next") else rf"\b(?:{words[name]})\b")
