"""Durable forgetting (issue 8, part 8; docs/reference/forgetting.md): what goes, what stays, and that it isn't learned again."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import say_go
from tests.unit.test_forgetting import SECRET
from tests.work import work_of

from jochi import Jochi
from jochi.errors import Refused, UsageError
from jochi.forgetting import VARIABLE, Request, finder
from jochi.heartbeat import NewTask
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job
from jochi.write import importing
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
MAIL = "alice@acme.io"


@pytest.fixture
def engine(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    say_go(jochi)
    return jochi


def memories(client: Jochi, *rows: dict[str, Any]) -> None:
    done = client.remember([{"kind": "MemoryEntry", **row} for row in rows], now=NOW - 40 * DAY, on_refused="raise")
    assert done.written == len(rows)


def keys(client: Jochi, label: str = "Curated") -> set[str]:
    return {row["key"] for row in client.database.run(f"MATCH (m:{label}) RETURN m.key AS key", write=False)}


def content(client: Jochi, key: str) -> str | None:
    rows = client.database.run("MATCH (m:Curated {key: $key}) RETURN m.content AS content", {"key": key}, write=False)
    return rows[0]["content"] if rows else None


def said_anywhere(client: Jochi, text: str) -> int:
    """Plain Cypher, on its own: in how many nodes and relationships any property, as text, has it."""
    rows = client.database.run(
        "CALL () { MATCH (n) WHERE NOT n:JochiProcedure AND NOT n:JochiPolicy RETURN [k IN keys(n) | n[k]] AS every "
        "UNION ALL MATCH ()-[r]->() RETURN [k IN keys(r) | r[k]] AS every } "
        "WITH [v IN every | CASE WHEN v IS :: LIST<ANY> NOT NULL "
        "THEN reduce(s = '', x IN v | s + '|' + coalesce(toStringOrNull(x), '')) "
        "ELSE toStringOrNull(v) END] AS texts WHERE any(t IN texts WHERE toLower(t) CONTAINS toLower($text)) RETURN count(*) AS n",
        {"text": text},
        write=False,
    )
    return int(rows[0]["n"])


def test_identifiers_match_whole_and_by_scope(engine: Jochi) -> None:
    memories(
        engine,
        {"id": "a", "content": f"Write to {MAIL}."},
        {"id": "b", "content": "Write to alice.smith@acme.io, or to malice@acme.io"},
        {"id": "c", "content": f"<{MAIL.upper()}> answers"},
        {"id": "d", "scope": "other", "content": f"Write to {MAIL}!"},
        {"id": "e", "content": "alice@acme.io.uk is somebody else"},
    )
    plan = engine.plan_forgetting(Request(phrase=MAIL, scope="default"))
    assert {target.key: target.outcome for target in plan.targets} == {"default/a": "forget", "default/c": "forget"}
    assert set(plan.near) == {"default/b", "default/e"}
    assert plan.new_key
    done = engine.forget(Request(phrase=MAIL, scope="default"), verify=True)
    assert keys(engine) == {"default/b", "other/d", "default/e"}
    assert (done.counts["memories"], done.held, done.key_made) == (2, {}, True)
    # In other scopes it may be said: the receipt says where.
    assert {mention.place for mention in done.left} == {("Curated", "MemoryEntry")}
    everywhere = engine.forget(Request(phrase=MAIL), verify=True)
    assert keys(engine) == {"default/b", "default/e"}
    assert everywhere.left == ()
    assert said_anywhere(engine, " alice@acme.io.") == 0


@pytest.mark.parametrize("page", [pytest.param(1, marks=pytest.mark.exhaustive), 3])
def test_each_memory_is_looked_at_whatever_a_page_has(
    engine: Jochi, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    scopes = ["a", "ab", "a0", "a.b", "default", "\U0010ffff"]
    memories(
        engine,
        *(
            {"id": id, "scope": scope, "content": f"{id} writes to {MAIL}"}
            for scope in scopes
            for id in ("1", "10", "/", "\U0010ffff")
        ),
        *({"id": f"other{i}", "scope": scope, "content": f"nothing {i}"} for scope in scopes for i in range(3)),
    )
    # Pruned ones beside live ones, and several of one key.
    engine.database.run(
        "UNWIND ['a/1', 'a/1', 'a/1', 'a/1', 'a/2', 'ab/10', 'zz/1'] AS key CREATE (:Tombstone {key: key, "
        "scope: split(key, '/')[0], tombstone: true, tombstone_labels: ['Curated'], deleted_at: $at, content: $text})",
        {"at": NOW - DAY, "text": f"Wrote to {MAIL}."},
    )
    monkeypatch.setattr(finder, "SEARCH_PAGE", page)
    of_a = {f"a/{id}" for id in ("1", "10", "/", "\U0010ffff", "2")}
    assert {each.key for each in engine.plan_forgetting(Request(phrase=MAIL, scope="a")).targets} == of_a
    live = {f"{scope}/{id}" for scope in scopes for id in ("1", "10", "/", "\U0010ffff")}
    found = engine.plan_forgetting(Request(phrase=MAIL))
    assert {each.key for each in found.targets} == live | {"a/2", "zz/1"}
    engine.forget(Request(phrase=MAIL))
    assert said_anywhere(engine, MAIL) == 0


def test_only_the_clause_goes_where_that_can_be_done(engine: Jochi) -> None:
    memories(
        engine,
        {
            "id": "both",
            "content": "likes tea and lives at 5 Elm St",
            "properties": {"title": "home: 5 Elm St", "tags": ["tea", "5 Elm St"]},
        },
        {
            "id": "first",
            "content": "Alice lives at 5 Elm St and likes tea",
            "properties": {"title": "Alice likes tea and lives at 5 Elm St"},
        },
        {"id": "alone", "content": "Alice lives at 5 Elm St."},
        {"id": "list", "content": "Sie kauft Milch, 5 Elm St und Honig."},
        {"id": "no", "content": "lives at 15 Elm St"},
        {"id": "5 Elm St", "content": "hates tea, and lives at 5 Elm St"},
    )
    engine.database.run(
        "MATCH (m:Curated {key: 'default/both'}) SET m.embedding = [0.5], m.embedding_model = 'x', m.compressed_by = 'y'"
    )
    before = engine.database.run("MATCH (m:Curated {key: 'default/both'}) RETURN m.revision AS r, m.content_hash AS h")[
        0
    ]
    plan = engine.plan_forgetting(Request(phrase="5 Elm St", scope="default"))
    told = {target.key: (target.outcome, target.reason) for target in plan.targets}
    assert told == {
        "default/both": ("cut", None),
        "default/first": ("cut", None),
        "default/alone": ("forget", "it states nothing else"),
        "default/list": ("ask", "it says more, and which of its words say what can't be told"),
        "default/5 Elm St": ("forget", "its id says it"),
    }
    done = engine.forget(Request(phrase="5 elm st.", scope="default"), verify=True)
    assert (done.counts["cut"], done.counts["memories"], len(done.left)) == (2, 2, 1)
    assert [target.key for target in done.asked] == ["default/list"]
    assert content(engine, "default/list") == "Sie kauft Milch, 5 Elm St und Honig."
    done = engine.forget(Request(phrase="5 elm st.", scope="default", unsure="whole"), verify=True)
    assert (done.counts["memories"], done.asked, done.left) == (1, (), ())
    [first] = engine.database.run(
        "MATCH (m:Curated {key: 'default/first'}) RETURN m.content AS content, m.title AS title"
    )
    assert (first["content"], first["title"]) == ("Alice likes tea", "Alice likes tea")
    [row] = engine.database.run(
        "MATCH (m:Curated {key: 'default/both'}) RETURN m.content AS content, m.title AS title, m.tags AS tags, m.embedding AS e, "
        "m.embedding_model AS model, m.content_hash AS h, m.token_count AS n, m.revision AS r, "
        "m.prepare_due IS NOT NULL AS due, m.compressed_by AS by"
    )
    assert (row["content"], row["title"], row["tags"]) == ("likes tea", None, ["tea"])
    assert (row["e"], row["model"], row["h"], row["n"], row["due"], row["by"]) == (None, None, None, None, True, None)
    assert row["r"] == before["r"] + 1
    assert said_anywhere(engine, "5 Elm St") == said_anywhere(engine, "15 Elm St") == 1
    Worker(engine.engine, [PrepareHandler()]).run(once=True)
    again = engine.database.run(
        "MATCH (m:Curated {key: 'default/both'}) RETURN m.content_hash AS h, m.token_count AS n"
    )[0]
    assert again["h"] not in (None, before["h"])
    assert again["n"] > 0


def test_what_was_made_of_it_goes_and_what_rests_on_more_is_marked(engine: Jochi) -> None:
    memories(
        engine,
        {"id": "turn", "content": "I was at the clinic on Monday"},
        {"id": "turn2", "content": "I slept well"},
        {
            "kind": "Belief",
            "id": "only",
            "content": "Alice saw a doctor",
            "relationships": [{"type": "EVIDENCE", "to": "turn"}],
        },
        {
            "kind": "Belief",
            "id": "more",
            "content": "Alice is fine",
            "relationships": [{"type": "EVIDENCE", "to": "turn"}, {"type": "EVIDENCE", "to": "turn2"}],
        },
        {
            "kind": "Synthesis",
            "id": "far",
            "content": "A week of visits",
            "relationships": [{"type": "EVIDENCE", "to": "only"}],
        },
        {
            "kind": "CompressedContext",
            "id": "text",
            "content": "Monday.\nAlice: I was at the clinic on Monday\nBob: oh dear",
        },
        {"id": "loose", "content": "nothing of this", "relationships": [{"type": "ABOUT", "to": "turn"}]},
    )
    plan = {t.key: (t.why, t.outcome) for t in engine.plan_forgetting(Request(keys=("default/turn",))).targets}
    assert plan == {
        "default/turn": ("asked", "forget"),
        "default/only": ("derived", "forget"),
        "default/far": ("derived", "forget"),
        "default/more": ("derived", "mark"),
        "default/text": ("repeats", "cut"),
    }
    done = engine.forget(Request(keys=("default/turn",)), verify=True)
    assert keys(engine) == {"default/turn2", "default/more", "default/text", "default/loose"}
    assert content(engine, "default/text") == "Monday.\nBob: oh dear"
    marked = engine.database.run("MATCH (m:Curated) WHERE m.derive_due IS NOT NULL RETURN collect(m.key) AS keys")[0]
    assert marked["keys"] == ["default/more"]
    assert (done.left, done.counts["to_derive_anew"]) == ((), 1)


def test_everything_the_engine_keeps_of_it_goes(engine: Jochi) -> None:
    """Tombstone, records of prunes and moves, lists of other records, accesses, pairs, plans: nothing names it afterwards."""
    memories(
        engine,
        {"kind": "Notification", "id": "gone", "content": "pay 500 to Mallory", "properties": {"read": True}},
        {"kind": "Notification", "id": "stays", "content": "water the plants", "properties": {"read": True}},
        {"id": "live", "content": "Mallory wants 500"},
        {"id": "beside", "content": "the plants are fine"},
    )
    engine.touch(["default/live"], agent="a", now=NOW)
    run_job(engine.engine, "curate_due", now=NOW, drain=True)
    assert keys(engine, "Tombstone") == {"default/gone", "default/stays"}
    engine.database.run(
        "CREATE (:CurationAudit {id: 'r/1', run: 'r', action: 'demote', rule: 'x', at: $now, property: 'tier', n: 3, "
        "keys: ['default/beside', 'default/live', 'default/stays'], before: ['HOT', 'WARM', 'COLD'], "
        "after: ['WARM', 'COLD', 'ARCHIVE']}) "
        "CREATE (:JochiJobRun {id: 'r', job: 'x', started_at: $now, error: 'failed at default/live: bad'}) "
        "WITH 1 AS one MATCH (j:JochiJob {name: 'curate_due'}) SET j.skip = ['default/live', 'default/beside'] "
        "WITH one MATCH (m:Curated {key: 'default/beside'}) SET m.merged_from = ['default/x', 'default/live']",
        {"now": NOW},
    )
    request = Request(keys=("default/gone", "default/live"))
    done = engine.forget(request, verify=True)
    assert done.left == ()
    assert (keys(engine), keys(engine, "Tombstone")) == ({"default/beside"}, {"default/stays"})
    for text in ("Mallory", "default/gone", "default/live"):
        assert said_anywhere(engine, text) == 0, text
    [record] = engine.database.run(
        "MATCH (a:CurationAudit {id: 'r/1'}) RETURN a.keys AS keys, a.before AS b, a.after AS a, a.n AS n"
    )
    assert record == {
        "keys": ["default/beside", "forgotten", "default/stays"],
        "b": ["HOT", "WARM", "COLD"],
        "a": ["WARM", "COLD", "ARCHIVE"],
        "n": 3,
    }
    assert engine.database.run("MATCH (j:JochiJob {name: 'curate_due'}) RETURN j.skip AS skip") == [
        {"skip": ["default/beside"]}
    ]
    assert engine.database.run("MATCH (m:Curated) RETURN m.merged_from AS f") == [{"f": ["default/x"]}]
    assert done.counts["tombstones"] == 1
    assert done.counts["accesses"] == 1


def graph(client: Jochi) -> dict[str, Any]:
    """All nodes but what forgetting itself keeps, with labels, properties and what hangs on them, by element id."""
    rows = client.database.run(
        "MATCH (n) WHERE NOT (n:JochiForgetting OR n:JochiForgotten OR n:JochiReceipt OR n:JochiScopeChange) "
        "RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS stored, COUNT { (n)--() } AS links",
        write=False,
    )
    return {row.pop("id"): row for row in rows}


def compressed(client: Jochi, key: str, *originals: str) -> None:
    """A record of ``key`` that keeps these contents."""
    client.database.run(
        "CREATE (a:CurationAudit {id: 'c/' + $key, run: 'c', key: $key, scope: split($key, '/')[0], action: 'compress', at: $now}) "
        "FOREACH (text IN $originals | CREATE (a)-[:KEEPS {role: 'before'}]->(:CurationSnapshot {content: text, tier: 'HOT'}))",
        {"key": key, "originals": list(originals), "now": NOW},
    )


def test_a_phrase_of_one_scope_leaves_all_else_as_it_is(engine: Jochi) -> None:
    """Other tenants' memories and copies, switches and counts of scopes with that name, words of our own: none is touched."""
    memories(
        engine,
        {"id": "a", "content": "Alice runs"},
        {"id": "short", "content": "somebody runs", "properties": {"state": "active"}},
        {"scope": "bob", "id": "b", "content": "Alice calls"},
        {"scope": "bob", "id": "short", "content": "somebody calls"},
        {"scope": "alice", "id": "x", "content": "nobody is named here"},
    )
    compressed(engine, "default/short", "As Alice told us, somebody runs", "the same as somebody else told it")
    compressed(engine, "bob/short", "As Alice told us, somebody calls", "the same")
    engine.pause(Switch("scope", "alice"))
    engine.database.run(
        "CREATE (:JochiQuota {key: 'alice/Task', hours: [1], counts: [2]}), (:JochiScope {name: 'alice'}), "
        "(:CurationAudit {id: 'r/alice/x', run: 'r', key: 'alice/x', scope: 'alice', action: 'archive', at: $now, "
        "before_tier: 'HOT'}), "
        "(:JochiJobRun {id: 'curate_due/0', job: 'curate_due', status: 'running', error: 'at alice/x: no'}), "
        "(:CurationAudit {id: 'r/alice/x/demote', run: 'r', action: 'demote', property: 'tier', keys: ['alice/x'], "
        "before: ['HOT'], after: ['COLD'], at: $now})",
        {"now": NOW},
    )
    before = graph(engine)
    plan = engine.plan_forgetting(Request(phrase="Alice", scope="default"))
    assert [(target.key, target.outcome) for target in plan.targets] == [("default/a", "forget")]
    assert plan.records == 1
    for word in ("hot", "running", "active", "curate_due", "tier"):
        engine.forget(Request(phrase=word, scope="default"))
        after = graph(engine)
        assert after == before, word
    done = engine.forget(Request(phrase="Alice", scope="default"), verify=True)
    # In other scopes it may be said: the receipt says where.
    assert sorted(mention.place[0] for mention in done.left) == ["Curated", "CurationSnapshot"]
    after = graph(engine)
    gone = [before[each] for each in before.keys() - after.keys()]
    assert sorted((row["labels"][0], row["stored"].get("content")) for row in gone) == sorted(
        [
            ("CurationSnapshot", "As Alice told us, somebody runs"),
            ("CurationSnapshot", "the same as somebody else told it"),
            ("Curated", "Alice runs"),
        ]
    )
    # One record lost its copies, nothing else is another.
    assert [key for key in after if after[key]["stored"] != before[key]["stored"]] == []
    assert [after[key]["stored"]["key"] for key in after if after[key] != before[key]] == ["default/short"]


