"""Keeps `remember` from learning again what was forgotten on request (docs/reference/forgetting.md)."""

from __future__ import annotations

from collections.abc import Sequence

from jochi.engine import Engine
from jochi.forgetting.checking import Asked, Checker, checker, read_gate, texts_of
from jochi.importing.record import DEFAULT_SCOPE, key_of
from jochi.remembering.results import Result
from jochi.remembering.rows import Row

CHANGED = "forgetting_changed"
"""Reason of a row that was compared with less than what is forgotten by now."""

_STAMP = "forgotten_as_of"


class Screen:
    """Compares rows before they are sent, and stamps them with what they were compared with."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # A database of an earlier version knows neither the field nor what it is for.
        self._stamps = _STAMP in engine.text("memory/remember")
        self._checker: Checker | None = None
        self._version: int | None = None
        if self._stamps:
            self.look_again()

    def look_again(self) -> None:
        """Reads anew what was forgotten."""
        database = self._engine.database
        self._version = read_gate(database).version
        if self._version:
            self._checker = checker(database)
            if self._checker is None:
                self._version = None  # a worker compares what is written

    def pass_on(self, rows: Sequence[tuple[int, Row]]) -> tuple[list[tuple[int, Row]], list[Result]]:
        """The rows that may be sent, and the refusals of the others."""
        if not self._stamps or self._version is None:
            return list(rows), []
        if self._checker is None:
            return [(index, {**row, _STAMP: self._version}) for index, row in rows], []
        told, version = self._checker.forgotten([_asked(row) for _, row in rows])
        allowed = [(i, {**row, _STAMP: version}) for (i, row), gone in zip(rows, told, strict=True) if not gone]
        return allowed, [_refusal(i, row) for (i, row), gone in zip(rows, told, strict=True) if gone]


def _asked(row: Row) -> Asked:
    scope = row.get("scope") if isinstance(row.get("scope"), str) else DEFAULT_SCOPE
    assert isinstance(scope, str)
    own = row.get("properties")
    properties = own if isinstance(own, dict) else {}
    content = row.get("content")
    return Asked(
        scope,
        _key(row),
        content if isinstance(content, str) else None,
        {**properties, "slot_name": row.get("slot_name"), "slot_value": row.get("slot_value")},
        [*texts_of({**properties, "content": content, "id": row.get("id")}), scope],
    )


def _key(row: Row) -> str | None:
    scope, given = row.get("scope") or DEFAULT_SCOPE, row.get("id")
    return key_of(scope, given) if isinstance(scope, str) and isinstance(given, str) else None


def _refusal(index: int, row: Row) -> Result:
    return Result(
        index,
        _key(row),
        "refused",
        "forgotten",
        "this, or part of it, was forgotten on request and is not learned again; `jochi forget --lift` allows it",
    )
