"""The consolidation pass (seed 003): when a scope has one, its steps in order, one that fails, and all of it undone together."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from datetime import datetime, time, timedelta, timezone
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError
from tests.duplicate_pairs import Pairs
from typer.testing import CliRunner

from jochi import Jochi, Turn
from jochi.cli.app import app
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job
from jochi.jobs.runs import RunSummary
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
LEARN = derivation("learn")
SAID = ["I prefer tea", "I live in Oslo", "I hate rain", "I love jazz", "I am a nurse", "I like boats"]


def learn(client: Jochi, *said: str, scope: str = "s") -> None:
    """Each turn in a session of its own, so a batch each, learned from at the time that it is."""
    for text in said:
        client.observe(Turn(text, session=text, scope=scope, speaker="Ann"))
        client.flush(text, scope=scope)
    worker = Worker(
        client.engine, [PrepareHandler(Estimate()), DeriveHandler(LEARN, OfflineMaker(LEARN, Estimate()), Estimate())]
    )
    worker.run(once=True)
    assert worker.progress["learn"].done == len(said)


def rows(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, given)]


def due(client: Jochi) -> dict[str, datetime | None]:
    return {
        row["scope"]: row["due"] for row in rows(client, "MATCH (s:JochiPass) RETURN s.scope AS scope, s.due AS due")
    }


def due_now(client: Jochi) -> datetime:
    """When the scope `s` became due: a worker lives in the time that it is."""
    at = due(client)["s"]
    assert at is not None
    return at


def consolidate(client: Jochi, now: datetime) -> list[RunSummary]:
    """What the passes that ended were, the first first."""
    before = {run.id for run in passes(client)}
    for _ in range(3):  # one run ends where a step fails
        run_job(client.engine, "consolidate_scopes", now=now, drain=True)
    return [client.runs(run.id)[0] for run in passes(client) if run.id not in before]


def passes(client: Jochi) -> list[RunSummary]:
    return [run for run in reversed(client.runs(limit=1000, changed_only=False)) if run.job == "pass"]


@pytest.fixture
def client(applied: Jochi) -> Jochi:
    applied.database.run("MATCH (s:JochiPass) DELETE s")
    return applied


def test_after_three_extractions_or_by_the_slot_and_never_without_any(client: Jochi, now: datetime) -> None:
    learn(client, *SAID[:2])
    learn(client, SAID[0], scope="other")
    slot = datetime.combine(now.date(), time(4), timezone.utc)
    slot += DAY if slot <= now else 0 * DAY
    assert due(client) == {"s": slot, "other": slot}
    assert consolidate(client, slot - SECOND) == []
    learn(client, "Really?")
    assert rows(client, "MATCH (f:Curated:Fact) WHERE f.message_ids IS NOT NULL RETURN count(f) AS n") == [{"n": 3}]
    at = due_now(client)
    assert now <= at < now + timedelta(minutes=5), "the third: at once, though nothing came of it"
    [one] = consolidate(client, at)
    assert (one.scope, one.status) == ("s", "ok")
    assert [step.step for step in one.steps] == list(client.policy.policy.consolidation.steps)
    assert all((step.began, step.ended, step.said) == (at, at, "") for step in one.steps)
    assert {step.step: step.changed for step in one.steps}["topics"] == 1
    assert [index.scope for index in client.topics()] == ["s"], "of this scope alone"
    assert due(client) == {"s": None, "other": slot}
    assert consolidate(client, slot - SECOND) == [], "nothing is new"
    # By the slot, a scope with one extraction; and not the one without.
    assert [run.scope for run in consolidate(client, slot)] == ["other"]
    assert due(client) == {"s": None, "other": None}
    # Counted from then on: what is learned while a pass is under way is of the next one.
    run_job(client.engine, "consolidate_scopes", now=slot + DAY)
    learn(client, *SAID[3:5])
    assert due(client)["s"] == slot
    learn(client, SAID[5])
    assert due(client)["s"] != slot


def test_a_pass_is_shown_and_undone_as_one(
    client: Jochi, now: datetime, pairs: Pairs, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    learn(client, *SAID[:3])
    keys = [pairs.add(id, 1.0, "Ann likes tea", kind="Reflection", due=now - DAY) for id in ("a", "b")]
    old = {"confidence": 0.3, "category": "fact", "created_at": now - 40 * DAY, "updated_at": now - 40 * DAY}
    for scope in ("s", "other"):
        client.database.run(
            "CREATE (f:Curated:Fact {key: $scope + '/guess', scope: $scope, id: 'guess', content: $scope}) SET f += $old",
            {"scope": scope, "old": old | {"next_due": now - DAY}},
        )
    [one] = consolidate(client, due_now(client))
    assert {step.step: step.changed for step in one.steps}["merge"] == 1
    assert {each.action: (each.n, each.keys) for each in one.done if each.action in ("prune", "merge")} == {
        "prune": (1, ("s/guess",)),
        "merge": (1, ("s/b",)),
    }
    living = "MATCH (m:Curated) WHERE m.key IN $keys RETURN m.key AS key ORDER BY key"
    asked = [*keys, "s/guess", "other/guess"]
    assert [row["key"] for row in rows(client, living, keys=asked)] == ["other/guess", "s/a"]
    shown = CliRunner().invoke(app, ["runs", "show", one.id])
    assert shown.exit_code == 0, shown.output
    assert "Consolidation of the scope s" in shown.output
    assert one.id in CliRunner().invoke(app, ["runs", "ls", "-n", "200", "--json"]).output
    undone = client.undo(one.id)
    assert (undone.left, undone.already) == (0, 0), undone
    assert [row["key"] for row in rows(client, living, keys=asked)] == sorted(asked)


def test_a_step_that_fails_or_may_not_is_on_record_and_the_next_goes_on(client: Jochi, now: datetime) -> None:
    learn(client, *SAID[:3])
    guidelines = Switch("job", "learn_guidelines")
    broken = "MATCH (x:JochiProcedure {name: 'profiles/consolidate_profiles'}) SET x.act = $act"
    [whole] = rows(client, "MATCH (x:JochiProcedure {name: 'profiles/consolidate_profiles'}) RETURN x.act AS act")
    client.pause(guidelines)
    try:
        client.database.run(broken, {"act": "RETURN 1 / (size($in.keys) - 1) AS changed"})
        [one] = consolidate(client, due_now(client))
    finally:
        client.database.run(broken, {"act": whole["act"]})
        client.resume(guidelines)
    said = {step.step: step.said for step in one.steps}
    assert one.status == "partial"
    assert "/ by zero" in said.pop("profile")
    assert said.pop("guidelines") == "its job is paused"
    assert set(said.values()) == {""}
    assert {step.step: step.changed for step in one.steps}["topics"] == 1, "after the one that failed"
    # The next pass has all of it.
    learn(client, *SAID[3:])
    [again] = consolidate(client, due_now(client))
    assert {step.said for step in again.steps} == {""}


def test_the_breaker_stops_one_step_and_the_next_goes_on(client: Jochi, now: datetime) -> None:
    """Of a kind in a scope a hundred may go, and not one more."""
    for scope, n in (("a", 100), ("s", 101)):
        learn(client, *SAID[:3], scope=scope)
        client.database.run(
            "UNWIND range(1, $n) AS i CREATE (f:Curated:Fact {key: $scope + '/guess' + i, id: 'guess' + i, content: 'x' + i}) "
            "SET f += {scope: $scope, confidence: 0.3, category: 'fact', created_at: $old, updated_at: $old, next_due: $old}",
            {"n": n, "scope": scope, "old": now - 40 * DAY},
        )
    runs = {run.scope: run for run in consolidate(client, due_now(client))}
    within, above = runs["a"], runs["s"]
    pruned = [sum(each.n for each in run.done if each.action == "prune") for run in (within, above)]
    assert (pruned, within.status, above.status) == ([100, 100], "ok", "partial")
    told = {step.step: step.said for step in above.steps}
    stands = f"its job stands still until `jochi approve {above.id}`"
    assert told.pop("facts") == f"the circuit breaker stopped it: {stands}"
    assert set(told.values()) == {""}
    assert {step.step: step.changed for step in above.steps}["topics"] == 1, "after the one that was stopped"
    assert {job.stopped_run for job in client.jobs() if job.name == "curate_due"} == {above.id}
    # Until somebody has looked.
    learn(client, *SAID[3:])
    [waits] = consolidate(client, due_now(client))
    assert {step.step: step.said for step in waits.steps}["facts"] == stands
    client.approve_run(above.id)
    learn(client, *(f"{said} again" for said in SAID[:3]))
    [freed] = consolidate(client, due_now(client))
    assert (freed.status, [each.n for each in freed.done if each.action == "prune"]) == ("ok", [1])


def test_inside_the_database_what_the_pin_does_not_cover_is_not_run(client: Jochi, now: datetime) -> None:
    """The steps' texts are jobs' acts: the pin covers each, as it covers stages."""
    learn(client, *SAID[:3])
    [texts] = rows(
        client,
        "MATCH (x:JochiProcedure) UNWIND ['select', 'act', 'body'] AS section "
        "WITH x.name + '.' + section AS part, x[section] AS text WHERE text IS NOT NULL RETURN collect([part, text]) AS parts",
    )
    [policy] = rows(client, "MATCH (p:JochiPolicy) WHERE p.current RETURN p.compiled AS compiled")
    parts = dict(texts["parts"]) | {"policy.compiled": policy["compiled"]}
    whole = {part: hashlib.sha256(text.encode()).hexdigest() for part, text in parts.items()}
    engine = client.engine
    for left_out in ("profiles/consolidate_profiles.act", None):
        manifest = ";" + "".join(f"{part} {sha};" for part, sha in whole.items() if part != left_out)
        given = {"pump": engine.pump, "job": "consolidate_scopes", "clock": now + timedelta(minutes=5)}
        now = given["clock"]
        asked = {**given, "due_by": now + DAY, "now": now, "except": [], "runner": "client"}
        claim = engine.call("scheduler/claim", asked)
        held = {**given, "token": claim["token"], "run": claim["run"]}
        texts = {name: engine.text(f"scheduler/{name}") for name in ("begin", "account")}
        step = {**held, **texts, "now": now, "pin": "a pin", "manifest": manifest}
        with pytest.raises(Neo4jError, match="is not what the pin") if left_out else nullcontext():
            while not engine.call("scheduler/step", step)["drained"]:
                pass
        engine.call("scheduler/close", held)
    [one] = passes(client)
    assert (one.status, len(one.steps)) == ("ok", len(client.policy.policy.consolidation.steps))
