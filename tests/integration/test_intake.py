"""The job that enrols what apps wrote in plain Cypher, by counts (DESIGN §4, §8)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.query_plans import SCANS, operators

from jochi import Jochi
from jochi.errors import Refused
from jochi.install import triggers
from jochi.jobs.runner import Run, run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    """In batches of ten."""
    jochi.database.run("MATCH (j:JochiJob {name: 'intake'}) SET j.batch_size = 10")
    return jochi


def letters(client: Jochi, first: int, last: int) -> None:
    client.database.run(
        "UNWIND range($first, $last) AS i CREATE (:Letter {id: 'l' + i, text: 'dear ' + i})",
        {"first": first, "last": last},
    )


def intake(client: Jochi, at: datetime = NOW) -> Run:
    (run,) = run_job(client.engine, "intake", now=at)
    assert run.error is None
    return run


def left(client: Jochi) -> int:
    return int(client.database.run("MATCH (n:Letter) WHERE NOT n:Curated RETURN count(n) AS n")[0]["n"])


def state(client: Jochi) -> dict[str, Any]:
    return dict(client.database.run("MATCH (i:JochiIntake {label: 'Letter'}) RETURN properties(i) AS p")[0]["p"])


def test_it_walks_all_once_and_then_only_what_is_new(client: Jochi) -> None:
    letters(client, 1, 95)
    first = intake(client)
    assert (first.changed, first.batches, left(client)) == (95, 10, 0)
    assert state(client)["accounted"] == 95
    (row,) = client.database.run("MATCH (n:Letter {id: 'l3'}) RETURN properties(n) AS p")
    assert row["p"]["key"] == "default/l3"
    assert row["p"]["enrolled_run"].startswith("intake/")

    idle = intake(client, NOW + HOUR)
    assert (idle.selected, idle.changed) == (0, 0)
    letters(client, 96, 108)
    assert (found := intake(client, NOW + HOUR)).changed == 13
    # From the newest node back (a store gives the ids of deleted nodes out again): no further than to the last of the thirteen.
    rows = client.database.run("MATCH (n:Letter) RETURN toInteger(substring(n.id, 1)) AS i ORDER BY id(n) DESC")
    farthest = max(at for at, row in enumerate(rows) if row["i"] > 95)
    assert found.batches == farthest // 10 + 1
    assert intake(client, NOW + HOUR).selected == 0


def test_what_others_delete_relabel_prune_and_enrol_keeps_the_count_honest(client: Jochi) -> None:
    # A store gives the ids of deleted nodes out again, and of the newest only a batch is looked at: here all letters fit into one.
    client.database.run("MATCH (j:JochiJob {name: 'intake'}) SET j.batch_size = 1000")
    letters(client, 1, 30)
    intake(client)
    # As many new as gone: the number of nodes is the same, the number of memories isn't.
    client.database.run("MATCH (n:Letter) WHERE n.id IN ['l28', 'l29', 'l30'] DETACH DELETE n")
    letters(client, 31, 33)
    assert intake(client, NOW + HOUR).changed == 3
    client.database.run("MATCH (n:Letter) WHERE n.id IN ['l4', 'l5'] REMOVE n:Letter")
    client.database.run(
        "MATCH (n:Letter) WHERE n.id IN ['l6'] SET n.expires_at = $t, n.created_at = $t, n.next_due = $t",
        {"t": NOW - 48 * HOUR},
    )
    client.apply()
    run_job(client.engine, "curate_due", now=NOW + HOUR, drain=True)
    assert client.database.run("MATCH (t:Tombstone) RETURN count(t) AS n") == [{"n": 1}]
    letters(client, 34, 36)
    assert intake(client, NOW + HOUR).changed == 3
    client.restore(["default/l6"])
    assert (intake(client, NOW + HOUR).changed, left(client)) == (0, 0)
    assert state(client)["accounted"] == 31


def test_a_kept_number_that_has_drifted_is_repaired_by_the_daily_walk(client: Jochi) -> None:
    letters(client, 1, 25)
    intake(client)
    client.database.run("MATCH (n:Letter {id: 'l1'}) REMOVE n:Curated")
    # Nothing that counts: as if it had always been so.
    client.database.run("MATCH (i:JochiIntake) SET i.curated = i.curated - 1")
    assert intake(client, NOW + 23 * HOUR).selected == 0
    client.database.run("MATCH (n:Letter {id: 'l1'}) SET n = {id: 'l1', text: 'dear'}")
    assert (intake(client, NOW + 24 * HOUR).changed, left(client)) == (1, 0)


def test_nodes_that_cannot_be_enrolled_do_not_keep_it_busy(client: Jochi) -> None:
    letters(client, 1, 40)
    client.database.run("UNWIND range(1, 25) AS i CREATE (:Letter {text: 'no id'})")
    run = intake(client)
    assert (run.changed, run.tally["refused_no_id"], left(client)) == (40, 25, 25)
    assert intake(client, NOW + HOUR).selected == 0


def test_nothing_to_do_reads_counts_alone_and_a_look_sorts_nothing(client: Jochi) -> None:
    letters(client, 1, 5)
    intake(client)
    idle = {operator for operator, _ in operators(client, client.engine.text("intake/intake", "select"))}
    assert "NodeCountFromCountStore" in idle
    assert not idle & SCANS
    look = operators(client, client.engine.text("intake/intake", "act"))
    assert [operator for operator, _ in look if operator in SCANS] == ["NodeByLabelScan"]
    assert "PartialSort" not in {operator for operator, _ in look}
    # The one Sort is of what was found, after the limit: the scan itself runs from the newest node back.
    scan = [operator for operator, _ in look].index("NodeByLabelScan")
    assert [operator for operator, _ in look[scan + 1 : scan + 3]] == ["Limit", "Skip"]


def test_a_change_in_plain_cypher_is_seen_at_the_horizon_without_the_trigger(client: Jochi) -> None:
    client.database.run(
        "CREATE (:Curated:Notification {key: 'default/n', scope: 'default', id: 'n', read: false, priority: 'critical', "
        "created_at: $old, next_due: $now})",
        {"old": NOW - 90 * 24 * HOUR, "now": NOW},
    )
    client.apply()
    run_job(client.engine, "curate_due", now=NOW, drain=True)
    client.database.run("MATCH (n:Notification) SET n.read = true")
    assert sum(r.changed for r in run_job(client.engine, "curate_due", now=NOW + 23 * HOUR, drain=True)) == 0
    assert sum(r.changed for r in run_job(client.engine, "curate_due", now=NOW + 25 * HOUR, drain=True)) == 1


@pytest.mark.parametrize(("kind", "least", "most"), [("Notification", 24, 24), ("MemoryEntry", 8 * 24, 9 * 24)])
def test_an_end_set_in_plain_cypher_is_seen_at_the_horizon_without_the_trigger(
    client: Jochi, kind: str, least: int, most: int
) -> None:
    """A day where the verdict reads what apps write, else a tenth of the memory's age, of which up to a tenth is taken off."""
    client.database.run(
        f"CREATE (:Curated:{kind} {{key: 'default/n', scope: 'default', id: 'n', priority: 'critical', tier: 'ARCHIVE', "
        "content: 'x', created_at: $old, next_due: $now})",
        {"old": NOW - 90 * 24 * HOUR, "now": NOW},
    )
    client.apply()
    run_job(client.engine, "curate_due", now=NOW, drain=True)
    (row,) = client.database.run(
        "MATCH (m:Curated) SET m.expires_at = $then RETURN m.next_due AS due", {"then": NOW + HOUR}
    )
    due = row["due"].to_native()
    assert NOW + least * HOUR <= due <= NOW + most * HOUR
    assert sum(r.changed for r in run_job(client.engine, "curate_due", now=due - HOUR, drain=True)) == 0
    assert sum(r.changed for r in run_job(client.engine, "curate_due", now=due, drain=True)) == 1
    assert client.database.run("MATCH (t:Tombstone {key: 'default/n'}) RETURN count(t) AS n") == [{"n": 1}]


def test_triggers_are_refused_in_words_where_they_are_off(client: Jochi) -> None:
    with pytest.raises(Refused, match=r"triggers|may not handle") as caught:
        triggers.install_triggers(client.engine)
    assert "apoc.trigger" in str(caught.value)
    assert triggers.remove_triggers_if_any(client.engine) == []
