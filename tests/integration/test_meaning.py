"""Episodes to meaning (seed 002, Memory Consolidation; docs/reference/meaning.md): which sources are ripe, what they come to, and
that the words that were said stay within reach."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PolicyWith, TestServer, say_go
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

BEGIN = datetime(2026, 1, 7, 12, tzinfo=timezone.utc)
"""Noon of the first day of a window."""
WINDOW = "2026-01-07"
DAY = timedelta(days=1)
MAKERS = ("process", "meaning")


@pytest.fixture(scope="session")
def telling(policy_with: PolicyWith) -> Any:
    return policy_with("[derive.process]\nderiving = true\n[derive.meaning]\nderiving = true")


@pytest.fixture
def client(install_once: Any, telling: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(telling)
    say_go(ready)
    return ready


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, given)]


def faint(**more: Any) -> dict[str, Any]:
    return {"salience": 0.19, "age": 7.1, **more}


def fresh(**more: Any) -> dict[str, Any]:
    return {"salience": 0.9, "age": 7.1, **more}


def put(
    client: Jochi,
    told: Sequence[dict[str, Any]],
    about: Sequence[str] = ("anna",),
    name: str = "s",
    scope: str = "default",
) -> None:
    """Sources, one a day from `BEGIN` on, unless ``day`` says when; ``age``: days since they came in; the rest are properties."""
    now = datetime.now(timezone.utc)
    things = sorted({thing for one in told for thing in one.get("about", about)})
    client.remember(
        [
            {
                "kind": "Person",
                "id": f"person:{thing}",
                "content": thing,
                "scope": scope,
                "properties": {"name": thing.title()},
            }
            for thing in things
        ],
        now=now,
    )
    rows, set_ = [], []
    for number, one in enumerate(told):
        at = BEGIN + DAY * one.get("day", number)
        id = one.get("id", f"{name}{number}")
        said = " ".join(f"{thing.title()} painted picture {name}{number} again." for thing in one.get("about", about))
        rows.append(
            {
                "kind": "Source",
                "id": id,
                "scope": scope,
                "content": one.get("content", f"{said} It rained."),
                "properties": {"started_at": at, "processing_status": "raw"},
                "relationships": [
                    {"type": "mentions", "to_key": f"{scope}/person:{thing}"} for thing in one.get("about", about)
                ],
            }
        )
        own = {key: value for key, value in one.items() if key not in ("age", "about", "day", "content", "id")}
        set_.append(
            {"key": f"{scope}/{id}", "own": {**own, "salience_at": now, "created_at": now - DAY * one.get("age", 30)}}
        )
    assert client.remember(rows, now=now, on_refused="raise").written == len(told)
    run(client, "UNWIND $all AS x MATCH (s:Source {key: x.key}) SET s += x.own", all=set_)


def work(client: Jochi) -> dict[str, int]:
    makers = [derivation(name) for name in MAKERS]
    worker = Worker(
        client.engine,
        [
            PrepareHandler(Estimate()),
            *(DeriveHandler(one, OfflineMaker(one, Estimate()), Estimate()) for one in makers),
        ],
    )
    worker.run(once=True)
    assert not any(each.failed for each in worker.progress.values()), worker.progress
    return {name: each.done for name, each in worker.progress.items()}


def sunday(client: Jochi) -> int:
    """Counting, finding, and what workers make of it: how many insights were made. Whether things changed or not."""
    work(client)
    find(client)
    return work(client)["meaning"]


def find(client: Jochi) -> None:
    now = datetime.now(timezone.utc)
    run(client, "MATCH (n:Person) SET n.count_due = $now", now=now)
    run_job(client.engine, "count_mentions", now=now, drain=True)
    run_job(client.engine, "find_meaning", now=now, drain=True)


def insights(client: Jochi, scope: str = "default") -> dict[str, list[str]]:
    """Of each live insight the sources that it was made of."""
    found = run(
        client,
        "MATCH (m:Curated:Note {derived_by: 'meaning', scope: $scope}) "
        "RETURN m.id AS id, COLLECT { MATCH (m)-[:DERIVED_FROM]->(s:Source) RETURN s.id ORDER BY s.id } AS sources",
        scope=scope,
    )
    return {row["id"]: row["sources"] for row in found}


def archived(client: Jochi, scope: str = "default") -> list[str]:
    found = run(
        client,
        "MATCH (m:Curated {scope: $scope}) WHERE m.state = 'archived' AND m.tier = 'ARCHIVE' AND m.archived_at IS NOT NULL "
        "RETURN m.id AS id ORDER BY id",
        scope=scope,
    )
    return [row["id"] for row in found if not row["id"].endswith(":summary")]


ANNA = f"meaning:person:anna:{WINDOW}"


RIPE: list[tuple[list[dict[str, Any]], int]] = [
    # Old and faint, at least three.
    ([faint()] * 3, 3),
    ([faint()] * 2, 0),
    ([faint()] * 2 + [faint(age=6.9)], 0),
    ([faint()] * 2 + [faint(salience=0.2)], 0),
    ([faint()] * 3 + [fresh()], 3),
    # Five or more that tell of the same, however present.
    ([fresh()] * 5, 5),
    ([fresh()] * 4, 0),
    ([fresh()] * 4 + [fresh(age=6.9)], 0),
    ([fresh()] * 5 + [fresh(age=6.9)], 5),
    ([fresh()] * 4 + [fresh(day=30)], 0),
    # Much used and faint, of whatever age.
    ([fresh(age=1, salience=0.39, access_count=10)] * 3, 3),
    ([fresh(age=1, salience=0.39, access_count=10)] * 2 + [fresh(age=1, salience=0.39, access_count=9)], 0),
    ([fresh(age=1, salience=0.39, access_count=10)] * 2 + [fresh(age=1, salience=0.4, access_count=10)], 0),
    # Parts of a long source are one.
    ([faint(id="long"), faint(id="long#2"), faint()], 0),
    # Rails.
    ([faint()] * 3 + [faint(pinned=True), faint(ttl_policy="keep_forever")], 3),
    ([faint()] * 2 + [faint(pinned=True)], 0),
    ([faint()] * 2 + [faint(hold_until=datetime(2100, 1, 1, tzinfo=timezone.utc))], 0),
]
"""Sources, and how many of them, from the first on, an insight is made of."""


def test_which_sources_are_ripe(client: Jochi) -> None:
    for number, (told, _) in enumerate(RIPE):
        put(client, told, scope=f"c{number}")
    wanted = [[f"s{n}" for n in range(ripe)] for _, ripe in RIPE]
    assert sunday(client) == sum(map(bool, wanted))
    # The same again changes nothing.
    for _ in range(2):
        scopes = [f"c{number}" for number in range(len(RIPE))]
        assert [insights(client, scope) for scope in scopes] == [{ANNA: ids} if ids else {} for ids in wanted]
        assert [archived(client, scope) for scope in scopes] == wanted
        assert sunday(client) == 0


def test_what_an_insight_is(client: Jochi) -> None:
    """One for what the same sources tell of, another for what others tell of; new sources come into it."""
    put(client, [faint()] * 3 + [faint(about=["cleo"], day=1)], about=["bert", "anna"])
    put(client, [faint(day=2)] * 3, about=["cleo"], name="t")
    assert sunday(client) == 2
    cleo = f"meaning:person:cleo:{WINDOW}"
    assert insights(client) == {ANNA: ["s0", "s1", "s2"], cleo: ["s3", "t0", "t1", "t2"]}
    [row] = run(client, "MATCH (m:Note {id: $id}) RETURN m {.*} AS m, [(n)-[:HAS_NOTE]->(m) | n.id] AS of", id=ANNA)
    note = row["m"]
    assert sorted(row["of"]) == ["person:anna", "person:bert"]
    assert (note["lifetime"], note["added_by"], note["source_count"]) == ("forever", "meaning", 3)
    assert (note["first_source_at"], note["last_source_at"]) == (BEGIN, BEGIN + 2 * DAY)
    assert "Anna painted picture s2 again." in note["content"]
    assert "rained" not in note["content"]
    summaries = "MATCH (:Note {id: $id})-[:DERIVED_FROM]->(x:SourceSummary) RETURN collect(DISTINCT x.state) AS of"
    assert run(client, summaries, id=ANNA) == [{"of": ["archived"]}]
    # What is made of it is found in the usual search; its sources on request.
    hits = client.recall("Anna painted", kinds=["Note", "Source", "SourceSummary"]).hits
    assert {hit.key for hit in hits} == {f"default/{ANNA}", f"default/{cleo}"}
    # Another source of the same time. What came of one that was pruned stays.
    now = datetime.now(timezone.utc)
    run(client, "MATCH (s:Source {id: 's0'}) SET s.expires_at = $at, s.next_due = $at", at=now - DAY)
    run_job(client.engine, "curate_due", now=now)
    put(client, [faint(day=3)], about=["bert", "anna"], name="u")
    assert sunday(client) == 1
    assert insights(client)[ANNA] == ["s1", "s2", "u0"]
    [row] = run(client, "MATCH (m:Note {id: $id}) RETURN m {.*} AS m", id=ANNA)
    assert "picture s0" in row["m"]["content"]
    assert "picture u0" in row["m"]["content"]
    assert (row["m"]["source_count"], row["m"]["first_source_at"]) == (4, BEGIN)
    pruned = [(one.key, one.content) for one in client.originals(f"default/{ANNA}").originals if one.pruned]
    assert pruned == [("default/s0", None)]
    assert run(client, "MATCH (:Note {id: $id})-[:WAS_DERIVED_FROM]->(s) RETURN s.id AS id", id=ANNA) == [{"id": "s0"}]
    assert archived(client) == ["s1", "s2", "s3", "t0", "t1", "t2", "u0"]


def test_the_originals_are_in_reach(client: Jochi, server: TestServer, monkeypatch: pytest.MonkeyPatch) -> None:
    put(client, [faint()] * 3)
    sunday(client)
    found = client.originals(f"default/{ANNA}", limit=2)
    assert [(one.key, one.at, one.state, one.pruned) for one in found.originals] == [
        ("default/s2", BEGIN + 2 * DAY, "archived", False),
        ("default/s1", BEGIN + DAY, "archived", False),
    ]
    assert (found.total, found.originals[0].content) == (3, "Anna painted picture s2 again. It rained.")
    assert [one.key for one in client.originals("default/s1:summary").originals] == ["default/s1"]
    assert client.originals("default/s1").originals == ()
    run(
        client,
        "MATCH (st:Source {id: 's0'}) CREATE (a:Curated:Storyline {key: 'default/a', scope: 'default'})-[:includes]->(st), "
        "(:Curated:Macro {key: 'default/b', scope: 'default'})-[:groups]->(a)",
    )
    assert [one.key for one in client.originals("default/b").originals] == ["default/s0"]
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    command = ["--policy", str(client.policy.path), "memory", "originals", f"default/{ANNA}", "--limit", "2"]
    assert CliRunner().invoke(app, command).stdout.rstrip().endswith("2 of 3")
    told = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert [one["key"] for one in told["originals"]] == ["default/s2", "default/s1"]
    for key, limit in (("default/none", 20), (f"default/{ANNA}", 0)):
        with pytest.raises(UsageError):
            client.originals(key, limit=limit)


def test_undo_brings_the_sources_back(client: Jochi) -> None:
    put(client, [faint(state="active")] * 3)
    work(client)
    look = (
        "MATCH (m:Curated) WHERE m:Source OR m:SourceSummary RETURN "
        "m {.key, .state, .salience, .salience_at, .tier, .archived_at} AS m ORDER BY m.key"
    )
    before = run(client, look)
    sunday(client)
    assert {row["m"]["state"] for row in run(client, look)} == {"archived"}
    [row] = run(client, "MATCH (a:CurationAudit {rule: 'derive.meaning'}) RETURN collect(DISTINCT a.run) AS runs")
    [run_id] = row["runs"]
    client.undo(run_id)
    assert (insights(client), run(client, look)) == ({}, before)
    # They have a hold: nobody does at once again what was undone.
    assert (sunday(client), run(client, look)) == (0, before)


def test_what_is_forgotten_goes_from_the_insight(client: Jochi) -> None:
    """A whole source, or one clause of one that stays."""
    both = "Anna painted picture s2 again and hides gold in Zanzibar. It rained."
    put(client, [faint()] * 2 + [faint(content=both), faint(content="Anna hides gold in Zanzibar.")])
    assert sunday(client) == 1
    said = "MATCH (n) WHERE any(name IN keys(n) WHERE toStringOrNull(n[name]) CONTAINS 'Zanzibar') RETURN count(n) AS n"
    assert run(client, said)[0]["n"] > 2
    client.forget(Request(phrase="Zanzibar", scope="default"), verify=True)
    assert run(client, said) == [{"n": 0}]
    sunday(client)
    assert run(client, said) == [{"n": 0}]
    assert insights(client) == {ANNA: ["s0", "s1", "s2"]}
    [left] = run(client, "MATCH (s:Source {id: 's2'}) RETURN s.content AS said")
    assert left == {"said": "Anna painted picture s2 again. It rained."}


def test_nothing_is_archived_that_came_to_nothing(client: Jochi) -> None:
    """What is held, is somebody else's, or is behind a kill switch; and an insight that somebody edited."""
    put(client, [faint()] * 3)
    client.pause(Switch("kind", "Source"))
    assert (sunday(client), insights(client), archived(client)) == (0, {}, [])
    client.resume(Switch("kind", "Source"))
    run(client, "MATCH (m:SourceSummary {id: 's1:summary'}) SET m.hold_until = datetime('2100-01-01T00:00Z')")
    put(client, [faint(day=4)], name="x", scope="bob")
    run(client, "MATCH (s:Source {scope: 'bob'}), (n:Person {scope: 'default'}) CREATE (s)-[:mentions]->(n)")
    assert sunday(client) == 1
    assert insights(client) == {ANNA: ["s0", "s1", "s2"]}
    assert run(client, "MATCH (m:SourceSummary {state: 'archived'}) RETURN m.id AS id ORDER BY id") == [
        {"id": "s0:summary"},
        {"id": "s2:summary"},
    ]
    run(client, "MATCH (m:Note {id: $id}) SET m.content = 'Anna paints.'", id=ANNA)
    put(client, [faint(day=5)], name="y")
    work(client)
    find(client)
    makers = [DeriveHandler(one, OfflineMaker(one, Estimate()), Estimate()) for one in map(derivation, MAKERS)]
    Worker(client.engine, makers).run(once=True)
    assert run(client, "MATCH (m:Note {id: $id}) RETURN m.content AS said", id=ANNA) == [{"said": "Anna paints."}]
    assert archived(client) == ["s0", "s1", "s2"]
