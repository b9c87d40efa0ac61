"""Keeps an import from learning again what was forgotten on request (docs/reference/forgetting.md)."""

from __future__ import annotations

from collections.abc import Sequence

from jochi.database import Database
from jochi.forgetting.checking import Asked, Checker, checker, read_gate, texts_of
from jochi.importing.record import MemoryRecord
from jochi.slot_names import slot_name_of

LOOK_AGAIN = "look again"
"""Outcome of memories that were compared with less than what is forgotten by now."""


class ImportScreen:
    """Compares records before they are written; ``version``: what they were compared with."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._checker: Checker | None = None
        self.version = 0
        self.look_again()

    def look_again(self) -> None:
        """Reads anew what was forgotten. `Refused` where values were, and the key isn't here."""
        self.version = read_gate(self._database).version
        self._checker = checker(self._database) if self.version else None

    def pass_on(self, batch: Sequence[MemoryRecord]) -> tuple[list[MemoryRecord], list[MemoryRecord], int]:
        """The records that may be written, those that may not, and the version that this holds for."""
        if self._checker is None:
            return list(batch), [], self.version
        told, version = self._checker.forgotten([_asked(record) for record in batch])
        kept = [record for record, gone in zip(batch, told, strict=True) if not gone]
        return kept, [record for record, gone in zip(batch, told, strict=True) if gone], version


def _asked(record: MemoryRecord) -> Asked:
    slot = slot_name_of(record.properties)
    named = {} if slot is None else {"slot_name": slot.name, "slot_value": slot.value}
    content = record.properties.get("content")
    return Asked(
        record.scope,
        record.key,
        content if isinstance(content, str) else None,
        {**record.properties, **named},
        [*texts_of(record.properties), record.id, record.scope],
    )
