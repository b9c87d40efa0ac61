"""Notes live as long as they say, and wait for the consolidation of what they are about (seed 002, Note Retention, Nightly Note
Cleanup; docs/reference/notes.md)."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.curation_looks import DAY, HAIR, NOW, OLD, curate, due_again, look, pruned, write
from tests.oracle import Link, Memory

from jochi import Jochi
from jochi_models import Note

pytestmark = pytest.mark.server

HOUR = timedelta(hours=1)
PAGE = Path(__file__).parents[2] / "docs/reference/notes.md"


def note(id: str, *links: Link, **properties: Any) -> Memory:
    return Memory(id, ("Note",), {"created_at": OLD, **properties}, links=links)


def owner(**properties: Any) -> Link:
    return Link("HAS_NOTE", "in", ("Person",), properties)


def test_the_example_of_the_page(applied: Jochi) -> None:
    """As it stands there: the note hangs on the person and on its source, lives a month, and waits for the person only."""
    applied.remember([{"kind": "Person", "id": "anna"}, {"kind": "Source", "id": "mail-17"}])
    example = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(example, {"jochi": applied})
    (found,) = applied.database.run(
        "MATCH (:Person {id: 'anna'})-[:HAS_NOTE]->(n:Note)-[:ADDED_IN]->(:Source {id: 'mail-17'}) "
        "MATCH (n)-[r]-() RETURN n.id AS id, n.lifetime AS lifetime, n.content AS content, n.created_at AS made, count(r) AS links"
    )
    assert (found["lifetime"], found["content"], found["links"]) == ("month", "moves to Lisbon in May", 2)
    applied.database.run("MATCH (m:Source|Person) SET m.is_dirty = true")
    over = found["made"].to_native() + 30 * DAY
    for now, dirty, gone in ((over - HAIR, False, False), (over, True, False), (over, False, True)):
        applied.database.run("MATCH (p:Person) SET p.is_dirty = $dirty", {"dirty": dirty})
        due_again(applied, now)
        assert pruned(look(applied, now)) == ({found["id"]} if gone else set())


def test_a_note_of_the_models_lives_a_month() -> None:
    assert Note().lifetime == "month"


@pytest.mark.parametrize(("lifetime", "days"), [("week", 7), ("month", 30), ("year", 365)])
def test_each_lifetime_at_its_end(applied: Jochi, lifetime: str, days: int) -> None:
    over = NOW - days * DAY
    left = curate(
        applied,
        note("hair", lifetime=lifetime, created_at=over + HAIR),
        note("exact", lifetime=lifetime, created_at=over),
        note("pinned", lifetime=lifetime, created_at=over, pinned=True),
    )
    assert pruned(left) == {"exact"}
    assert left["hair"]["next_due"] <= NOW + HOUR
    assert pruned(look(applied, left["hair"]["next_due"])) == {"hair", "exact"}


def test_what_does_not_end(applied: Jochi) -> None:
    kept = [
        note("forever", lifetime="forever"),
        note("unsaid"),
        note("unknown", lifetime="decade"),
        note("odd", lifetime=7),
    ]
    assert pruned(curate(applied, *kept)) == set()


def test_what_expires_at_says_goes_before_its_lifetime(applied: Jochi) -> None:
    left = curate(
        applied,
        note("sooner", lifetime="forever", expires_at=NOW),
        note("later", lifetime="week", expires_at=NOW + HAIR),
        note("unreadable", lifetime="week", expires_at="soon"),
    )
    assert pruned(left) == {"sooner"}


@pytest.mark.parametrize(
    "properties", [{"lifetime": "week", "created_at": NOW - 7 * DAY}, {"expires_at": NOW}], ids=str
)
def test_it_waits_for_its_owner_a_week_at_most(applied: Jochi, properties: dict[str, Any]) -> None:
    left = curate(
        applied,
        note("dirty", owner(is_dirty=True), **properties),
        note("perhaps", owner(is_dirty="yes"), **properties),
        note("one of two", owner(is_dirty=False), owner(is_dirty=True), **properties),
        note("clean", owner(is_dirty=False), **properties),
        note("unmarked", owner(), **properties),
        note("alone", **properties),
        note("other way", Link("HAS_NOTE", "out", ("Person",), {"is_dirty": True}), **properties),
        note("read from", Link("ADDED_IN", "out", ("Source",), {"is_dirty": True}), **properties),
        note("pruned owner", Link("HAS_NOTE", "in", ("Person", "Tombstone"), {"is_dirty": True}), **properties),
    )
    waiting = {"dirty", "perhaps", "one of two"}
    assert pruned(left) == left.keys() - waiting
    # Looked at again within a day, not only when the week is over: the owner may have been consolidated by then.
    assert {left[id]["next_due"] <= NOW + DAY + HOUR for id in waiting} == {True}

    applied.database.run("MATCH (:Note {id: 'dirty'})<-[:HAS_NOTE]-(p) SET p.is_dirty = false")
    tomorrow = max(left[id]["next_due"] for id in waiting)
    assert pruned(look(applied, tomorrow)) == left.keys() - waiting | {"dirty"}
    due_again(applied, NOW + 7 * DAY - HAIR)
    assert pruned(look(applied, NOW + 7 * DAY - HAIR)) == left.keys() - waiting | {"dirty"}
    due_again(applied, NOW + 7 * DAY)
    assert pruned(look(applied, NOW + 7 * DAY)) == left.keys()


def test_only_notes_wait(applied: Jochi) -> None:
    entry = Memory("b", ("MemoryEntry",), {"created_at": OLD, "expires_at": NOW}, links=(owner(is_dirty=True),))
    assert pruned(curate(applied, entry)) == {"b"}


def test_it_comes_up_at_its_end_though_its_owner_was_dirty_before(applied: Jochi) -> None:
    left = curate(applied, note("n", owner(is_dirty=True), lifetime="week", created_at=NOW - 6 * DAY))
    assert pruned(left) == set()
    assert left["n"]["next_due"] <= NOW + DAY + HOUR
    applied.database.run("MATCH (:Note)<-[:HAS_NOTE]-(p) SET p.is_dirty = false")
    assert pruned(look(applied, NOW + DAY + HOUR)) == {"n"}


def test_explain_and_plan_say_so(applied: Jochi) -> None:
    write(applied, [note("n", owner(is_dirty=True), lifetime="week", created_at=NOW - 7 * DAY)])
    said = applied.explain("default/n", at=NOW)
    rule = next(rule for rule in said.rules if rule.rule == "note.week")
    assert (rule.met, rule.due) == (False, NOW + 7 * DAY)
    waiting = next(condition for condition in rule.conditions if condition["property"] == "awaits_consolidation")
    assert (waiting["met"], waiting["required"]) == (False, "no, or longer than 7d")
    assert applied.plan(NOW).prunes == 0
    assert applied.plan(NOW + 7 * DAY).prunes == 1
