"""What a record of an import would write, to be compared with what was forgotten on request (docs/reference/forgetting.md)."""

from __future__ import annotations

from jochi.forgetting.checker import CheckItem, check_item
from jochi.text.slot_names import slot_name_of
from jochi.write.record import MemoryRecord

LOOK_AGAIN = "look again"
"""Outcome of memories that were compared with less than what is forgotten by now."""


def record_check(record: MemoryRecord) -> CheckItem:
    """The record as `jochi.forgetting` asks about it."""
    slot = slot_name_of(record.properties)
    named = {} if slot is None else {"slot_name": slot.name, "slot_value": slot.value}
    content = record.properties.get("content")
    return check_item(
        record.scope,
        record.key,
        content if isinstance(content, str) else None,
        {**record.properties, **named},
        [link.properties for link in record.relationships],
    )
