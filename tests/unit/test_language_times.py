"""Expressions of time: which spans they are, which time they mean, and what stays open."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from jochi_workers.language import forget_readings, moments, read

NOW = datetime(2026, 11, 25, 14, 30, tzinfo=timezone(timedelta(hours=2)))

MEANT = [
    ("I saw him yesterday.", "yesterday", "2026-11-24", "2026-11-25"),
    ("We leave tomorrow morning.", "tomorrow morning", "2026-11-26T09", "2026-11-26T15"),
    ("She came last Friday.", "last Friday", "2026-11-20", "2026-11-21"),
    ("It ended two weeks ago.", "two weeks ago", "2026-11-09", "2026-11-16"),
    ("We moved 3 days ago.", "3 days ago", "2026-11-22", "2026-11-23"),
    ("They will arrive in two hours.", "in two hours", "2026-11-25T16:30", "2026-11-25T16:30"),
    ("It was on 3 March 2024 that we met.", "3 March 2024", "2024-03-03", "2024-03-04"),
    ("It was on March 3rd, 2024.", "March 3rd, 2024", "2024-03-03", "2024-03-04"),
    ("The log of 2024-02-29 is gone.", "2024-02-29", "2024-02-29", "2024-03-01"),
    ("It starts in May 2024.", "May 2024", "2024-05-01", "2024-06-01"),
    ("The house was built in 1920.", "1920", "1920-01-01", "1921-01-01"),
    ("It ends in 30 decades.", "in 30 decades", "2326-01-01", "2327-01-01"),
    ("We met last year.", "last year", "2025-01-01", "2026-01-01"),
    ("Das war gestern, und es ist nicht gut.", "gestern", "2026-11-24", "2026-11-25"),
    ("Wir haben das vor drei Tagen verkauft und sind froh.", "vor drei Tagen", "2026-11-22", "2026-11-23"),
    ("Das ist am 3. März 2024 und nicht danach.", "3. März 2024", "2024-03-03", "2024-03-04"),
    ("Ayer la casa era muy vieja y no la quiere.", "Ayer", "2026-11-24", "2026-11-25"),
]
OPEN = [
    ("We meet on Friday.", "Friday"),
    ("Her birthday is May 7.", "May 7"),
    ("The date is 03/04/2025.", "03/04/2025"),
    ("The lab closed on 30 February 2024.", "30 February 2024"),
    ("The bridge opens in 9000 years.", "in 9000 years"),
]
NONE = [
    "She may march in the sun, and we sat there.",
    "The room has two days of food.",
    "He was ill two days before the race.",
    "It costs 2019 dollars more than the last one.",
    "This one is the next.",
]


def _at(text: str) -> datetime:
    full = text + "2000-01-01T00:00"[len(text) :]
    return datetime.fromisoformat(full).replace(tzinfo=NOW.tzinfo)


@pytest.mark.parametrize(("text", "span", "since", "until"), MEANT)
def test_the_time_that_is_meant(text: str, span: str, since: str, until: str) -> None:
    [found] = read(text, now=NOW).moments
    assert (found.text, found.since, found.until) == (span, _at(since), _at(until))


@pytest.mark.parametrize(("text", "span"), OPEN)
def test_what_may_mean_several_times_or_none_stays_open(text: str, span: str) -> None:
    [found] = read(text, now=NOW).moments
    assert (found.text, found.since, found.until) == (span, None, None)


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_time(text: str) -> None:
    assert [one for one in read(text, now=NOW).moments if one.kind != "open"] == []


def test_without_a_now_only_what_is_fixed_has_a_time() -> None:
    moving, fixed = read("Yesterday I lost it, not on 3 March 2024.").moments
    assert (moving.kind, moving.since) == ("moving", None)
    assert (fixed.kind, fixed.since) == ("fixed", datetime(2024, 3, 3, tzinfo=timezone.utc))


def test_a_kept_reading_is_seen_from_each_now_anew() -> None:
    days = [read("It rained yesterday.", now=NOW + timedelta(days=n)).moments[0].since for n in (0, 5)]
    assert days[0] is not None
    assert days[1] == days[0] + timedelta(days=5)
    assert moments._Times.kept
    forget_readings()
    assert not moments._Times.kept


@pytest.mark.parametrize("text", ["31 December 9999", "3 May 12345", "in 99999999999 days"])
def test_times_beyond_the_calendar_have_none(text: str) -> None:
    assert moments.parse(text, "en", NOW, timezone.utc) == (None, None)


@pytest.mark.exhaustive
def test_only_short_spans_reach_dateparser_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    parse = moments.parse

    def counted(written: str, *rest: object) -> moments.Interval:
        given.append(written)
        return parse(written, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(moments, "parse", counted)
    forget_readings()
    text = " ".join(f"On {n % 28 + 1} March {1500 + n} it rained." for n in range(500)) + " 12 34 56" * 3_000
    reading = read(text, now=NOW)
    assert len(reading.moments) >= 500
    assert len(given) == moments.MOST
    assert max(map(len, given)) <= moments._MOST_CHARACTERS
    assert reading.moments[-1].since is None
