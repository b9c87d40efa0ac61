"""Forgetting memories of other shapes: shortened ones, all that counts as derived, contents under an app's own name
(docs/reference/forgetting.md)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import TEST_POLICY
from tests.integration.test_compression import TEXT
from tests.integration.test_compression import put as put_long
from tests.integration.test_compression import work as compress
from tests.integration.test_forget import NOW, content, keys, memories, said_anywhere

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.policy import LoadedPolicy, load_policy

pytestmark = pytest.mark.server

ONLY_BEFORE, BOTH = "afternoon", "Berlin"
"""Words of the long content: a summary of it leaves the first out and keeps the second."""

DERIVED = [
    # type, where the derived one stands, its kind
    ("LEARNED_FROM", "in", "Belief"),
    ("SUMMARIZED_TO", "out", "Synthesis"),
    ("PART_OF", "in", "CompressedContext"),
    ("includes", "in", "Storyline"),
    ("groups", "in", "Macro"),
    ("HAS_NOTE", "out", "Note"),
    ("ADDED_IN", "in", "Note"),
    ("HAS_VALUE", "out", "ValueClassification"),
    ("IN_BOX", "out", "MemoryBox"),
    ("IN_TRACE", "out", "Trace"),
]


@pytest.fixture
def engine(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    jochi.apply()
    return jochi


@pytest.fixture
def own_names(install_once: Callable[[LoadedPolicy], Jochi], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    """A kind that keeps its content as `wording`, and is compressed."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    file = tmp_path / "own.toml"
    file.write_text(
        f"{TEST_POLICY.read_text()}\n[compression]\nkinds = ['CompressedContext', 'Memo']\n"
        "[kinds.Memo]\nclass = '60min'\nproperties = { content = 'wording' }\n"
    )
    client = install_once(load_policy(file))
    client.apply()
    return client


def shortened(client: Jochi, kind: str = "CompressedContext", name: str = "content") -> str:
    """A memory with a summary, whose long content a record keeps."""
    given = {name: TEXT} if name == "content" else {name: TEXT, "content": None}
    key = put_long(client, "long", kind, **given)
    assert compress(client)["done"] == 1
    [row] = client.database.run(f"MATCH (m:Curated {{key: $key}}) RETURN m.{name} AS said", {"key": key}, write=False)
    assert (BOTH in row["said"], ONLY_BEFORE in row["said"]) == (True, False)
    assert said_anywhere(client, ONLY_BEFORE) == 1
    return key


def copies(client: Jochi) -> int:
    rows = client.database.run("MATCH (s:CurationSnapshot) RETURN count(s) AS n", write=False)
    return int(rows[0]["n"])


def learned_again(client: Jochi, text: str, kind: str = "CompressedContext") -> str | None:
    told = client.remember([{"kind": kind, "scope": "s", "id": "again", "content": text}], now=NOW)
    return told.results[0].reason


def test_of_a_shortened_memory_the_original_goes_as_well_by_id(engine: Jochi) -> None:
    key = shortened(engine)
    summary = content(engine, key)
    assert summary is not None
    done = engine.forget(Request(keys=(key,)), verify=True)
    assert (keys(engine), copies(engine), done.left) == (set(), 0, ())
    assert [said_anywhere(engine, word) for word in (BOTH, ONLY_BEFORE, "s/long")] == [0, 0, 0]
    assert [learned_again(engine, text) for text in (TEXT, summary, "Ann: It rained.")] == ["forgotten"] * 2 + [None]


@pytest.mark.parametrize("clauses", [True, False])
def test_a_word_of_summary_and_original_is_in_neither_afterwards(engine: Jochi, clauses: bool) -> None:
    key = shortened(engine)
    plan = engine.plan_forgetting(Request(phrase=BOTH, scope="s", clauses=clauses))
    assert [target.key for target in plan.targets] == [key]
    done = engine.forget(Request(phrase=BOTH, scope="s", clauses=clauses), verify=True)
    assert (copies(engine), said_anywhere(engine, BOTH), done.left) == (0, 0, ())
    # What is left of the summary may stay; the original, which said it, may not.
    assert (keys(engine) == set()) == (not clauses or plan.targets[0].outcome == "forget")
    assert said_anywhere(engine, ONLY_BEFORE) == 0
    assert engine.decompress([key], now=NOW + timedelta(days=1)) != [key]


