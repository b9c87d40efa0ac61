"""Slots as tests look at them: facts to remember, and whether the database has of them what the oracle says."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.oracle.memory import Memory
from tests.oracle.supersession import Stretch, current, histories, normal, supersedes

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import Run
from jochi.write.remembering import Result

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
NOW = MADE + 100 * DAY


def fact(id: str, value: Any, day: float | None = 0, scope: str = "default", **said: Any) -> Memory:
    """A fact of Ann's city, unless said otherwise; ``day`` None: without valid_from."""
    properties = {"subject": "Ann", "attribute": "city", "value": value, "created_at": MADE + 50 * DAY}
    if day is not None:
        properties["valid_from"] = MADE + day * DAY
    return Memory(id, ("Fact",), {k: v for k, v in (properties | said).items() if v is not None}, scope=scope)


def row(held: Memory) -> dict[str, Any]:
    """As `remember` takes it."""
    return {"kind": "Fact", "id": held.id, "scope": held.scope, "properties": dict(held.properties)}


def remember(client: Jochi, facts: Iterable[Memory], now: datetime = NOW) -> list[Result]:
    """Remembers facts; none may be refused."""
    done = client.remember([row(held) for held in facts], now=now)
    assert done.refusals == []
    return done.results


def settle(client: Jochi, now: datetime = NOW) -> list[Run]:
    """Runs the job until nothing is left to do."""
    runs = client.run("settle_slots", now=now, drain=True)
    assert [run.error for run in runs if run.error] == []
    assert sum(run.tally.get("waits", 0) for run in runs) == 0
    return runs


def prune(client: Jochi, keys: Iterable[str], now: datetime = NOW) -> None:
    """Has the engine prune them."""
    client.database.run(
        "UNWIND $keys AS key MATCH (m:Curated {key: key}) SET m.expires_at = $at, m.next_due = $at, m.hold_until = null",
        {"keys": list(keys), "at": MADE},
    )
    client.run("curate_due", now=now, drain=True)
    left = client.database.run(
        "MATCH (m:Curated) WHERE m.key IN $keys RETURN m.key AS key", {"keys": list(keys)}, write=False
    )
    assert left == []


def restore(client: Jochi, keys: Iterable[str], now: datetime = NOW) -> None:
    """Brings them back, as `Jochi.restore` does, at a moment of the test's; they aren't in their places yet."""
    asked = {"now": now, "keys": list(keys), "audit": None, "run": f"restore/{now.timestamp()}"}
    assert {each["outcome"] for each in client.engine.call("memory/restore", asked)["results"]} <= {"restored"}
    client.database.run("MATCH (m:Curated) WHERE m.key IN $keys REMOVE m.expires_at", {"keys": list(keys)})


def look(
    client: Jochi, facts: Iterable[Memory], now: datetime = NOW, many: Collection[str] = (), *, edges: bool = True
) -> None:
    """The database has what the oracle says of these facts, which are all that live."""
    facts = list(facts)
    expected = histories(facts, many)
    stored = {found["key"]: to_python(found["m"]) for found in client.database.run(_FACTS, write=False)}
    assert sorted(stored) == sorted(held.key for held in facts)
    links = {(found["newer"], found["older"]) for found in client.database.run(_LINKS, write=False)}
    wanted_links: set[tuple[str, str]] = set()
    in_a_slot: set[str] = set()
    for (scope, subject, attribute), stretches in expected.items():
        told = client.history_of(scope, subject, attribute)
        assert [Stretch(normal(s.value), s.valid_from, s.valid_to, s.keys) for s in told] == stretches
        for at in (now, *(s.valid_from for s in stretches[:3])):
            held = client.history_of(scope, subject, attribute, at)
            assert [s.keys[0] for s in held] == [s.keys[0] for s in current(stretches, at)], at
        holds = {s.keys[0] for s in current(stretches, now)}
        if attribute not in many:
            assert len(holds) <= 1
            wanted_links |= set(supersedes(stretches))
        for stretch in stretches:
            _look_at(stretch, stored, holds, now)
            in_a_slot |= set(stretch.keys)
    if edges:
        assert links == wanted_links
    for key in stored.keys() - in_a_slot:
        assert [name for name in stored[key] if name in _OF_A_PLACE] == [], key


def _look_at(stretch: Stretch, stored: dict[str, dict[str, Any]], holds: set[str], now: datetime) -> None:
    head, *others = (stored[key] for key in stretch.keys)
    assert head["slot_stands"] == head["slot_place"]
    assert head.get("valid_to") == stretch.valid_to
    assert ("slot_key" in head) is (stretch.keys[0] in holds)
    status = "active" if stretch.keys[0] in holds else "superseded" if stretch.valid_from <= now else None
    assert head.get("status") == status
    assert ("superseded_at" in head) is (status == "superseded")
    assert head.get("slot_due") == (stretch.valid_from if stretch.valid_from > now else None)
    for other in others:
        assert [name for name in other if name in _OF_WHAT_STANDS] == [], other["key"]


_OF_WHAT_STANDS = {"slot_stands", "slot_key", "status", "valid_to", "superseded_at"}
_OF_A_PLACE = _OF_WHAT_STANDS | {"slot_line", "slot_place"}
_FACTS = "MATCH (m:Fact:Curated) RETURN m.key AS key, properties(m) AS m"
_LINKS = (
    "MATCH (newer:Curated)-[r:SUPERSEDES]->(older:Curated) WHERE r.slot RETURN newer.key AS newer, older.key AS older"
)
