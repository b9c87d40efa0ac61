"""What constraints of an application forbid of what is brought back is named with the constraint and with who has the value; the
rest comes back, and a dry run says the same before (docs/reference/audit-and-undo.md)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests import merge_graph
from tests.conftest import TestServer
from tests.oracle import Memory, graph
from tests.oracle.merging import Graph, Rel
from typer.testing import CliRunner, Result

from jochi import Jochi, clock
from jochi.cli.app import app
from jochi.database.database import Database
from jochi.errors import PartlyDone
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy
from jochi.undo import undo as undoing

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
SOURCES = "MATCH (t:Tombstone) SET t.source_ref = t.source_then REMOVE t.source_then"


def entry(id: str, now: datetime, source: Any, **more: Any) -> Memory:
    """Due to be pruned: it was read long ago. ``source``: what it has for a source once it is pruned."""
    return Memory(
        id, ("MemoryEntry", "Notification"), {"read": True, "created_at": now - 40 * DAY, "source_then": source} | more
    )


def pruned(client: Jochi, now: datetime, memories: Iterable[Memory]) -> str:
    """The run that pruned them."""
    graph.write(client.database, memories, due=now)
    [run] = run_job(client.engine, "curate_due", now=now, drain=True)
    client.database.run(SOURCES)
    return run.id


def live(client: Jochi, id: str, source: Any, *, labels: str = ":Curated:MemoryEntry") -> str:
    """Somebody writes another one with this source; its name as results have it."""
    key = {"key": f"default/{id}", "scope": "default", "id": id} if "Curated" in labels else {}
    [row] = client.database.run(
        f"CREATE (m{labels}) SET m = $key, m.source_ref = $source "
        "RETURN coalesce(m.key, '(' + $labels + ' ' + elementId(m) + ')') AS name",
        {"key": key, "source": source, "labels": labels},
    )
    return str(row["name"])


def invoke(server: TestServer, *words: str) -> Result:
    """The command line."""
    environment = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}
    return CliRunner().invoke(app, list(words), env=environment)


Answer = tuple[str, str, str | None, str | None]


def answers(results: Iterable[Any]) -> list[Answer]:
    """Key, outcome, constraint and holder of each, by key."""
    return sorted((each.key, each.outcome, each.constraint, each.holder) for each in results)


def tombstones(client: Jochi) -> set[str]:
    return {row["key"] for row in client.database.run("MATCH (t:Tombstone) RETURN t.key AS key")}


def test_an_undo_leaves_what_is_forbidden_and_names_it(applied: Jochi, server: TestServer, now: datetime) -> None:
    """Taken by a memory, by another node, by one of the same undo; on two properties; 1 and 1.0 are one value, 1 and true two."""
    free = [entry(f"free{i}", now, f"free-{i}") for i in range(20)]
    memories = [
        entry("taken", now, "mail-17"),
        entry("of_an_app", now, "mail-18"),
        *(entry(f"twin{i}", now, "mail-19") for i in range(3)),
        entry("whole", now, 1),
        entry("broken", now, 1.0),
        entry("truth", now, True),
        entry("placed", now, "mail-20", shelf=1, box="a"),
        entry("beside", now, "mail-21", shelf=1, box="b"),
        entry("nowhere", now, None, shelf=1),
        entry("keyless", now, "mail-22"),
    ]
    run = pruned(applied, now, free[:10] + memories + free[10:])
    mail = live(applied, "new", "mail-17")
    node = live(applied, "", "mail-18", labels=":MemoryEntry")
    applied.database.run("CREATE (:Curated:Notification {key: 'default/shelf', shelf: 1, box: 'a'})")
    live(applied, "keyless", "another")
    # Page by page, so that one of a later page meets one of an earlier.
    dry = undoing.undo(applied.engine, run, now=now, by="test", dry_run=True, page=7)
    assert tombstones(applied) == {f"default/{each.id}" for each in free + memories}

    class Stop(Exception):
        """The client dies in the middle."""

    def stop(done: int) -> None:
        if done > 14:
            raise Stop

    with pytest.raises(Stop):
        undoing.undo(applied.engine, run, now=now, by="test", page=7, on_page=stop)
    began = len(tombstones(applied))
    done = undoing.undo(applied.engine, run, now=now, by="test", page=7)
    assert began < len(free + memories)
    assert done.resumed
    assert done.run
    left = {
        key: (constraint, holder) for key, outcome, constraint, holder in answers(dry.rows) if outcome == "forbidden"
    }
    twins = [f"default/twin{i}" for i in range(3) if f"default/twin{i}" not in left]
    numbers = [key for key in ("default/whole", "default/broken") if key not in left]
    assert len(twins) == len(numbers) == 1
    assert left == {
        "default/taken": ("tests_one_source", mail),
        "default/of_an_app": ("tests_one_source", node),
        **{f"default/twin{i}": ("tests_one_source", twins[0]) for i in range(3) if f"default/twin{i}" not in twins},
        **{key: ("tests_one_source", numbers[0]) for key in ("default/whole", "default/broken") if key not in numbers},
        "default/placed": ("tests_one_place", "default/shelf"),
    }
    assert tombstones(applied) == {*left, "default/keyless"}
    assert dry.counts == {"undone": 20 + len(memories) - len(left) - 1, "forbidden": len(left), "taken": 1}
    assert answers(row for row in done.rows if row.outcome == "forbidden") == [
        row for row in answers(dry.rows) if row[1] == "forbidden"
    ]
    [counted] = applied.database.run(
        "MATCH (r:JochiJobRun {id: $run}) RETURN r.status AS status, r.changed AS n", {"run": done.run}
    )
    assert counted == {"status": "partial", "n": dry.counts["undone"]}
    # Nothing of it is done with: when there is room, the same command brings the rest back.
    applied.database.run("MATCH (m:MemoryEntry) WHERE m.source_ref = 'mail-18' AND NOT m:Curated DELETE m")
    assert applied.undo(run).counts == {"undone": 1, "forbidden": len(left) - 1, "taken": 1}
    assert answers(applied.restore(["default/taken", "default/nobody", *sorted(left)])) == sorted(
        [("default/nobody", "not_found", None, None), ("default/of_an_app", "not_found", None, None)]
        + [(key, "forbidden", *why) for key, why in left.items() if key != "default/of_an_app"]
    )
    said = invoke(server, "restore", "default/taken")
    assert isinstance(said.exception, PartlyDone)
    assert [word in said.output for word in ("tests_one_source", mail, "mail-17")] == [True, True, False]


@pytest.mark.slow
def test_a_merge_is_taken_back_beside_unique_relationships(applied: Jochi, now: datetime) -> None:
    """What moves back is never there twice; what somebody else says by now is forbidden. In a dry run, and in an undo, too."""
    nodes = {
        f"default/{id}": Memory(
            id,
            ("MemoryEntry",),
            {"created_at": now - age * DAY, "content": text, "content_hash": text, "access_count": age},
        )
        for text in ("one", "two", "six")
        for id, age in ((f"{text}_old", 50), (f"{text}_new", 40))
    }
    rels = [
        Rel(f"{end}{text}", "TESTS_CITES", f"default/{text}_{end}", merge_graph.THING, {"then": f"{end}-{text}"})
        for text in ("one", "two", "six")
        for end in ("old", "new")
    ]
    between = Rel("between", "TESTS_CITES", "default/two_old", "default/two_new", {"then": "between"})
    merge_graph.write(applied.database, Graph(nodes, {rel.id: rel for rel in [*rels, between]}))
    for text in ("one", "two", "six"):
        merge_graph.flag(applied.database, f"default/{text}_old", f"default/{text}_new", now, decision="approved")
    [run] = run_job(applied.engine, "merge_duplicates", now=now, drain=True)
    applied.database.run("MATCH ()-[r:TESTS_CITES]->() SET r.ref = r.then")
    applied.database.run("MATCH (copy:CurationSnapshot) WHERE copy.then IS NOT NULL SET copy.ref = copy.then")
    gone = {key.split("_")[0]: key for key in tombstones(applied)}
    applied.database.run("CREATE (:Thing {name: 'u'})-[:TESTS_CITES {ref: 'between'}]->(:Thing {name: 'v'})")
    [row] = applied.database.run(
        "MATCH (a)-[r:TESTS_CITES {ref: 'between'}]->(b) RETURN [x IN [a, r, b] | elementId(x)] AS ids"
    )
    start, it, end = row["ids"]
    holder = f"[:TESTS_CITES {it}] from (:Thing {start}) to (:Thing {end})"
    forbidden = (gone["default/two"], "forbidden", "tests_one_ref", holder)
    assert answers(applied.unmerge(sorted(gone.values()), dry_run=True)) == sorted(
        [
            (gone["default/one"], "would_unmerge", None, None),
            (gone["default/six"], "would_unmerge", None, None),
            forbidden,
        ]
    )
    assert answers(applied.unmerge([gone["default/one"], gone["default/two"]])) == sorted(
        [(gone["default/one"], "unmerged", None, None), forbidden]
    )
    dry = applied.undo(run.id, dry_run=True)
    assert answers(applied.undo(run.id).rows) == [
        row for row in answers(dry.rows) if row[1] not in ("undone", "as_before")
    ]
    assert [row for row in answers(dry.rows) if row[1] == "forbidden"] == [forbidden]
    rows = applied.database.run(
        "MATCH (m:Curated)-[r:TESTS_CITES]->(:Thing) RETURN m.id AS id, r.ref AS ref ORDER BY id"
    )
    assert [(row["id"], row["ref"]) for row in rows if "two" not in row["id"]] == [
        (f"{text}_{end}", f"{end}-{text}") for text in ("one", "six") for end in ("new", "old")
    ]


RECORDS = """
UNWIND ['free', 'taken', 'twin1', 'twin2'] AS id
WITH id, CASE WHEN id STARTS WITH 'twin' THEN 'twin' ELSE id END AS line
CREATE (m:Curated:TestsText {key: 'default/' + id, scope: 'default', id: id, content: 'short ' + id})
CREATE (m)-[:TESTS_MENTIONS {state: 'archived', archived_at: $at, line: id}]->(m)
CREATE (:CurationAudit {id: 'edge/' + id, run: 'edges', form: 'edge', action: 'archive_edge', rule: 'edge.archive', at: $at,
  key: m.key, to: m.key, type: 'TESTS_MENTIONS',
  properties: ['state', 'line'], before_state: 'active', after_state: 'archived', archived_at: $at,
  n: 1, after_line: id,
  before_line: line})