def test_a_word_of_the_original_alone_takes_the_original_and_leaves_the_summary(engine: Jochi) -> None:
    key = shortened(engine)
    summary = content(engine, key)
    plan = engine.plan_forgetting(Request(phrase=ONLY_BEFORE, scope="s"))
    assert (plan.targets, plan.records) == ((), 1)
    done = engine.forget(Request(phrase=ONLY_BEFORE, scope="s"), verify=True)
    assert (copies(engine), said_anywhere(engine, ONLY_BEFORE), done.left) == (0, 0, ())
    assert content(engine, key) == summary
    assert learned_again(engine, "A quiet afternoon.") == "forgotten"


@pytest.mark.parametrize("dead", [False, True])
@pytest.mark.parametrize(("type", "side", "kind"), DERIVED)
def test_each_relationship_of_the_policy_makes_a_derived_memory(
    engine: Jochi, type: str, side: str, kind: str, dead: bool
) -> None:
    """What was made of the one that goes alone; of that and another; and what merely has the relationship the other way round."""
    memories(engine, {"id": "source", "content": "Alice saw a doctor"}, {"id": "other", "content": "Alice slept well"})
    label = "Tombstone" if dead else f"Curated:{kind}"
    left, right = ("(d)", "(s)") if side == "in" else ("(s)", "(d)")
    engine.database.run(
        f"UNWIND [['alone', ['source']], ['both', ['source', 'other']], ['not', ['other']]] AS row "
        f"CREATE (d:{label} {{key: 'default/' + row[0], scope: 'default', id: row[0], content: 'made of it: ' + row[0], "
        f"created_at: $now, deleted_at: CASE WHEN $dead THEN $now END, tombstone: CASE WHEN $dead THEN true END, "
        f"tombstone_labels: CASE WHEN $dead THEN ['Curated', '{kind}'] END}}) "
        f"WITH d, row UNWIND row[1] AS id MATCH (s:Curated {{key: 'default/' + id}}) CREATE {left}-[:{type}]->{right}",
        {"now": NOW, "dead": dead},
    )
    engine.database.run(
        f"MATCH (s:Curated {{key: 'default/source'}}) "
        f"CREATE (d:Curated:{kind} {{key: 'default/round', scope: 'default', id: 'round', content: 'round', created_at: $now}}) "
        f"CREATE {right}-[:{type}]->{left}",
        {"now": NOW},
    )
    done = engine.forget(Request(keys=("default/source",)), verify=True)
    left_over = keys(engine) | keys(engine, "Tombstone")
    # Nobody derives a tombstone anew: it goes.
    stay = {"default/other", "default/not", "default/round"} | (set() if dead else {"default/both"})
    assert left_over == stay
    assert (done.left, said_anywhere(engine, "made of it: alone")) == ((), 0)
    marked = engine.database.run("MATCH (m:Curated) WHERE m.derive_due IS NOT NULL RETURN collect(m.key) AS keys")[0]
    assert marked["keys"] == ([] if dead else ["default/both"])


def test_only_a_compressed_context_is_made_of_its_parts(engine: Jochi) -> None:
    """A turn is a part of its session as well: it isn't made of it."""
    memories(
        engine,
        {"kind": "SessionContext", "id": "session", "content": "Monday with Alice"},
        {"id": "turn", "content": "good morning", "relationships": [{"type": "PART_OF", "to": "session"}]},
        {
            "kind": "CompressedContext",
            "id": "text",
            "content": "they met",
            "relationships": [{"type": "PART_OF", "to": "session"}],
        },
    )
    engine.forget(Request(keys=("default/session",)), verify=True)
    assert keys(engine) == {"default/turn"}


def test_what_is_derived_goes_to_the_end_of_a_chain_of_several_types(engine: Jochi) -> None:
    memories(
        engine,
        {"id": "source", "content": "Alice saw a doctor"},
        *({"kind": kind, "id": id, "content": id} for kind, id in (("Belief", "b"), ("Synthesis", "y"), ("Note", "n"))),
    )
    engine.database.run(
        "MATCH (s:Curated {key: 'default/source'}), (b:Curated {key: 'default/b'}), (y:Curated {key: 'default/y'}), "
        "(n:Curated {key: 'default/n'}) "
        "CREATE (b)-[:LEARNED_FROM]->(s), (b)-[:SUMMARIZED_TO]->(y), (y)-[:HAS_NOTE]->(n), (s)<-[:EVIDENCE]-(n)"
    )
    engine.forget(Request(keys=("default/source",)), verify=True)
    assert keys(engine) == set()


