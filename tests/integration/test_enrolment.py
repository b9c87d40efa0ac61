"""Nodes that an app made become memories, and become the app's again: exactly (DESIGN §4)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.conftest import say_go

from jochi import Jochi
from jochi.compile.rendering import render_for_label
from jochi.database.database import in_one_map
from jochi.errors import Refused, UsageError
from jochi.graph.catalogue import WRITTEN
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.write import enrolling
from jochi.write.enrolling import pages

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
DAY = timedelta(days=1)


def tickets(client: Jochi, n: int, *, first: int = 1, **values: Any) -> None:
    client.database.run(
        "UNWIND range($first, $first + $n - 1) AS i CREATE (t:Ticket {ticket_no: i, customer: 'acme', body: 'it broke ' + i, "
        "opened: $opened, done: true}) SET t += $values",
        {"first": first, "n": n, "opened": millis(NOW - 8 * DAY), "values": values},
    )


def millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def count(client: Jochi, pattern: str) -> int:
    return int(client.database.run(f"MATCH {pattern} RETURN count(*) AS n", write=False)[0]["n"])


def enrol(client: Jochi, label: str = "Ticket", **options: Any) -> enrolling.EnrolResult:
    return enrolling.enrol(client.engine, label, now=NOW, **options)


@pytest.mark.parametrize(
    ("opened", "usable"), [(631_151_999_999, False), (631_152_000_000, True), (1_750_000_000, False)]
)
def test_a_plan_tells_of_moments_that_rules_can_not_use(jochi: Jochi, opened: int, usable: bool) -> None:
    tickets(jochi, 2, opened=opened)
    tickets(jochi, 1, first=3)
    jochi.database.run("MATCH (t:Ticket {ticket_no: 3}) SET t.expires_at = datetime({year: 10000})")
    wrong = enrolling.plan_enrolment(jochi.engine, "Ticket", now=NOW).wrong_types
    assert wrong.get("opened", {}) == ({} if usable else {"INTEGER out of range": 2})
    assert wrong["expires_at"] == {"NULL": 2, "ZONED DATETIME out of range": 1}


def test_enrolled_nodes_keep_what_they_had_and_are_judged_by_their_own_names(jochi: Jochi) -> None:
    tickets(jochi, 2)
    tickets(jochi, 1, first=3, opened=millis(NOW - 6 * DAY))
    tickets(jochi, 1, first=4, sticky=True)
    plan = enrolling.plan_enrolment(jochi.engine, "Ticket", now=NOW)
    assert (plan.nodes, plan.curated, plan.ready, plan.troubles.total) == (4, 0, 4, 0)
    assert plan.verdicts == {("ticket.done", "prune"): 2, (None, "keep"): 1, ("ticket.done", "protected"): 1}
    assert count(jochi, "(n:Curated)") == 0

    result = enrol(jochi)
    assert (result.enrolled, result.passed, result.troubles.total) == (4, 0, 0)
    (row,) = jochi.database.run("MATCH (t:Curated:Ticket {key: 'acme/1'}) RETURN properties(t) AS p")
    p = to_python(row["p"])
    assert {"ticket_no": 1, "customer": "acme", "done": True, "scope": "acme", "tier": "HOT"}.items() <= p.items()
    assert p["next_due"] == NOW
    assert p["token_count"] == 3
    assert p["token_counter"] == "estimate:chars/4"
    assert p["prepare_due"] == NOW
    assert not {"created_at", "id", "content", "read"} & p.keys(), "own names are read in place, never copied"

    said = jochi.explain("acme/1", at=NOW)
    done = next(rule for rule in said.rules if rule.rule == "ticket.done")
    assert done.conditions[0]["property"] == "done"
    assert done.clock[0]["property"] == "opened"
    grace = next(rail for rail in said.rails if rail.rail == "grace")
    assert grace.required.startswith("opened is known")
    say_go(jochi)
    run_job(jochi.engine, "curate_due", now=NOW, drain=True)
    assert {r["k"] for r in jochi.database.run("MATCH (t:Tombstone) RETURN t.key AS k")} == {"acme/1", "acme/2"}


PROBLEMS: dict[str, dict[str, Any]] = {
    "no_id": {"ticket_no": None},
    "wrong_id": {"ticket_no": 1.5},
    "no_scope": {"customer": None},
    "wrong_scope": {"customer": "a/b"},
    "key_too_long": {"ticket_no": "x" * 1000},
    "content_too_long": {"body": "x" * 1_000_001},
    "own_key": {"key": "mine"},
    "own_scope": {"scope": "global"},
    "own_tier": {"tier": "gold"},
    "own_content_hash": {"content_hash": "md5:1"},
    "own_next_due": {"next_due": "Friday"},
    "own_deleted_at": {"deleted_at": NOW},
}


def test_a_node_that_cannot_be_enrolled_is_counted_and_left_as_it_is(jochi: Jochi) -> None:
    for number, values in enumerate(PROBLEMS.values(), start=100):
        tickets(jochi, 1, first=number, **values)
    tickets(jochi, 1, first=1)
    tickets(jochi, 1, first=1)
    jochi.database.run("CREATE (:Ticket:Agent {ticket_no: 2, customer: 'acme'})")
    before = jochi.database.run(
        "MATCH (n:Ticket) WHERE n.ticket_no IS NULL OR n.ticket_no <> 1 RETURN collect(properties(n)) AS p"
    )
    wanted = {**dict.fromkeys(PROBLEMS, 1), "duplicate": 1, "protected_label": 1}
    plan = enrolling.plan_enrolment(jochi.engine, "Ticket", now=NOW)
    assert plan.troubles.counts == wanted
    assert plan.ready == 1
    result = enrol(jochi)
    assert result.troubles.counts == wanted
    assert result.troubles.samples["duplicate"] == ["acme/1"]
    assert result.enrolled == 1
    assert (
        jochi.database.run(
            "MATCH (n:Ticket) WHERE n.ticket_no IS NULL OR n.ticket_no <> 1 RETURN collect(properties(n)) AS p"
        )
        == before
    )
    assert enrol(jochi, generate_ids=True).enrolled == 1


def test_boundaries_of_what_is_too_long(jochi: Jochi) -> None:
    tickets(jochi, 1, first=1, ticket_no="x" * 995)  # acme/ and 995 characters
    tickets(jochi, 1, first=2, body="x" * 1_000_000)
    assert enrol(jochi).enrolled == 2


def test_it_can_stop_at_any_page_and_goes_on_where_it_was(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    tickets(jochi, 50)

    class Stop(Exception):
        pass

    def stop_after_two(result: enrolling.EnrolResult) -> None:
        if result.enrolled >= 20:
            raise Stop

    with pytest.raises(Stop):
        enrol(jochi, page=10, chunk=25, on_progress=stop_after_two)
    assert count(jochi, "(n:Curated:Ticket)") == 20
    marks = jochi.database.run("MATCH (n:Curated) RETURN n.key AS k, n.enrolled_run AS r ORDER BY k")
    again = enrol(jochi, page=10, chunk=25)
    assert (again.enrolled, again.already) == (30, 20)
    after = {r["k"]: r["r"] for r in jochi.database.run("MATCH (n:Curated) RETURN n.key AS k, n.enrolled_run AS r")}
    assert len(after) == 50
    assert all(after[row["k"]] == row["r"] for row in marks)
    assert enrol(jochi).enrolled == 0


def test_enrolments_of_one_label_at_the_same_time_enrol_each_node_once(jochi: Jochi) -> None:
    tickets(jochi, 400)
    tickets(jochi, 40)  # the same scope and id again: whoever comes first has it
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(enrol, jochi, page=30, chunk=100) for _ in range(4)]
        results = [future.result() for future in futures]
    assert sum(result.enrolled for result in results) == 400
    assert count(jochi, "(n:Curated:Ticket)") == 400
    assert enrol(jochi).troubles.counts == {"duplicate": 40}


@pytest.mark.slow
def test_schema_changes_go_through_while_nodes_are_enrolled(jochi: Jochi) -> None:
    tickets(jochi, 1000)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(enrol, jochi, page=50, chunk=500)
        rounds = 0
        while not future.done():
            jochi.database.autocommit("CREATE INDEX tests_ticket IF NOT EXISTS FOR (t:Ticket) ON (t.ticket_no)")
            jochi.database.autocommit("DROP INDEX tests_ticket IF EXISTS")
            rounds += 1
        assert future.result(timeout=60).enrolled == 1000
    assert rounds > 2


VALUES = """
CREATE (t:Ticket {ticket_no: 1, customer: 'acme', body: 'all of it', done: true, opened: $opened,
 b1: true, b2: false, i1: 0, i2: -9223372036854775808, i3: 9223372036854775807, f1: 0.1, f2: -0.0, f3: 1.0/0.0, f4: 5.0e-324,
 s1: '', s2: 'null', s3: 'Ünïcödé 漢字 \\u0000 x',
 d1: date('2026-02-28'), d2: date('-999999-01-01'), t1: time('12:00:00.000000001+02:00'),
 t2: localtime('23:59:59.999999999'), z1: datetime('2026-01-01T00:00:00Z'), z2: datetime('2026-01-01T00:00:00[Europe/Berlin]'),
 z3: datetime('2026-01-01T00:00:00.123456789+05:30'), l1: localdatetime('2026-01-01T00:00:00'), u1: duration('P1Y2M3DT4H5M6.789S'),
 u2: duration('PT0S'), p1: point({x: 1, y: 2}), p2: point({longitude: 1, latitude: 2}), p3: point({x: 1, y: 2, z: 3}),
 p4: point({longitude: 1, latitude: 2, height: 3}), y1: $bytes, e1: [], x1: [true, false], x2: [1, 2], x3: [1.5, 2.5],
 x4: ['a', ''], x5: [date('2026-01-01')], x6: [time('12:00+01:00')], x7: [localtime('12:00')], x8: [datetime('2026-01-01T00:00Z')],
 x9: [localdatetime('2026-01-01T00:00')], xa: [duration('P1D')], xb: [point({x: 1, y: 2})], agents: ['a'], access_count: 3,
 embedding: [0.1, 0.2], confidence: 0.5, state: 'open', confidence_at: 7})
