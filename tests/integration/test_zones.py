"""One instant that apps write in four zones sorts, prunes and supersedes as one: Cypher's own `=` and ORDER BY look at the zone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import jinja2
import pytest
from tests.slot_looks import fact, remember

from jochi import Jochi
from jochi.database.statements import procedures_folder
from jochi.jobs.runner import run_job
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
# Cypher puts them in this order; their names are in the opposite one.
ZONES = {"d-west": "-05:00", "c-utc": "Z", "b-berlin": "Europe/Berlin", "a-east": "+08:00"}
OFFSETS = {"d-west": -5, "c-utc": 0, "b-berlin": 2, "a-east": 8}


def in_zones(moment: datetime) -> dict[str, datetime]:
    return {name: moment.astimezone(timezone(timedelta(hours=hours))) for name, hours in OFFSETS.items()}


def write(client: Jochi, kind: str, **properties: Any) -> None:
    """A node of each zone, as an app writes it; a moment among the properties is the same instant in each."""
    client.database.run(
        f"UNWIND keys($zones) AS name CREATE (m:Curated:{kind} {{id: name, key: 'default/' + name, scope: 'default'}}) "
        "SET m.tier = 'HOT', m.next_due = $now "
        "FOREACH (p IN keys($properties) | SET m[p] = CASE WHEN $properties[p] IS :: ZONED DATETIME "
        "THEN datetime({datetime: $properties[p], timezone: $zones[name]}) ELSE $properties[p] END)",
        {"zones": ZONES, "properties": properties, "now": NOW},
    )


def test_they_expire_at_one_look(applied: Jochi) -> None:
    write(
        applied, "MemoryEntry", content="x", created_at=NOW - 90 * DAY, last_accessed_at=NOW - 80 * DAY, expires_at=NOW
    )
    for at in in_zones(NOW).values():
        for name in ZONES:
            early, due = (applied.explain(f"default/{name}", at=moment) for moment in (at - TICK, at))
            assert (early.outcome, due.outcome) == ("keep", "prune"), (name, at)
    (run, *_) = run_job(applied.engine, "curate_due", now=in_zones(NOW)["a-east"], drain=True)
    assert run.tally["pruned"] == len(ZONES), run
    assert applied.undo(run.id, now=in_zones(NOW)["d-west"]).counts == {"undone": len(ZONES)}


def test_of_one_content_the_least_key_has_it(jochi: Jochi) -> None:
    write(jochi, "MemoryEntry", content="The door is blue.", created_at=NOW - DAY, prepare_due=NOW - DAY)
    queue = Queue(jochi.engine, "prepare", clock=lambda: NOW)
    batch = queue.lease()
    queue.finish(batch, PrepareHandler().handle(batch.rows).done)
    rows = jochi.database.run("MATCH (m:MemoryEntry) RETURN m.id AS id, m.duplicate_of AS of")
    least = min(ZONES)
    assert {row["id"]: row["of"] for row in rows} == {
        name: None if name == least else f"default/{least}" for name in ZONES
    }


def test_of_one_slot_the_greatest_key_holds(jochi: Jochi) -> None:
    remember(jochi, [fact(name, name, None, valid_from=at) for name, at in in_zones(NOW - DAY).items()], now=NOW)
    (held,) = jochi.history_of("default", "Ann", "city", NOW)
    assert held.keys == (f"default/{max(ZONES)}",)
    assert {stretch.valid_from for stretch in jochi.history_of("default", "Ann", "city")} == {NOW - DAY}


def test_a_moment_that_an_app_wrote_again_in_its_zone_is_undone(applied: Jochi) -> None:
    write(applied, "Task", content="x", status="completed", created_at=NOW - 40 * DAY, completed_at=NOW - 15 * DAY)
    (run, *_) = run_job(applied.engine, "curate_due", now=NOW, drain=True)
    assert run.tally["archive"] == len(ZONES), run.tally
    applied.database.run(
        "MATCH (t:Task) SET t.archived_at = datetime({datetime: t.archived_at, timezone: 'Asia/Singapore'})"
    )
    done = applied.undo(run.id, now=NOW)
    assert (done.counts.get("undone"), done.left) == (len(ZONES), 0), done
    (row,) = applied.database.run("MATCH (t:Task) RETURN count(t.archived_at) AS n")
    assert row["n"] == 0


def test_two_values_are_one_or_not(jochi: Jochi) -> None:
    """Of `same`, by which every undo sees what changed since."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(procedures_folder()), autoescape=False)
    same = environment.from_string("{% from '_macros/values/typed.j2' import same %}{{ same('a', 'b') }}").render()
    moments = [*in_zones(NOW).values()]
    others = [NOW + TICK, NOW.replace(tzinfo=None), NOW.date(), "x", 1, 1.0, True, float("nan"), [1], [1.0], None]
    pairs = [*[(a, b, True) for a in moments for b in moments], *[(a, b, False) for a in moments for b in others]]
    pairs += [(a, b, i == j) for i, a in enumerate(others) for j, b in enumerate(others)]
    rows = jochi.database.run(
        f"UNWIND $pairs AS pair WITH pair[0] AS a, pair[1] AS b RETURN {same} AS same",
        {"pairs": [p[:2] for p in pairs]},
    )
    wrong = [(pair, row["same"]) for pair, row in zip(pairs, rows, strict=True) if row["same"] is not pair[2]]
    assert wrong == []
