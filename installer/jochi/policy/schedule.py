"""Fixed slots as people write them in a policy: `daily at 03:00`, `Sunday at 02:00`, `Mon, Thu 04:30`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PATTERN = re.compile(r"(?:(?P<days>[A-Za-z][A-Za-z, ]*?)\s+)??(?:at\s+)?(?P<hour>\d{1,2}):(?P<minute>\d\d)")


@dataclass(frozen=True)
class FixedSlot:
    """A time of day on some days of the week. ``days``: 1 Monday … 7 Sunday, ascending; the zone is the policy's."""

    days: tuple[int, ...]
    hour: int
    minute: int

    def __str__(self) -> str:
        days = "daily" if len(self.days) == len(DAYS) else ", ".join(DAYS[day - 1] for day in self.days)
        return f"{days} at {self.hour:02}:{self.minute:02}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            parse_fixed_slot, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string"}


def parse_fixed_slot(value: object) -> FixedSlot:
    """A `FixedSlot` from text like `daily at 03:00` or `Sun 02:00`; ValueError says what is wrong."""
    if isinstance(value, FixedSlot):
        return value
    match = _PATTERN.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"a slot is written like 'daily at 03:00' or 'Sunday at 02:00', not {value!r}")
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 23 or minute > 59:
        raise ValueError(f"there is no {match['hour']}:{match['minute']} o'clock")
    return FixedSlot(_days(match["days"] or "daily"), hour, minute)


def _days(text: str) -> tuple[int, ...]:
    if text.strip().lower() == "daily":
        return tuple(range(1, 8))
    found = set()
    for word in text.split(","):
        name = word.strip().lower()
        day = next((i for i, full in enumerate(DAYS, 1) if name in (full.lower(), full[:3].lower())), None)
        if day is None:
            raise ValueError(f"{word.strip()!r} is no day of the week: write daily, or Monday … Sunday, or Mon … Sun")
        found.add(day)
    return tuple(sorted(found))