def test_a_memory_by_its_id_leaves_what_others_say_of_their_own(engine: Jochi) -> None:
    memories(engine, {"id": "a", "content": "likes tea"}, {"id": "short", "content": "a list of drinks"})
    compressed(engine, "default/short", "Bob likes tea and water")
    before = graph(engine)
    engine.forget(Request(keys=("default/a",)))
    assert {row["stored"].get("content") for key, row in before.items() if key not in graph(engine)} == {"likes tea"}


def test_the_name_of_a_scope_is_no_content(engine: Jochi) -> None:
    """A scope goes with --scope; a memory isn't about Alice for standing in hers, and is learned as before."""
    memories(engine, {"scope": "alice", "id": "x", "content": "water the plants"}, {"id": "y", "content": "ask Alice"})
    engine.forget(Request(phrase="Alice"))
    assert keys(engine) == {"alice/x"}
    memories(engine, {"scope": "alice", "id": "z", "content": "the plants are fine", "properties": {"state": "active"}})
    engine.forget(Request(phrase="active"))
    engine.database.run("MATCH (m:Curated) SET m.prepare_due = $now", {"now": NOW})
    Worker(engine.engine, [PrepareHandler()]).run(once=True)
    assert keys(engine) == {"alice/x", "alice/z"}


@pytest.mark.exhaustive
def test_what_the_breaker_stopped_can_be_approved_when_its_scope_was_forgotten(engine: Jochi) -> None:
    memories(engine, {"scope": "carol", "id": "c", "content": "c"}, {"scope": "bob", "id": "b", "content": "b"})
    for scopes in (["carol", "bob"], ["bob"]):
        run = run_job(engine.engine, "curate_due", now=NOW)[-1].id
        kinds = ["Task", "Belief"][: len(scopes)]
        engine.database.run(
            "MATCH (j:JochiJob {name: 'curate_due'}), (r:JochiJobRun {id: $run}) SET j.stopped_run = $run, r.stopped_at = $now, "
            "r.stopped_scopes = $scopes, r.stopped_kinds = $kinds, r.stopped_windows = ['run', 'run'], r.stopped_counted = [1, 2], "
            "r.stopped_limits = [3, 4], r.stopped_waiting = [5, 6], r.stopped_hours = 24",
            {"run": run, "scopes": scopes, "kinds": kinds, "now": NOW},
        )
        engine.forget(Request(scope=scopes[0]))
        approved = engine.approve_run(run, now=NOW)
        assert [(lift.scope, lift.kind) for lift in approved.lifts] == [("forgotten", "Task"), ("bob", "Belief")][
            : len(scopes)
        ]
        assert engine.database.run("MATCH (j:JochiJob {name: 'curate_due'}) RETURN j.stopped_run AS run") == [
            {"run": None}
        ]


