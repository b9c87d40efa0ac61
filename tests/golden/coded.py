"""Every value that a property can have, as JSON: what JSON can't say is a map with one entry, its type."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timezone
from typing import Any

from neo4j.spatial import WGS84Point
from neo4j.time import Duration

from jochi.graph.driver_values import to_python


def coded(value: Any) -> Any:
    """As JSON. An instant is told in UTC, so that two ways to write one are the same."""
    value = to_python(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, datetime) and value.tzinfo is not None:
        return {"at": value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")}
    if isinstance(value, datetime):
        return {"local": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, time):
        return {"time": value.isoformat()}
    if isinstance(value, Duration):
        return {"span": [value.months, value.days, value.seconds, value.nanoseconds]}
    if isinstance(value, WGS84Point):
        return {"point": list(value)}
    if isinstance(value, bytes | bytearray):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        return {name: coded(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [coded(item) for item in value]
    return value


_TYPES: dict[str, Any] = {
    "float": float,
    "at": lambda text: datetime.fromisoformat(text.replace("Z", "+00:00")),
    "local": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "span": lambda parts: Duration(months=parts[0], days=parts[1], seconds=parts[2], nanoseconds=parts[3]),
    "point": WGS84Point,
    "bytes": bytes.fromhex,
}


def decoded(value: Any) -> Any:
    """Back from `coded`; of a map that isn't a value its entries."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if isinstance(value, dict):
        (name, item), *more = [*value.items()] or [("", None)]
        if not more and name in _TYPES:
            return _TYPES[name](item)
        return {name: decoded(item) for name, item in value.items()}
    return value
