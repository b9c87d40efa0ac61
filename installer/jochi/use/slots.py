"""Puts facts into slots through `memory/supersede`, and tells what held through `memory/history` (docs/reference/facts.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import UsageError
from jochi.graph.driver_values import fixed_offset, to_python, zoned
from jochi.text.slot_names import slot_name, slot_name_of

CHUNK = 500
"""Facts in one transaction."""

NO_SLOTS = "no_slots"
"""Why a memory of a kind without slots is refused."""

WAITS = "waits"
"""What has to be looked at again from another transaction."""

_NOT_COMPARABLE = "value can't be compared: bytes, or a number that is not finite"
_PAGE = 1_000


@dataclass(frozen=True)
class SlotResult:
    """What became of a fact.

    ``outcome`` is current, confirms (the one that stands for its stretch says the same), superseded, future, waits (the job
    `settle_slots` goes on with it) or refused: it is in no slot, and ``reason`` and ``detail`` say why.
    """

    key: str
    outcome: str
    reason: str | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Validity:
    """A value and when it held: from ``valid_from`` on and before ``valid_to`` (None: open).

    ``keys``: the fact that stands for it first, then those that confirm it.
    """

    value: Any
    valid_from: datetime
    valid_to: datetime | None
    keys: tuple[str, ...]

    def holds(self, at: datetime) -> bool:
        """Whether it is what held at that instant."""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)


def supersede(engine: Engine, keys: Iterable[str], *, now: datetime) -> list[SlotResult]:
    """Puts existing memories into their slots; see `jochi.Jochi.supersede`."""
    if isinstance(keys, str | bytes):
        raise UsageError("keys is one text, not a list of keys", fix="give a list, such as ['default/m1']")
    wanted = list(dict.fromkeys(keys))
    results: list[SlotResult] = []
    for chunk in (wanted[at : at + CHUNK] for at in range(0, len(wanted), CHUNK)):
        texts = {
            row["key"]: row for row in engine.database.run(statement("memory/slot_texts"), {"keys": chunk}, write=False)
        }
        done = settle(engine, [_row(key, texts.get(key)) for key in chunk], now=now)
        # To the database bytes are a list of numbers; nobody else will name what can't be named here.
        results += [
            replace(each, reason="wrong_type", detail=_NOT_COMPARABLE) if each.reason == "no_name" else each
            for each in done
        ]
    return results


def _row(key: str, texts: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the procedure is asked; without a name where there is none: it says what is wrong."""
    slot = slot_name_of(texts) if texts is not None else None
    if texts is None or slot is None:
        return {"key": key}
    was = [texts["subject"], texts["attribute"], texts["value"]]
    return {"key": key, "slot_name": slot.name, "slot_value": slot.value, "was": was}


def settle(
    engine: Engine, facts: Sequence[Mapping[str, Any]], *, now: datetime, again: bool = False
) -> list[SlotResult]:
    """Calls `memory/supersede` with rows as it takes them, in transactions of 500; once more for those that must wait."""
    results: list[SlotResult] = []
    for at in range(0, len(facts), CHUNK):
        row = engine.call("memory/supersede", {"now": fixed_offset(now), "facts": list(facts[at : at + CHUNK])})
        if row["problem"] is not None:
            raise UsageError(row["problem"], where="supersede", fix="see docs/reference/facts.md")
        results += [SlotResult(**each) for each in row["results"]]
    waiting = {each.key for each in results if each.outcome == WAITS}
    if waiting and not again:
        now_placed = {each.key: each for each in settle(engine, [{"key": key} for key in waiting], now=now, again=True)}
        results = [now_placed.get(each.key, each) for each in results]
    return results


def history(engine: Engine, scope: str, subject: str, attribute: str, *, at: datetime | None = None) -> list[Validity]:
    """The stretches of a slot, oldest first; see `jochi.Jochi.history_of`."""
    name = slot_name(subject, attribute)
    if name is None:
        raise UsageError("subject and attribute are texts that aren't blank", where="history")
    if at is not None:
        zoned(at, "at", where="history_of")
    stretches = list(_validities(engine, scope, name, at))
    found = stretches if at is None else [stretch for stretch in stretches if stretch.holds(at)]
    return sorted(found, key=lambda stretch: (stretch.valid_from, stretch.keys))


def _validities(engine: Engine, scope: str, name: str, at: datetime | None) -> Iterator[Validity]:
    """Runs of facts that say the same. ``at`` leaves the stretches out that are known not to hold then."""
    run: list[Mapping[str, Any]] = []
    ends: datetime | None = None
    base = f"{scope}/{name}"
    for fact, ends in _facts(engine, scope, name, at):
        if run and (fact["line"], fact["slot_value"]) != (run[0]["line"], run[0]["slot_value"]):
            same_line = fact["line"] == run[0]["line"]
            yield _validity(run, fact["begins"] if same_line else ends if run[0]["line"] == base else None)
            run = []
        run.append(fact)
    if run:
        yield _validity(run, ends if run[0]["line"] == base else None)


def _facts(
    engine: Engine, scope: str, name: str, at: datetime | None
) -> Iterator[tuple[Mapping[str, Any], datetime | None]]:
    """The facts in order, each with the moment at which the stretch ends that ``at`` lies in."""
    after: dict[str, Any] | None = None
    parameters = {"scope": scope, "slot_name": name, "at": None if at is None else fixed_offset(at), "limit": _PAGE}
    while True:
        row = to_python(engine.call("memory/history", {**parameters, "after": after}, write=False))
        for fact in row["facts"]:
            yield fact, row["ends"]
        if len(row["facts"]) < _PAGE:
            return
        last = row["facts"][-1]
        after = {"line": last["line"], "place": last["place"]}


def _validity(run: Sequence[Mapping[str, Any]], ends: datetime | None) -> Validity:
    return Validity(run[0]["value"], run[0]["begins"], ends, tuple(fact["key"] for fact in run))
