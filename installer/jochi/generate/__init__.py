"""Generated memories: a month of a six-agent team, made by a seeded generator. Nothing here was ever remembered.

Every memory carries `generated: true`, and what shows them calls them generated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from jochi.generate.team import team
from jochi.write.record import MemoryRecord

__all__ = ["team", "write_jsonl"]


def write_jsonl(path: Path, records: Iterable[MemoryRecord]) -> int:
    """Writes records as JSON Lines that `jochi import` reads (UTF-8, LF). Returns how many."""
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(_line(record), ensure_ascii=False, default=_iso) + "\n")
            count += 1
    return count


def _line(record: MemoryRecord) -> dict[str, Any]:
    line: dict[str, Any] = {"kind": record.kind, "id": record.id, "scope": record.scope, **record.properties}
    if record.relationships:
        line["relationships"] = [
            {"type": link.type, "to": {"scope": link.to_scope, "id": link.to_id}}
            | ({"properties": dict(link.properties)} if link.properties else {})
            for link in record.relationships
        ]
    return line


def _iso(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} can't be written as JSON")
