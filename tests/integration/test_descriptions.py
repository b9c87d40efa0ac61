"""Descriptions of people, concepts and entities, and of what they are to each other (seed 002, Nightly Description Consolidation;
docs/reference/descriptions.md). Makers that count their calls stand for models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.all_derivations import DERIVING
from tests.conftest import PolicyWith, say_go

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers import queue
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.handler import Row
from jochi_workers.models import Reply
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 3, 15, tzinfo=timezone.utc)
DAY, HAIR = timedelta(days=1), timedelta(milliseconds=1)
DESCRIBE = derivation("describe")
FEW, USED = 3, 7 * DAY


class Counting(OfflineMaker):
    """Says what is said without a model, under a name of its own; ``rows``: what it was asked."""

    def __init__(self, model: str = "large") -> None:
        super().__init__(DESCRIBE, Estimate())
        self.model: str | None = model  # type: ignore[misc]
        self.rows: list[Row] = []

    def make(self, row: Row) -> Reply[Any]:
        self.rows.append(row)
        return super().make(row)


@pytest.fixture(scope="session")
def describing(policy_with: PolicyWith) -> Any:
    return policy_with(DERIVING)


@pytest.fixture(scope="session")
def lazily(policy_with: PolicyWith) -> Any:
    return policy_with("[derive.describe]\nderiving = true\nlazy = true")


@pytest.fixture
def client(install_once: Any, describing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(describing)
    say_go(ready)
    return ready


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, {"now": NOW, **given})]


def note(client: Jochi, key: str, text: str, at: datetime, **properties: Any) -> str:
    """A note on the thing, which is dirty by it; its key."""
    scope, _, id = key.partition("/")
    name = f"{id}-{text[:40]}"
    noted = {
        **{"kind": "Note", "id": name, "scope": scope, "content": text},
        "properties": {"lifetime": "forever", "created_at": at, **properties},
        "relationships": [{"type": "HAS_NOTE", "to_key": key, "direction": "in"}],
    }
    client.remember([noted], now=NOW, on_refused="raise")
    run(client, "MATCH (t:Curated {key: $key}) SET t.is_dirty = true", key=key)
    return f"{scope}/{name}"


def put(
    client: Jochi,
    name: str,
    notes: Sequence[str] = (),
    *,
    kind: str = "Person",
    used: datetime | None = NOW - DAY,
    dirty: bool = True,
) -> str:
    """A thing with notes, each an hour newer than the one before; its key."""
    key = f"default/{name.lower()}"
    client.remember([{"kind": kind, "id": name.lower(), "content": name, "properties": {"name": name}}], now=NOW)
    for hour, text in enumerate(notes):
        note(client, key, text, NOW - 2 * DAY + timedelta(hours=hour))
    run(
        client,
        "MATCH (t:Curated {key: $key}) SET t.is_dirty = $dirty, t.last_accessed_at = $used",
        **{"key": key, "dirty": dirty, "used": used},
    )
    return key


def work(client: Jochi, large: OfflineMaker | None = None, small: OfflineMaker | None = None) -> int:
    made = DeriveHandler(DESCRIBE, large or Counting(), Estimate(), small=small)
    worker = Worker(client.engine, [PrepareHandler(Estimate()), made])
    worker.run(once=True)
    assert not worker.progress["describe"].failed, worker.progress["describe"].reasons
    return worker.progress["describe"].done


def night(client: Jochi, *makers: OfflineMaker, at: datetime = NOW) -> int:
    """How many descriptions were made."""
    work(client, *makers)
    run_job(client.engine, "consolidate", now=at, drain=True)
    return work(client, *makers)


def told(client: Jochi) -> dict[str, tuple[str, bool]]:
    """By key of what is described the description and whether it is dirty."""
    text = "MATCH (t:Curated)-[:DESCRIBED_BY]->(d:Curated:Description) RETURN t.key AS key, d.content AS said, t.is_dirty AS dirty"
    return {row["key"]: (row["said"], row["dirty"]) for row in run(client, text)}


def sent(row: Row) -> int:
    """Tokens that a model would be sent for it."""
    return Estimate().count("\n".join([DESCRIBE.prompt().filled(**DESCRIBE.words(row)), *DESCRIBE.texts(row)]))


ANNA = ("Anna works at the harbour.", "Anna has a red beard.")


def test_who_is_described_in_a_night(client: Jochi) -> None:
    cases: list[tuple[str, bool, dict[str, Any]]] = [
        ("Used", True, {}),
        ("Exactly", True, {"used": NOW - USED}),
        ("Idle", False, {"used": NOW - USED - HAIR}),
        ("Never", False, {"used": None}),
        ("Clean", False, {"dirty": False}),
        ("Idea", True, {"kind": "Concept"}),
        ("Firm", True, {"kind": "Entity"}),
        ("Story", False, {"kind": "Storyline"}),
    ]
    for name, _, more in cases:
        put(client, name, [f"{name} is by the sea."], **more)
    put(client, "Silent")
    large = Counting()
    wanted = {f"default/{name.lower()}" for name, described, _ in cases if described}
    assert night(client, large) == len(wanted) == len(large.rows)
    assert told(client) == {key: (f"{key[8:].capitalize()} is by the sea.", False) for key in wanted}
    # The same night again, and the next: nothing new was said, nobody is asked.
    assert night(client, large) == night(client, large, at=NOW + DAY) == 0
    assert len(large.rows) == len(wanted)


def test_what_a_description_says_and_is_made_of(client: Jochi) -> None:
    anna = put(client, "Anna", ANNA)
    put(client, "Rye", ["Rye is a grain. Rye makes dark bread.", "Rye grows on poor soil."], kind="Concept")
    ended = note(client, anna, "Anna hated rye.", NOW)
    run(client, "MATCH (n:Note {key: $ended}) SET n.derived_ended_at = $now", ended=ended)
    firm = put(client, "Firm", kind="Entity", dirty=False)
    other = put(client, "Bob", dirty=False)
    run(
        client,
        "MATCH (a {key: $anna}), (f {key: $firm}), (b {key: $other}) "
        "CREATE (a)-[:RELATED_TO {relationship_type: 'work_at', notes: ['Anna joined Firm.', 'Anna leads Firm.'], "
        "is_dirty: true}]->(f), "
        "(a)-[:RELATED_TO {relationship_type: 'know', notes: ['Anna knows Bob.'], is_dirty: false}]->(b)",
        **{"anna": anna, "firm": firm, "other": other},
    )
    assert night(client) == 2
    assert told(client) == {
        anna: ("Anna has a red beard.\nAnna works at the harbour.", False),
        "default/rye": ("Rye grows on poor soil.", False),
    }
    edges = "MATCH (:Person)-[e:RELATED_TO]->(x) RETURN x.name AS name, e.description AS said, e.is_dirty AS dirty ORDER BY name"
    assert [list(row.values()) for row in run(client, edges)] == [
        ["Bob", None, False],
        ["Firm", "Anna leads Firm.", False],
    ]
    made_of = "MATCH (d:Description {derived_for: $key})-[:DERIVED_FROM]->(i) RETURN i.content AS said"
    assert {row["said"] for row in run(client, made_of, key=anna)} == {"Anna", *ANNA}
    # All of it is on record, and comes back: then it is to be said anew.
    [audit] = run(client, "MATCH (a:CurationAudit {rule: 'derive.describe'}) RETURN collect(DISTINCT a.run) AS runs")
    for each in audit["runs"]:
        client.undo(each)
    assert told(client) == {}
    assert [
        row["dirty"] for row in run(client, "MATCH (t:Person|Concept) RETURN t.is_dirty AS dirty ORDER BY t.key")
    ] == [
        *(True, False),
        True,
    ]
    assert [list(row.values()) for row in run(client, edges)] == [["Bob", None, False], ["Firm", None, True]]


def test_what_a_night_costs(client: Jochi) -> None:
    """Ten dirty things and as many dirty relationships, of which four things are in use (the share that the seed reckons with)."""
    for n in range(10):
        notes = [f"Thing{n} is {word}." for word in ("red", "old", "big")[: FEW - n % 2]]
        put(client, f"Thing{n}", notes, used=NOW - DAY if n < 4 else NOW - 8 * DAY)
    run(
        client,
        "UNWIND range(0, 9) AS n MATCH (a {key: 'default/thing' + n}), (b {key: 'default/thing' + (n + 1) % 10}) "
        "CREATE (a)-[:RELATED_TO {relationship_type: 'near', notes: ['It is near.'], is_dirty: true}]->(b)",
    )
    large, small = Counting(), Counting("small")
    assert night(client, large, small) == 4
    asked = [sorted(row["inputs"][0]["content"] for row in maker.rows) for maker in (large, small)]
    assert asked == [["Thing0", "Thing2"], ["Thing1", "Thing3"]]
    by = "MATCH (t)-[:DESCRIBED_BY]->(d) RETURN t.name AS name, split(d.derived_model, ' ')[-1] AS model"
    assert {row["name"]: row["model"] for row in run(client, by)} == {
        **{"Thing0": "large", "Thing2": "large"},
        **{"Thing1": "small", "Thing3": "small"},
    }
    done = "MATCH ()-[e:RELATED_TO]->() WHERE e.description = 'It is near.' AND NOT e.is_dirty RETURN count(e) AS n"
    assert run(client, done) == [{"n": 4}]
    # What all of them would take, each thing and each relationship in a call of its own.
    run(client, "MATCH (t:Person) SET t.last_accessed_at = $now")
    everything = Counting()
    assert night(client, everything) == 6
    rows = [*large.rows, *small.rows, *everything.rows]
    apart = [{**row, "relations": []} for row in rows] + [
        {**row, "inputs": row["inputs"][:1], "before": None} for row in rows
    ]
    assert (len(apart), sum(map(sent, apart)) > 4 * sum(map(sent, rows[:4]))) == (20, True)


def test_the_same_text_keeps_its_vector(client: Jochi) -> None:
    anna = put(client, "Anna", ANNA)
    assert night(client) == 1
    vector = "MATCH (d:Description) SET d += {embedding: [1.0], embedding_hash: d.content_hash, embedding_model: $m}"
    run(client, vector, m=client.policy.policy.embedding.model)
    run(client, "MATCH (d:Description) REMOVE d.embed_due")
    state = "MATCH (d:Description) RETURN d.embedding AS v, d.embed_due IS NOT NULL AS due, d.derived_at AS at"
    [before] = run(client, state)
    note(client, anna, "Anna collects stamps. " * 600, NOW - 30 * DAY)  # there is no room for it
    assert night(client) == 1
    [same] = run(client, state)
    assert (same["v"], same["due"], same["at"] > before["at"]) == ([1.0], False, True)
    note(client, anna, "Anna sings.", NOW)
    assert night(client) == 1
    [other] = run(client, state)
    assert (other["v"], other["due"]) == (None, True)


def test_notes_go_after_they_were_taken_in_and_what_they_said_stays(client: Jochi) -> None:
    anna = put(client, "Anna", [ANNA[0]])
    week = note(client, anna, "Anna is in Lisbon.", NOW - USED, lifetime="week")
    due = "MATCH (n:Curated:Note) SET n.next_due = $now"
    there = "MATCH (n:Curated:Note {key: $week}) RETURN count(n) AS n"
    # At the end of its week it stays for the night's work, and goes at four.
    run(client, due)
    run_job(client.engine, "curate_due", now=NOW, drain=True)
    assert run(client, there, week=week) == [{"n": 1}]
    assert night(client) == 1
    run(client, due)
    run_job(client.engine, "curate_due", now=NOW + timedelta(minutes=45), drain=True)
    assert run(client, there, week=week) == [{"n": 0}]
    assert night(client) == 0
    note(client, anna, "Anna sings.", NOW)
    assert night(client) == 1
    assert told(client)[anna] == ("Anna sings.\nAnna works at the harbour.\nAnna is in Lisbon.", False)


def test_what_no_longer_holds_is_not_told_on(client: Jochi) -> None:
    anna = put(client, "Anna", ANNA)
    assert night(client) == 1
    run(
        client,
        "MATCH (n:Note {content: $said}) SET n.content = 'Anna left the harbour.', n.prepare_due = $now",
        said=ANNA[0],
    )
    # A note that says something else is no matter of a night.
    assert work(client) == 1
    assert told(client)[anna][0] == "Anna has a red beard.\nAnna left the harbour."
    secret = note(client, anna, "Anna hides in Zanzibar.", NOW)
    assert night(client) == 1
    assert "Zanzibar" in told(client)[anna][0]
    client.forget(Request(keys=(secret,)), verify=True)
    night(client)
    said = "MATCH (n) WHERE any(name IN keys(n) WHERE toStringOrNull(n[name]) CONTAINS 'Zanzibar') RETURN count(n) AS n"
    assert run(client, said) == [{"n": 0}]
    assert told(client)[anna] == ("Anna has a red beard.\nAnna left the harbour.", False)
    # Whoever is forgotten is described no more.
    client.forget(Request(keys=(anna,)), verify=True)
    work(client)
    assert run(client, "MATCH (d:Description) RETURN d.key") == []


def test_what_is_said_meanwhile_waits_for_the_next_night(client: Jochi) -> None:
    anna = put(client, "Anna", ANNA)

    class Interrupted(Counting):
        def make(self, row: Row) -> Reply[Any]:
            if not self.rows:
                note(client, anna, "Anna sings.", NOW)
            return super().make(row)

    large = Interrupted()
    assert night(client, large) == 1
    assert told(client)[anna] == ("Anna has a red beard.\nAnna works at the harbour.", True)
    assert night(client, large, at=NOW + DAY) == 1
    assert told(client)[anna] == ("Anna sings.\nAnna has a red beard.\nAnna works at the harbour.", False)


def test_the_newest_notes_are_read_as_far_as_there_is_room(client: Jochi) -> None:
    """2,000 tokens: the notes hold 800 each."""
    anna = put(client, "Anna", [f"{word} " + "tea " * 797 for word in ("Oldest", "Middle", "Newest")])
    queue.want(client.engine, "describe", [anna])
    [row] = queue.Queue(client.engine, "describe", asks={"paid": False, "overhead": 0, "asks": 1}).lease(1).rows
    assert [each["content"][:6] for each in row["inputs"][1:]] == ["Newest", "Middle"]


def test_lazily_only_what_was_used_since_something_was_said(install_once: Any, lazily: Any) -> None:
    client: Jochi = install_once(lazily)
    say_go(client)
    said = NOW - 3 * DAY
    for name, used in (("Before", said - HAIR), ("Then", said), ("After", said + DAY), ("Never", None)):
        key = put(client, name, used=used)
        note(client, key, f"{name} sings.", said)
    large = Counting()
    assert night(client, large) == 2
    assert set(told(client)) == {"default/then", "default/after"}
    # Used later: then it is described.
    run(client, "MATCH (t {key: 'default/before'}) SET t.last_accessed_at = $now")
    assert night(client, large) == 1
