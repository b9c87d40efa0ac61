"""Moments that an app doesn't keep as zoned datetimes, converted in place with guards (policy, `as`)."""

from __future__ import annotations

import itertools
import re
from datetime import date, datetime, timedelta, timezone
from typing import Any

import jinja2
import pytest

from jochi import Jochi
from jochi.compile.quoting import identifier, literal
from jochi.database.statements import procedures_folder
from jochi.graph.driver_values import to_python
from jochi.policy.mapping import Conversion, Source

pytestmark = pytest.mark.server

UTC = timezone.utc
FIRST = datetime(1990, 1, 1, tzinfo=UTC)
LOCAL = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001
ZONED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DAY = datetime(2026, 1, 2, tzinfo=UTC)
MS, S = 1_767_323_045_000, 1_767_323_045
NAN, INFINITE = float("nan"), float("inf")

CASES: dict[Conversion, list[tuple[Any, datetime | None]]] = {
    "epoch_ms": [
        (MS, ZONED),
        (631_152_000_000, FIRST),
        (631_151_999_999, None),
        (S, None),
        (253_402_300_799_999, datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
        (253_402_300_800_000, None),
        (2**63 - 1, None),
        (float(MS), ZONED),
        (631_152_000_000.0, FIRST),
        (631_151_999_999.5, None),
        (float(S), None),
        (253_402_300_800_000.0, None),
        (1e300, None),
        *((value, None) for value in (NAN, INFINITE, -INFINITE, str(MS), ZONED, LOCAL, [MS], True, None)),
    ],
    "epoch_s": [
        (S, ZONED),
        (631_152_000, FIRST),
        (631_151_999, None),
        (MS, None),
        (float(S), ZONED),
        (S + 0.25, ZONED + timedelta(milliseconds=250)),
        (S + 0.123, ZONED + timedelta(milliseconds=123)),
        (631_152_000.0, FIRST),
        (631_151_999.999, None),
        (253_402_300_800.0, None),
        (float(MS), None),
        *((value, None) for value in (NAN, INFINITE, str(S), date(2026, 1, 2), [float(S)], False, None)),
    ],
    "local_utc": [
        (LOCAL, ZONED),
        (datetime(1990, 1, 1), FIRST),  # noqa: DTZ001
        (datetime(1989, 12, 31, 23, 59), None),  # noqa: DTZ001
        (date(2026, 1, 2), DAY),
        (date(1990, 1, 1), FIRST),
        (date(1989, 12, 31), None),
        *((value, None) for value in (ZONED, MS, float(S), True, LOCAL.isoformat(), [date(2026, 1, 2)], None)),
    ],
    "iso": [
        ("2026-01-02", DAY),
        ("2026-01-02T03:04:05Z", ZONED),
        ("2026-01-02 03:04:05", ZONED),
        ("2026-01-02 03:04:05,250", ZONED + timedelta(milliseconds=250)),
        ("2026-01-02T03:04:05.250000", ZONED + timedelta(milliseconds=250)),
        ("2026-01-02T04:04:05+01:00[Europe/Berlin]", ZONED),
        ("2026-01-02T04:04:05+01:00[No/Such]", ZONED),
        ("2026-01-02 11:04:05 +0800", ZONED),
        ("2026-01-01 22:04:05-05", ZONED),
        ("2026-01-02T03:04", ZONED.replace(second=0)),
        ("1990-01-01", FIRST),
        ("1989-12-31T23:59:59Z", None),
        ("0001-01-01T00:00:00", None),
        ("2028-02-29", datetime(2028, 2, 29, tzinfo=UTC)),
        ("2000-02-29", datetime(2000, 2, 29, tzinfo=UTC)),
        *((f"{year}-02-29", None) for year in (2026, 2027, 2100, 2200, 3000)),
        *(
            (f"2026-{day}T10:00:00Z", None)
            for day in ("02-30", "04-31", "06-31", "09-31", "11-31", "13-01", "00-10", "01-00")
        ),
        *((f"2026-01-02T{time}", None) for time in ("24:00", "23:60", "23:59:60", "3:04", "03", "03:04:05.", "0304")),
        *(
            (f"2026-01-02T03:04:05{zone}", None)
            for zone in ("+18:30", "+25:00", "+01:60", "Z[", "[Europe/Berlin]", "z", "CET", "+")
        ),
        *(
            (text, None)
            for text in ("", " ", "garbage", "T", "2026", "2026-01", "20260102", "2026-W01-5", "2026-002", "now")
        ),
        *(
            (text, None)
            for text in (
                " 2026-01-02",
                "2026-01-02 ",
                "2026-01-02\n",
                "２０２６-01-02",
                "2026-1-2",
                "02.01.2026",
                "01/02/2026",
            )
        ),
        *((value, None) for value in (MS, ZONED, LOCAL, date(2026, 1, 2), ["2026-01-02"], True, None)),
    ],
}


def seen(jochi: Jochi, conversion: Conversion, values: list[Any]) -> list[Any]:
    """What a rule reads where an app's property has each of the values, all in one statement."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(procedures_folder()), autoescape=False)
    environment.filters.update({"identifier": identifier, "literal": literal})
    macro = environment.from_string(
        "{% from '_macros/values/properties.j2' import prop, own_as %}"
        "{{ prop(names, 'created_at', node='m') }} AS seen, {{ own_as('v[o.name]', 'o.conversion') }} AS judged"
    )
    text = macro.render(names={"created_at": (Source(None, "opened", conversion),)})
    rows = jochi.database.run(
        "UNWIND $values AS value WITH {opened: value} AS m, {opened: value} AS v, {name: 'opened', conversion: $conversion} AS o "
        f"RETURN {text}",
        {"values": values, "conversion": conversion},
        write=False,
    )
    assert repr([row["seen"] for row in rows]) == repr([row["judged"] for row in rows]), (
        "the judge reads them the same way"
    )
    return [to_python(row["seen"]) for row in rows]


@pytest.mark.parametrize("conversion", list(CASES))
def test_what_has_the_type_it_should_have_is_converted_and_nothing_else(jochi: Jochi, conversion: Conversion) -> None:
    cases = CASES[conversion]
    found = seen(jochi, conversion, [value for value, _ in cases])
    for (value, wanted), read in zip(cases, found, strict=True):
        expected = value if wanted is None else wanted
        same = read == expected or (read != read and expected != expected)
        assert (same, type(read)) == (True, type(expected)), (value, read, wanted)


# The forms of a text that count, with d for each digit.
_FORMS = frozenset(
    f"dddd-dd-dd{time}"
    for time in [
        "",
        *(
            f"{sign}dd:dd{seconds}{zone}"
            for sign, seconds, zone in itertools.product(
                "T ",
                ("", ":dd", *(f":dd{point}{'d' * n}" for point in ".," for n in range(1, 10))),
                (
                    "",
                    *(
                        f"{blank}{zone}"
                        for blank in ("", " ")
                        for zone in ("Z", "+dd", "-dd", "+dd:dd", "-dd:dd", "+dddd", "-dddd")
                    ),
                ),
            )
        ),
    ]
)


def as_python_reads(text: str) -> datetime | None:
    """The instant of a text in one of the forms, by Python's own reading of ISO 8601; None where it is none."""
    # Python takes 90 minutes of an offset for an hour and a half.
    if re.sub("[0-9]", "d", text) not in _FORMS or re.search("[+-][0-9]{2}:?[6-9][0-9]$", text[11:]):
        return None
    try:
        found = datetime.fromisoformat(text[:11] + text[11:].replace(" ", ""))
    except ValueError:
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    offset = found.utcoffset()
    assert offset is not None
    return found if int(text[:4]) >= 1990 and abs(offset) < timedelta(hours=18) else None


def test_no_text_makes_a_statement_fail_and_what_is_read_is_what_python_reads(jochi: Jochi) -> None:
    good = (
        "2026-12-31T23:59:59.123456+05:30",
        "2028-02-29 00:00:00Z",
        "1990-01-30",
        "2026-10-09T08:07 -1130",
        "2026-06-30 19:20:21,5",
    )
    texts = list(good)
    for text, at in [(each, at) for each in good for at in range(len(each))]:
        texts += [text[:at] + other + text[at + 1 :] for other in ("0", "3", "9", "x", " ", "-", "[", "")]
        texts.append(text[:at])
    found = seen(jochi, "iso", texts)
    read = {text: value for text, value in zip(texts, found, strict=True) if isinstance(value, datetime)}
    assert {text: value for text in texts if (value := as_python_reads(text))} == read
    assert all(value == text for text, value in zip(texts, found, strict=True) if text not in read)
    assert len(read) > 100
    assert len(set(texts)) - len(read) > 500