CREATE (:Before {of: 'x'}) CREATE (copy:Copy) SET copy = properties(t)
"""
SAME = """
MATCH (t:Ticket) MATCH (copy:Copy)
RETURN labels(t) AS labels, size(keys(copy)) AS n,
  [name IN keys(copy) WHERE NOT (valueType(t[name]) = valueType(copy[name]) AND coalesce(t[name] = copy[name], false))] AS changed,
  [name IN keys(t) WHERE NOT name IN keys(copy)] AS added
"""


def test_disenrol_leaves_the_node_as_it_was_after_it_was_pruned_and_curated(jochi: Jochi) -> None:
    jochi.database.run(VALUES, {"opened": millis(NOW - 8 * DAY), "bytes": bytes(range(256))})
    tickets(jochi, 1, first=2, done=False)
    enrol(jochi)
    say_go(jochi)
    run_job(jochi.engine, "curate_due", now=NOW, drain=True)
    assert count(jochi, "(t:Tombstone {key: 'acme/1'})") == 1
    assert count(jochi, "(t:Curated {key: 'acme/2', curation_action: 'KEEP'})") == 1
    jochi.database.run("CREATE (:JochiAccess {key: 'acme/2'})")
    jochi.database.run("MATCH (t:Ticket {ticket_no: 2}) DETACH DELETE t")
    result = jochi.disenrol("Ticket")
    assert (result.released, result.restored, result.left, result.kept) == (1, 1, 0, 0)
    (row,) = jochi.database.run(SAME)
    assert row["n"] > 45
    assert (row["labels"], row["changed"], row["added"]) == (["Ticket"], [], [])
    assert count(jochi, "(a:CurationAudit {key: 'acme/1'})") == 0
    assert jochi.disenrol("Ticket").released == 0


def test_disenrol_leaves_what_the_app_wrote_since_and_what_nobody_enrolled(jochi: Jochi) -> None:
    tickets(jochi, 3)
    jochi.database.run(
        "CREATE (:Curated:Ticket {key: 'acme/9', scope: 'acme', id: '9', ticket_no: 9, customer: 'acme', next_due: $now})",
        {"now": NOW},
    )
    enrol(jochi)
    jochi.database.run(
        "MATCH (t:Ticket {ticket_no: 1}) SET t.body = 'mended', t.note = 'new', t.created_at = $now", {"now": NOW + DAY}
    )
    result = enrolling.disenrol(jochi.engine, "Ticket", page=2, chunk=2)
    assert (result.released, result.left) == (3, 1)
    (row,) = jochi.database.run("MATCH (t:Ticket {ticket_no: 1}) RETURN properties(t) AS p")
    assert set(row["p"]) == {"ticket_no", "customer", "body", "opened", "done", "note", "created_at"}
    assert not set(row["p"]) & set(WRITTEN)
    assert count(jochi, "(t:Curated:Ticket)") == 1


def test_disenrol_can_leave_tombstones_pruned(jochi: Jochi) -> None:
    tickets(jochi, 3)
    enrol(jochi)
    say_go(jochi)
    run_job(jochi.engine, "curate_due", now=NOW, drain=True)
    result = jochi.disenrol("Ticket", keep_tombstones=True)
    assert (result.released, result.kept) == (0, 3)
    assert count(jochi, "(t:Tombstone)") == 3
    assert enrolling.disenrol(jochi.engine, "Ticket", chunk=2).restored == 3
    assert count(jochi, "(t:Ticket) WHERE NOT t:Tombstone AND NOT t:Curated AND t.key IS NULL") == 3


def test_a_label_without_a_kind_is_answered_with_the_kind_it_could_have(jochi: Jochi) -> None:
    jochi.database.run(
        "UNWIND range(1, 30) AS i CREATE (:Incident {number: 'INC' + i, tenant: 'acme', description: 'words and words ' + i, "
        "created: 1700000000000 + i, severity: i % 3})"
    )
    with pytest.raises(UsageError) as caught:
        jochi.plan_enrolment("Incident")
    for line in (
        "[kinds.Incident]",
        'properties = { id = "number", scope = "tenant", content = "description", '
        'created_at = { property = "created", as = "epoch_ms" } }',
    ):
        assert line in str(caught.value)


def test_protected_and_impossible_labels_are_refused(jochi: Jochi) -> None:
    for label in ("Agent", "SystemConfig", "Curated", "Tombstone", "JochiJob", "No such", "a`b"):
        with pytest.raises(UsageError):
            jochi.enrol(label)


def test_disenrol_of_a_kind_with_intake_is_refused(jochi: Jochi) -> None:
    with pytest.raises(Refused, match="intake"):
        jochi.disenrol("Letter")


def operators(plan: dict[str, Any]) -> list[str]:
    found = [plan["operatorType"].split("@")[0]]
    return found + [name for child in plan.get("children", []) for name in operators(child)]


def planned(client: Jochi, text: str, **parameters: Any) -> list[str]:
    with client.database.driver.session() as session:
        plan = session.run("EXPLAIN " + text, parameters).consume().plan
    assert plan is not None
    return operators(plan)


def test_a_stretch_reads_the_label_in_order_and_ends(jochi: Jochi) -> None:
    tickets(jochi, 5)
    assert [(s.seen, len(s.fresh)) for s in pages.node_ranges(jochi.database, "Ticket", 2)] == [(2, 2), (2, 2), (1, 1)]


def test_a_stretch_plans_no_sort_and_no_scan_of_all_nodes(jochi: Jochi) -> None:
    tickets(jochi, 2000)
    used = planned(jochi, render_for_label("enrol/spool", "Ticket"), skip=1000, chunk=500)
    assert [operator for operator in used if "Scan" in operator or "Seek" in operator] == ["NodeByLabelScan"]
    assert not {operator for operator in used if "Sort" in operator or "Top" in operator}


def test_writing_a_page_seeks_each_node(jochi: Jochi) -> None:
    """By its element id, and the key by its index: whether another node has it."""
    tickets(jochi, 2000)
    given = {"now": NOW, "nodes": ["4:x:1"], "label": "Ticket", "make_ids": False, "run": "r"}
    used = planned(jochi, jochi.engine.text("enrol/write"), **in_one_map(given))
    assert used.count("NodeByElementIdSeek") == 1
    assert not {operator for operator in used if "Scan" in operator}