CREATE (a:CurationAudit {id: 'compress/' + id, run: 'compressed', form: 'compress', action: 'compress', rule: 'compress', at: $at,
  key: m.key, n: 1, content_name: 'content'})
CREATE (a)-[:KEEPS {role: 'before'}]->(:CurationSnapshot {content: 'long ' + line})
CREATE (a)-[:KEEPS {role: 'after'}]->(:CurationSnapshot {content: m.content})
"""


@pytest.mark.parametrize(
    ("run", "rule", "taken"),
    [
        (
            "edges",
            "tests_one_line",
            "MATCH (n:Taken) CREATE (n)-[:TESTS_MENTIONS {state: 'active', line: 'taken'}]->(n)",
        ),
        ("compressed", "tests_one_content", "MATCH (n:Taken) SET n:TestsText, n.content = 'long taken'"),
    ],
    ids=["edges", "contents"],
)
def test_what_is_written_back_is_tried_first(applied: Jochi, now: datetime, run: str, rule: str, taken: str) -> None:
    applied.database.run(RECORDS, {"at": now - DAY})
    applied.database.run("CREATE (:Taken)")
    applied.database.run(taken)
    dry, done = applied.undo(run, dry_run=True), applied.undo(run)
    assert dry.counts == done.counts == {"undone": 2, "forbidden": 2}
    left = [row for row in answers(dry.rows) if row[1] == "forbidden"]
    assert answers(done.rows) == left
    assert all(name == rule and holder for _, _, name, holder in left)
    assert [key for key, *_ in left if "twin" not in key] == ["default/taken"]


def test_a_purge_that_brings_back_passes_over_what_is_forbidden(
    applied: Jochi, server: TestServer, now: datetime
) -> None:
    pruned(applied, now, [entry(f"m{i}", now, f"mail-{i}", box=i) for i in range(12)])
    applied.database.run("MATCH (t:Tombstone) WHERE t.box % 4 < 2 SET t.pinned = true")
    holders = [live(applied, f"new{i}", f"mail-{i}") for i in (1, 5)]
    runs = run_job(applied.engine, "purge_tombstones", now=now + 31 * DAY, drain=True)
    assert tombstones(applied) == {"default/m1", "default/m5"}
    assert [sum(run.tally.get(name, 0) for run in runs) for name in ("restore", "purge")] == [4, 6]
    rows = applied.database.run("MATCH (t:Tombstone) RETURN t.quarantined_until IS NOT NULL AS waits")
    assert [row["waits"] for row in rows] == [True, True]
    failed = [run for run in runs if run.error]
    assert failed
    for run in failed:
        said = invoke(server, "runs", "show", run.id)
        assert any(f"tests_one_source forbids it: {holder} has" in said.output for holder in holders)
        assert not any(word in f"{run.error}{said.output}" for word in ("mail-1", "mail-5"))


@pytest.mark.slow
def test_disenrol_and_uninstall_end(database: Database, test_policy: LoadedPolicy) -> None:
    """What can't come back is named; it keeps the label Tombstone, the labels that it had in a list, and what is the app's."""
    client = Jochi(database.driver, policy=test_policy)
    client.install(arm=False)
    client.apply()
    now = clock.now()
    graph.write(database, [entry("mine", now, "mail-1")], due=now)
    database.run(
        "UNWIND range(2, 4) AS i CREATE (:MemoryEntry:Notification {id: 'e' + i, scope: 'default', read: true, created_at: $at, "
        "source_then: 'mail-' + i})",
        {"at": now - 40 * DAY},
    )
    client.enrol("MemoryEntry")
    database.run("MATCH (m:Curated) SET m.next_due = $now", {"now": now})
    run_job(client.engine, "curate_due", now=now, drain=True)
    assert len(tombstones(client)) == 4
    database.run(SOURCES)
    database.autocommit("CREATE CONSTRAINT one_source FOR (m:MemoryEntry) REQUIRE m.source_ref IS UNIQUE")
    holders = [live(client, "", f"mail-{i}", labels=":MemoryEntry") for i in (1, 2, 3)]
    done = client.disenrol("MemoryEntry")
    assert (done.released, done.restored) == (1, 1)
    assert sorted((each.key, each.constraint, each.holder) for each in done.forbidden) == [
        ("default/e2", "one_source", holders[1]),
        ("default/e3", "one_source", holders[2]),
    ]
    database.run("MATCH (m:MemoryEntry) WHERE m.source_ref = 'mail-3' DELETE m")
    result = client.uninstall()
    assert [(each.key, each.constraint, each.holder) for each in sorted(result.forbidden, key=str)] == [
        ("default/e2", "one_source", holders[1]),
        ("default/mine", "one_source", holders[0]),
    ]
    # But for `key`, which stays where whoever wrote the memory wrote it.
    rows = database.run(
        "MATCH (t:Tombstone) RETURN t {.*, key: null} AS p, labels(t) AS labels ORDER BY t.source_ref DESC"
    )
    found = [
        (row["labels"], row["p"] | {"tombstone_labels": sorted(row["p"]["tombstone_labels"])})
        for row in to_python(rows)
    ]
    assert found == [
        (
            ["Tombstone"],
            {
                "id": id,
                "scope": "default",
                "read": True,
                "created_at": now - 40 * DAY,
                "source_ref": source,
                "tombstone_labels": ["MemoryEntry", "Notification"],
                "key": None,
            },
        )
        for id, source in (("e2", "mail-2"), ("mine", "mail-1"))
    ]
    assert not {row["name"] for row in database.run("SHOW CONSTRAINTS YIELD name")} - {"one_source"}