def test_a_content_under_another_name_is_read_cut_and_not_learned_again(own_names: Jochi) -> None:
    rows = [
        {"kind": "Memo", "id": "both", "content": "likes tea and lives at 5 Elm St"},
        {"kind": "Memo", "id": "first", "content": "Alice lives at 5 Elm St and likes tea"},
        {"kind": "MemoryEntry", "id": "again", "content": "As they say: Bob called on Monday. So he did"},
        {"kind": "Memo", "id": "bob", "content": "Bob called on Monday"},
    ]
    assert own_names.remember(rows, now=NOW - timedelta(days=40)).written == 4
    plan = own_names.plan_forgetting(Request(phrase="5 Elm St", scope="default"))
    assert {target.key: (target.outcome, target.content) for target in plan.targets} == {
        "default/both": ("cut", "likes tea and lives at 5 Elm St"),
        "default/first": ("forget", "Alice lives at 5 Elm St and likes tea"),
    }
    own_names.forget(Request(phrase="5 Elm St", scope="default"), verify=True)
    [left] = own_names.database.run(
        "MATCH (m:Curated {key: 'default/both'}) RETURN m.wording AS said, m.content_hash AS hash, m.prepare_due IS NOT NULL AS due"
    )
    assert left == {"said": "likes tea", "hash": None, "due": True}
    # What another memory repeats word for word goes with it, whatever either calls its content.
    told = {t.key: t.why for t in own_names.plan_forgetting(Request(keys=("default/bob",))).targets}
    assert told == {"default/bob": "asked", "default/again": "repeats"}
    own_names.forget(Request(keys=("default/bob",)), verify=True)
    assert said_anywhere(own_names, "Bob called") == 0
    told_again = own_names.remember(
        [{"kind": kind, "id": kind, "content": "bob called on monday."} for kind in ("Memo", "MemoryEntry")], now=NOW
    )
    assert [result.reason for result in told_again.results] == ["forgotten", "forgotten"]


def test_the_original_of_a_content_under_another_name_goes_and_is_not_learned_again(own_names: Jochi) -> None:
    key = shortened(own_names, "Memo", "wording")
    own_names.remember(
        [{"kind": "MemoryEntry", "scope": "s", "id": "repeats", "content": f"A transcript.\n{TEXT}\nThe end."}], now=NOW
    )
    told = {t.key: t.why for t in own_names.plan_forgetting(Request(keys=(key,))).targets}
    assert told == {key: "asked", "s/repeats": "repeats"}
    done = own_names.forget(Request(keys=(key,)), verify=True)
    assert (copies(own_names), done.left) == (0, ())
    assert [said_anywhere(own_names, word) for word in (BOTH, ONLY_BEFORE)] == [0, 0]
    assert learned_again(own_names, TEXT, "Memo") == "forgotten"


def test_a_forgotten_scope_is_in_no_job_that_walks_scopes(engine: Jochi) -> None:
    """Where the job of budgets stands is the bare name of a scope; so is what it passes over."""
    memories(engine, *({"scope": scope, "id": "m", "content": "It rained."} for scope in ("anna", "carol", "dora")))
    engine.database.run("MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.batch_size = 2, j.max_batches = 1")
    engine.run("enforce_budgets", now=NOW)
    engine.database.run(
        "MATCH (j:JochiJob {name: 'enforce_budgets'}) SET j.skip = ['carol', 'dora'], j.check_cursor = 'carol'"
    )
    job = "MATCH (j:JochiJob {name: 'enforce_budgets'}) RETURN j.cursor AS cursor, j.check_cursor AS check, j.skip AS skip"
    assert engine.database.run(job, write=False) == [{"cursor": "carol", "check": "carol", "skip": ["carol", "dora"]}]
    done = engine.forget(Request(scope="carol"), verify=True)
    assert (done.left, said_anywhere(engine, "carol")) == ((), 0)
    assert engine.database.run(job, write=False) == [{"cursor": None, "check": None, "skip": ["dora"]}]
    assert [run.error for run in engine.run("enforce_budgets", now=NOW + timedelta(hours=1))] == [None]
