"""Keeps `remember` from learning again what was forgotten on request (docs/reference/forgetting.md)."""

from __future__ import annotations

from collections.abc import Sequence

from jochi.database.engine import Engine
from jochi.forgetting.checker import CheckItem, Screen, check_item
from jochi.write.record import DEFAULT_SCOPE, key_of
from jochi.write.remembering.results import Result
from jochi.write.remembering.rows import Row

CHANGED = "forgetting_changed"
"""Reason of a row that was compared with less than what is forgotten by now."""

STAMP = "forgotten_as_of"
"""Names in a row what it was compared with; absent where nobody here could."""


class RowScreen:
    """Compares rows before they are sent, and stamps them with what they were compared with."""

    def __init__(self, engine: Engine) -> None:
        self._screen = Screen(engine.database)

    def refresh(self) -> None:
        """Reads anew what was forgotten."""
        self._screen.refresh()

    def pass_on(self, rows: Sequence[tuple[int, Row]]) -> tuple[list[tuple[int, Row]], list[Result]]:
        """The rows that may be sent, and the refusals of the others."""
        screened = self._screen.split(rows, lambda numbered: _asked(numbered[1]))
        # What nobody compared has no stamp, so that a worker does.
        stamp = {STAMP: screened.version} if screened.compared else {}
        allowed = [(index, {**row, **stamp}) for index, row in screened.allowed]
        return allowed, [_refusal(index, row) for index, row in screened.forgotten]


def _asked(row: Row) -> CheckItem:
    scope = row.get("scope")
    own = row.get("properties")
    slot = {name: row.get(name) for name in ("slot_name", "slot_value")}
    content = row.get("content")
    given = row.get("relationships")
    links = given if isinstance(given, list) else []
    return check_item(
        scope if isinstance(scope, str) else DEFAULT_SCOPE,
        _key(row),
        content if isinstance(content, str) else None,
        {**(own if isinstance(own, dict) else {}), **slot},
        [link.get("properties") for link in links if isinstance(link, dict)],
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
