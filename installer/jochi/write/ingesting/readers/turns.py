"""Lines that say who begins to speak, as transcripts and captions write them."""

from __future__ import annotations

import re
from datetime import datetime, tzinfo
from typing import NamedTuple

from jochi.write.ingesting.moments import moment

LONGEST_HEAD = 200
"""Characters of a line in which it says who speaks, and when."""
_CLOCK = r"\d{1,3}:\d\d(?::\d\d(?:[.,]\d{1,6})?)?(?:\s?[AaPp]\.?[Mm]\.?)?(?:Z|[+-]\d\d:?\d\d)?"
_MOMENT = rf"(?:\d{{1,4}}[-./]\d{{1,2}}[-./]\d{{1,4}}(?:,?[ \t]+|T))?{_CLOCK}"
_PERSON = r"(?:[^\W\d_]|[+@~][ ]?\w)[^:\[\]()<>?!;\t\n]{0,59}?(?:[ ]\([^\W\d][^()\n]{0,30}\))?"
_BRACKETED = r"\[(?P<bracketed>[^\W\d_][^\[\]:\n]{0,80})\]"
_TURN = re.compile(
    rf"[ \t]*(?:[\[(]?(?P<before>{_MOMENT})[\])]?[ \t]*[-–—]?[ \t]*)?"
    rf"(?:{_BRACKETED}|(?P<person>{_PERSON}))(?:[ \t]*[\[(](?P<after>{_MOMENT})[\])])?[ \t]*[:：](?:[ \t]+|$)"
)
_HEAD = re.compile(
    rf"[ \t]*(?:{_BRACKETED}|(?P<person>{_PERSON}))"
    rf"(?P<gap>[ \t]+(?:[-–—|·][ \t]*)?[\[(]?)(?P<after>{_MOMENT})[\])]?[ \t]*"
)
_FROM = re.compile(
    rf"[ \t]*(?P<before>{_MOMENT})[ \t]+From[ \t]+(?P<person>[^\t\n]{{1,80}}?)(?:[ \t]+to[ \t]+[^\t\n]{{1,80}}?)?"
    r"[ \t]*:(?:[ \t]+|$)"
)
"""The chat of a Zoom meeting."""
CHEVRONS = re.compile(r"[ \t]*(?:>>+|»)[ \t]*(?P<rest>.*)")
"""Somebody else begins to speak, with a name or without."""
_MOST_WORDS = 5
_DAY_AND_CLOCK = re.compile(
    r"(?:(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})|(?P<D>\d{1,2})\.(?P<M>\d{1,2})\.(?P<Y>\d{4}|\d\d))"
    r"(?:,?[ \t]+|T)(?P<hour>\d{1,2})(?P<rest>:.*)"
)


class Turn(NamedTuple):
    """The beginning of what somebody says; ``sender`` is empty if nobody knows who.

    ``sure``: the line can hardly be anything else, such as `Ann Lee  0:03`.
    """

    sender: str
    time: str | None
    text: str
    sure: bool = False


def turn(line: str) -> Turn | None:
    """The line as the beginning of a turn, or as its head with the text in the lines below; None if it goes on with one."""
    sent = _FROM.match(line[:LONGEST_HEAD])
    if sent:
        return Turn(sent["person"].strip(), sent["before"], line[sent.end() :], True)
    found = _TURN.match(line[:LONGEST_HEAD])
    sure = bool(found and found["bracketed"])
    if found is None and len(line) <= LONGEST_HEAD:
        found = _HEAD.fullmatch(line)
        # "See you at 10:30" is no head: nobody's name is written so.
        if (
            found
            and found["gap"] == " "
            and found["person"]
            and any(word[0].islower() for word in found["person"].split())
        ):
            return None
        sure = bool(found and (found["bracketed"] or found["gap"] != " "))
    if found is None:
        return None
    named = found.groupdict()
    person = named["bracketed"] or named["person"]
    if len(person.split()) > _MOST_WORDS:
        return None
    return Turn(person.strip(), named.get("before") or named["after"], line[found.end() :], sure)


def moment_of(time: str, zone: tzinfo) -> datetime | None:
    """The moment, where the line names the day so that nobody can mistake it: 2026-01-31 or 31.1.2026, not 1/31/26."""
    found = _DAY_AND_CLOCK.fullmatch(time)
    if found is None:
        return None
    year, month, day = found.group("y", "m", "d") if found["y"] else found.group("Y", "M", "D")
    year = year if len(year) == 4 else f"20{year}"
    return moment(f"{year}-{month:0>2}-{day:0>2} {found['hour']:0>2}{found['rest']}", zone)