def test_what_was_merged_goes_whichever_is_named(engine: Jochi) -> None:
    memories(
        engine,
        {"id": "one", "content": "The invoice of Mallory is 500 EUR"},
        {"id": "two", "content": "as two"},
        {"id": "far", "content": "the plants are fine"},
    )
    engine.database.run(
        "MATCH (a:Curated {key: 'default/one'}) MATCH (b:Curated {key: 'default/two'}) SET b.content = a.content "
        "CREATE (a)-[:SIMILAR_TO {score: 0.99, same_text: true, found_at: $now, "
        "start_hash: a.content_hash, end_hash: b.content_hash, verdict: 'merge', guard: 'same text', merge_due: $now}]->(b)",
        {"now": NOW},
    )
    run_job(engine.engine, "merge_duplicates", now=NOW, drain=True)
    [dead] = keys(engine, "Tombstone")
    done = engine.forget(Request(keys=(dead,)), verify=True)
    assert (keys(engine), keys(engine, "Tombstone"), done.left) == ({"default/far"}, set(), ())
    assert engine.database.run("MATCH (n) WHERE n:CurationSnapshot OR n:JochiMerged RETURN count(n) AS n") == [{"n": 0}]
    assert said_anywhere(engine, "mallory") == 0


AGAIN = [
    {"content": "Alice LIVES at  5 Elm St", "id": "again"},
    {"content": "note", "id": "new", "properties": {"summary": "moved to 5 Elm St, they say"}},
    {"content": "another note", "id": "tagged", "properties": {"tags": ["x", "5 elm st"]}},
]


def test_it_is_not_learned_again(engine: Jochi) -> None:
    memories(engine, {"id": "a", "content": "Alice lives at 5 Elm St"})
    engine.forget(Request(phrase="5 Elm St", scope="default"))
    rows = [{"kind": "MemoryEntry", **row} for row in AGAIN]
    told = engine.remember([*rows, {"kind": "MemoryEntry", "id": "ok", "content": "15 Elm St"}])
    assert [(result.outcome, result.reason) for result in told.results] == [("refused", "forgotten")] * 3 + [
        ("written", None)
    ]
    # Elsewhere it may be said.
    assert engine.remember([{"scope": "other", **row} for row in rows]).written == 3
    assert engine.allow_again(Request(phrase="5 Elm St", scope="default")) == 2, "its words, and its form"
    assert engine.remember(rows).written == 3


@pytest.mark.parametrize("request_", [Request(phrase=MAIL, scope="default"), Request(scope="default")])
def test_who_writes_it_while_it_is_looked_for_is_refused(
    engine: Jochi, monkeypatch: pytest.MonkeyPatch, request_: Request
) -> None:
    """Who writes faster than it is read would keep a forgetting from ending."""
    memories(engine, {"id": "a", "content": f"write to {MAIL}"})
    find, told = finder.Finder.find, []

    def slow_find(self: finder.Finder, *given: Any) -> finder.Matches:
        row = {"kind": "MemoryEntry", "id": f"again{len(told)}", "content": f"again: {MAIL}"}
        told.extend(engine.remember([row]).results)
        return find(self, *given)

    monkeypatch.setattr(finder.Finder, "find", slow_find)
    done = engine.forget(request_, now=NOW)
    assert {(each.outcome, each.reason) for each in told} == {("refused", "forgotten")}
    assert (keys(engine), done.counts["memories"]) == (set(), 1)
    assert engine.allow_again(request_) == done.counts["sealed"]


def test_a_whole_content_a_fact_and_a_scope_are_not_learned_again(engine: Jochi) -> None:
    fact = {"subject": "Alice", "attribute": "home", "value": "Elm St 5", "valid_from": NOW - 50 * DAY}
    memories(
        engine,
        {"id": "a", "content": "Alice has the flu"},
        {"kind": "Fact", "id": "f", "content": "Alice's home is Elm St 5", "properties": fact},
        {"id": "x", "scope": "carol", "content": "anything"},
    )
    engine.forget(Request(keys=("default/a", "default/f")))
    engine.forget(Request(scope="carol"), verify=True)
    assert keys(engine) == set()
    told = engine.remember(
        [
            {"kind": "MemoryEntry", "id": "b", "content": "alice has the flu."},
            {"kind": "Fact", "id": "g", "content": "said in other words", "properties": fact},
            {"kind": "MemoryEntry", "scope": "carol", "id": "y", "content": "something else"},
            {"kind": "MemoryEntry", "id": "c", "content": "Alice has the flue"},
        ]
    )
    assert [(result.outcome, result.reason) for result in told.results] == [("refused", "forgotten")] * 3 + [
        ("written", None)
    ]
    assert said_anywhere(engine, "carol") == 0


def test_an_import_does_not_learn_it_again(engine: Jochi, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    rows = [
        {
            "kind": "MemoryEntry",
            "id": f"m{i}",
            "content": f"call 0170 {i} now" if i % 2 else f"note {i}",
            "created_at": "2026-01-01T00:00:00Z",
        }
        for i in range(6)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert importing.import_files(engine.database, [file], now=NOW).written == 6
    engine.forget(Request(phrase="0170 3", scope="default"), verify=True)
    again = importing.import_files(engine.database, [file], now=NOW)
    assert (again.written, again.already_there, again.forgotten) == (0, 5, 1)
    assert "default/m3" not in keys(engine)


def test_plain_cypher_is_found_by_the_worker(engine: Jochi) -> None:
    memories(engine, {"id": "a", "content": "Alice has the flu"})
    engine.forget(Request(keys=("default/a",)))
    engine.database.run(
        "UNWIND [['p', 'alice has the flu'], ['q', 'Alice has a cat']] AS r "
        "CREATE (:Curated:MemoryEntry {key: 'default/' + r[0], scope: 'default', "
        "id: r[0], content: r[1], created_at: $now, next_due: $now, prepare_due: $now})",
        {"now": NOW},
    )
    worker = Worker(engine.engine, [PrepareHandler()])
    worker.run(once=True)
    assert keys(engine) == {"default/q"}
    assert worker.progress["prepare"].forgotten == 1


def test_rows_that_nobody_compared_go_to_the_worker(engine: Jochi) -> None:
    """`memory/remember` called from another language gives no forgotten_as_of; one that is too old is refused."""
    memories(engine, {"id": "a", "content": "Alice has the flu"})
    engine.forget(Request(keys=("default/a",)))
    version = engine.database.run("MATCH (g:JochiForgetting {id: 'gate'}) RETURN g.version AS v")[0]["v"]
    rows = [
        {"kind": "MemoryEntry", "id": "b", "content": "alice has the flu", "token_count": 4, "token_counter": "mine"},
        {"kind": "MemoryEntry", "id": "c", "content": "c", "forgotten_as_of": version},
        {"kind": "MemoryEntry", "id": "d", "content": "d", "forgotten_as_of": version - 1},
        {"kind": "MemoryEntry", "id": "e", "content": "e", "forgotten_as_of": "x"},
    ]
    told = engine.engine.call("memory/remember", {"now": NOW, "agent": None, "memories": rows})["results"]
    assert [(row["outcome"], row["reason"]) for row in told] == [
        ("written", None),
        ("written", None),
        ("refused", "forgetting_changed"),
        ("refused", "forgetting_changed"),
    ]
    Worker(engine.engine, [PrepareHandler()]).run(once=True)
    assert keys(engine) == {"default/c"}


def test_a_client_without_the_key_writes_nothing(
    engine: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories(engine, {"id": "a", "content": "Alice has the flu"})
    engine.forget(Request(keys=("default/a",)))
    for text, problem in (
        (None, "there is none here"),
        ("ab" * 32, "the one here is"),
        ("xyz", "no key of forgetting"),
    ):
        other = tmp_path / "other.key"
        other.unlink(missing_ok=True)
        if text:
            other.write_text(text)
        monkeypatch.setenv(VARIABLE, str(other))
        with pytest.raises((Refused, UsageError), match=problem) as refused:
            engine.remember([{"kind": "MemoryEntry", "id": "z", "content": "z"}])
        assert text is None or text not in str(refused.value)
        with pytest.raises((Refused, UsageError), match=problem):
            engine.forget(Request(keys=("default/z",)))
        engine.database.run(
            "CREATE (:Curated:MemoryEntry {key: 'default/w', scope: 'default', id: 'w', content: 'w', prepare_due: $now})",
            {"now": NOW},
        )
        with pytest.raises((Refused, UsageError), match=problem):
            Worker(engine.engine, [PrepareHandler()]).run(once=True)
        assert keys(engine) == {"default/w"}
        assert "lease" not in work_of(engine.database, "default/w")
        engine.database.run("MATCH (m:Curated) DETACH DELETE m")


RAILS: list[tuple[list[str], dict[str, Any], str | None]] = [
    (["MemoryEntry"], {"hold_until": NOW + DAY}, "hold"),
    (["MemoryEntry", "Agent"], {}, "agent_identity"),
    (["MemoryEntry", "AgentKey"], {}, "agent_key"),
    (["MemoryEntry", "Migration"], {}, "migration"),
    (["MemoryEntry", "SystemConfig"], {}, "system_config"),
    (["MemoryEntry"], {"pinned": True}, None),
    (["MemoryEntry"], {"hold_until": NOW}, None),
    (["MemoryEntry"], {"ttl_policy": "keep_forever"}, None),
    (["MemoryEntry"], {"created_at": NOW}, None),
    (["Task"], {"status": "in_progress"}, None),
]


def test_of_the_rails_only_five_stop_an_order(engine: Jochi) -> None:
    rows = [{"id": f"r{i}", "labels": labels, "more": more} for i, (labels, more, _rail) in enumerate(RAILS)]
    engine.database.run(
        "UNWIND $rows AS row CREATE (m:Curated:$(row.labels) {key: 'default/' + row.id, scope: 'default', id: row.id, "
        "content: 'the flu ' + row.id, created_at: $old, next_due: $old}) SET m += row.more",
        {"old": NOW - 40 * DAY, "rows": rows},
    )
    held = {f"default/r{i}": (rail,) for i, (_labels, _more, rail) in enumerate(RAILS) if rail}
    done = engine.forget(Request(keys=tuple(f"default/{row['id']}" for row in rows)), now=NOW)
    assert dict(done.held) == held
    assert keys(engine) == held.keys()
    assert done.receipt.body["protected"] == len(held)


def test_receipts_hold_no_content_and_are_a_chain(engine: Jochi) -> None:
    memories(engine, {"id": "mallory", "content": "Mallory owes 500"}, {"id": "b", "content": "b stays"})
    first = engine.forget(Request(keys=("default/mallory",)), verify=True).receipt
    second = engine.forget(Request(phrase="never said", scope="default")).receipt
    chain = engine.receipts()
    assert [(receipt.number, receipt.previous) for receipt in chain.receipts] == [(1, None), (2, first.hash)]
    assert (chain.broken_at, second.previous, first.clean, second.clean) == (None, first.hash, True, None)
    assert "transaction logs, until they rotate" in first.body["out_of_reach"]
    assert first.body["counts"]["memories"] == 1
    assert said_anywhere(engine, "mallory") == 0
    engine.database.run(
        "MATCH (r:JochiReceipt {number: 1}) SET r.body = replace(r.body, '\"memories\": 1', '\"memories\": 0')"
    )
    assert engine.receipts().broken_at == 1
    engine.database.run("MATCH (r:JochiReceipt {number: 1}) DELETE r")
    assert engine.receipts().broken_at == 2


def test_verify_finds_it_where_an_app_keeps_it(engine: Jochi) -> None:
    memories(engine, {"id": "a", "content": f"write to {MAIL}"})
    engine.database.run(
        "CREATE (:Person2 {mails: ['x', 'ALICE@acme.io'], name: 'Alice'})"
        "-[:KNOWS {since: 'mail of alice@acme.io'}]->(:Thing {t: 'malice@acme.io'})"
    )
    done = engine.forget(Request(phrase=MAIL, scope="default"), verify=True)
    assert sorted((mention.place, mention.names) for mention in done.left) == [
        (("KNOWS",), ("since",)),
        (("Person2",), ("mails",)),
    ]
    assert done.receipt.body["verified"]["found"] == 2
    assert {mention.place for mention in engine.verify_forgotten(Request(phrase=MAIL, scope="default"))} == {
        ("KNOWS",),
        ("Person2",),
    }


def test_a_forgetting_that_was_cut_off_is_finished_by_the_next(engine: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    from jochi.forgetting.mentions import Store

    memories(engine, {"id": "a", "content": f"write to {MAIL}"}, {"id": "b", "content": "b stays"})
    engine.database.run(
        "CREATE (:CurationAudit {id: 'r/1', run: 'r', action: 'demote', rule: 'x', at: $now, n: 2, property: 'tier', "
        "keys: ['default/a', 'default/b'], before: ['', ''], after: ['', '']})",
        {"now": NOW},
    )

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "scrub", cut_off)
        with pytest.raises(KeyboardInterrupt):
            engine.forget(Request(phrase=MAIL, scope="default"), now=NOW)
    assert (keys(engine), said_anywhere(engine, "default/a") > 0) == ({"default/b"}, True)
    assert engine.receipts().receipts == ()
    done = engine.forget(Request(phrase="never said", scope="default"), now=NOW + timedelta(minutes=10), verify=True)
    assert said_anywhere(engine, "default/a") > 0  # it could still be under way
    done = engine.forget(Request(phrase="never said", scope="default"), now=NOW + timedelta(minutes=11), verify=True)
    assert done.left == ()
    assert said_anywhere(engine, "default/a") == 0
    assert [receipt.body["form"] for receipt in engine.receipts().receipts] == ["phrase", "resumed", "phrase"]


def test_what_is_held_by_the_time_it_is_finished_keeps_its_records(
    engine: Jochi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off before it deleted, then put on hold: whoever finishes it leaves the memory alone, and all that is on record of it."""
    from jochi.forgetting.forget import _Forgetting

    memories(engine, {"id": "a", "content": "a stays"}, {"id": "b", "content": "b goes"})
    engine.database.run(
        "UNWIND ['default/a', 'default/b'] AS key CREATE (:CurationAudit {id: 'r/' + key, run: 'r', action: 'archive', rule: 'x', "
        "at: $now, key: key, properties: ['state']})",
        {"now": NOW},
    )

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_Forgetting, "act", cut_off)
        with pytest.raises(KeyboardInterrupt):
            engine.forget(Request(keys=("default/a", "default/b")), now=NOW)
    engine.database.run("MATCH (m:Curated {key: 'default/a'}) SET m.hold_until = $until", {"until": NOW + DAY})
    done = engine.forget(Request(phrase="never said", scope="default"), now=NOW + timedelta(minutes=11))
    assert keys(engine) == {"default/a"}
    assert engine.database.run("MATCH (a:CurationAudit) RETURN a.key AS key") == [{"key": "default/a"}]
    assert done.held == {}
    told = [(receipt.body["form"], receipt.body["protected"]) for receipt in engine.receipts().receipts]
    assert told == [("resumed", 1), ("phrase", 0)]


def test_of_a_scope_in_which_something_is_held_the_rest_leaves_no_trace(engine: Jochi) -> None:
    memories(engine, {"id": "a", "content": "a goes", "scope": "s"}, {"id": "b", "content": "b stays", "scope": "s"})
    engine.database.run(
        "CREATE (:CurationAudit {id: 'r/1', run: 'r', action: 'demote', rule: 'x', at: $now, n: 2, property: 'tier', "
        "keys: ['s/a', 's/b'], before: ['HOT', 'HOT'], after: ['WARM', 'WARM']}) "
        "WITH 1 AS one MATCH (m:Curated {key: 's/b'}) SET m.hold_until = $until",
        {"now": NOW, "until": NOW + DAY},
    )
    done = engine.forget(Request(scope="s"), now=NOW, verify=True)
    assert (keys(engine), dict(done.held), done.left) == ({"s/b"}, {"s/b": ("hold",)}, ())
    assert engine.database.run("MATCH (a:CurationAudit) RETURN a.keys AS keys") == [{"keys": ["forgotten", "s/b"]}]


def test_nothing_that_was_made_of_a_scope_names_it(engine: Jochi) -> None:
    """Manifests with their versions and notes, values, and what waits in the registry of tasks."""

    def make() -> None:
        for scope in ("s", "t"):
            for open in (False, True):
                asked = {"now": NOW, "scope": scope, "open": open, "max_tokens": None}
                engine.engine.call("context/make", asked)

    for scope in ("s", "t"):
        make()
        memories(engine, *({"id": f"m{n}", "content": f"number {n}", "scope": scope} for n in (1, 2)))
        engine.heartbeat.add(NewTask("sweep", "Sweep the floor.", "every 1h"), scope=scope, now=NOW)
        for id in (f"{scope}/m1 again", f"{scope}-1"):
            engine.may_act("discard", None, scope=scope, id=id, now=NOW)
    make()
    engine.database.run(
        "UNWIND ['s', 't'] AS scope CREATE (:JochiManifestChange {scope: scope, at: $now}) "
        "CREATE (:JochiTopicIndex {scope: scope, topics: ['tea'], counts: [1], newest: [scope + '/m1'], newest_of: [0]}) "
        "CREATE (:CurationCycleSummary:JochiJobRun {id: 'pass/' + scope, scope: scope, wanted: ['profile/' + scope + '/m1'], "
        "said: ['', 'of ' + scope + '/m1']}) "
        "WITH scope MATCH (m:Curated {key: scope + '/m1'}) "
        "CREATE (:Curated:CompressedContext {key: scope + '/c', scope: scope, id: 'c', "
        "parent_context_id: 'm1', child_context_ids: ['m1', 'm2']}) "
        "CREATE (m)-[:HAS_VALUE]->(:ValueClassification:JochiValue {scope: scope, id: 'm1'})",
        {"now": NOW},
    )
    engine.forget(Request(keys=("t/m1", "t/sweep")), now=NOW)
    assert engine.verify_forgotten(Request(keys=("t/m1", "t/sweep"))) == []
    assert [each.id for each in engine.actions(scope="t")] == ["t-1"]
    [run] = engine.database.run("MATCH (r:JochiJobRun {id: 'pass/t'}) RETURN r.wanted AS wanted, r.said AS said")
    assert run == {"wanted": [], "said": ["", "forgotten"]}
    assert engine.database.run("MATCH (x:JochiTopicIndex) RETURN x.scope AS scope") == [{"scope": "s"}]
    found = engine.database.run(
        "MATCH (n {scope: 't'}) WHERE n:HeartbeatTaskRegistry OR n:CompressedContext "
        "RETURN n.pending_changes AS pending, n.parent_context_id AS parent, n.child_context_ids AS children ORDER BY n.key"
    )
    assert [tuple(row.values()) for row in found] == [(None, None, ["m2"]), ([], None, None)]
    done = engine.forget(Request(scope="s"), now=NOW, verify=True)
    assert done.left == ()
    left = engine.database.run(
        "MATCH (n) WHERE NOT n:JochiReceipt UNWIND keys(n) AS name WITH n, n[name] AS value "
        "UNWIND CASE WHEN value IS :: LIST<ANY> THEN value ELSE [value] END AS text WITH n, toStringOrNull(text) AS text "
        "WHERE text = 's' OR text STARTS WITH 's/' RETURN labels(n) AS labels, text"
    )
    assert left == []
    assert {each.scope for each in engine.contexts()} == {"t"}
    orphans = "MATCH (v:JochiManifestVersion) WHERE NOT (v)<-[:HAD_VERSION]-() RETURN count(v) AS n"
    assert engine.database.run(orphans) == [{"n": 0}]
    # What is written there later is found, wherever it is.
    engine.database.run(
        "MATCH (n {scope: 't'}) WHERE n:HeartbeatTaskRegistry OR n:JochiManifest AND NOT n.include_sensitive "
        "SET n.pending_changes = ['m1'], n.high_value_insight_ids = ['m1'] "
        "CREATE (:JochiManifestVersion {keys: [], left_keys: ['t/m1']})"
    )
    places = {label for mention in engine.verify_forgotten(Request(keys=("t/m1",))) for label in mention.place}
    assert places >= {"HeartbeatTaskRegistry", "JochiManifest", "JochiManifestVersion"}
    engine.forget(Request(keys=("t/m1",)), now=NOW)
    assert engine.verify_forgotten(Request(keys=("t/m1",))) == []


def test_dense_memories_go_in_bounded_transactions(engine: Jochi) -> None:
    memories(engine, {"id": "a", "content": "Alice has the flu"})
    engine.database.run(
        "MATCH (m:Curated {key: 'default/a'}) UNWIND range(1, 2500) AS i CREATE (m)-[:ABOUT {i: i}]->(:Thing {i: i})"
    )
    done = engine.forget(Request(keys=("default/a",)), verify=True)
    assert (done.counts["relationships"], done.counts["memories"], done.left) == (2500, 1, ())
    assert engine.database.run("MATCH (t:Thing) RETURN count(t) AS n") == [{"n": 2500}]


def test_no_secret_of_the_key_is_stored(engine: Jochi, tmp_path: Path) -> None:
    memories(engine, {"id": "a", "content": "Alice has the flu"})
    engine.forget(Request(keys=("default/a",)))
    file = tmp_path / "keys" / "forget.key"
    assert file.stat().st_mode & 0o077 == 0
    assert said_anywhere(engine, file.read_text().strip()) == 0
    assert SECRET.secret.hex() not in file.read_text()


def test_requests_that_make_no_sense() -> None:
    for wrong in (
        {},
        {"keys": ("a",)},
        {"scope": "a/b"},
        {"scope": " "},
        {"phrase": "..."},
        {"keys": ("s/a",), "phrase": "x"},
        {"hash": "v2:00", "phrase": "x"},
    ):
        with pytest.raises(UsageError):
            Request(**wrong)  # type: ignore[arg-type]
