"""Forgetting memories of other shapes: shortened ones, all that counts as derived, contents under an app's own name
(docs/reference/forgetting.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests import merge_graph
from tests.conftest import PolicyWith, say_go
from tests.integration.test_compression import TEXT
from tests.integration.test_compression import put as put_long
from tests.integration.test_compression import work as compress
from tests.integration.test_forget import DAY, NOW, content, keys, memories, said_anywhere
from tests.oracle.memory import Memory
from tests.oracle.merging import Graph, Rel

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.forgetting.words import folded_needle, pattern_of_words, phrase, says
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy
from jochi.text.content import content_hash
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

ONLY_BEFORE, BOTH = "mildly", "Berlin"
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
    ("IN_BOX", "out", "MemoryBox"),
    ("IN_TRACE", "out", "Trace"),
]


@pytest.fixture
def engine(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    say_go(jochi)
    return jochi


@pytest.fixture
def own_names(
    install_once: Callable[[LoadedPolicy], Jochi],
    policy_with: PolicyWith,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Jochi:
    """A kind that keeps its content as `wording`, and is compressed."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    memo = "[kinds.Memo]\nclass = '60min'\nproperties = { content = 'wording' }"
    client = install_once(policy_with(f"[compression]\nkinds = ['CompressedContext', 'Memo']\n{memo}"))
    say_go(client)
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


@pytest.mark.exhaustive
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
    request = Request(phrase=BOTH, scope="s", clauses=clauses, unsure="whole")
    plan = engine.plan_forgetting(request)
    assert [target.key for target in plan.targets] == [key]
    done = engine.forget(request, verify=True)
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
    assert learned_again(engine, "They talked mildly.") == "forgotten"


def test_each_relationship_of_the_policy_makes_a_derived_memory(engine: Jochi) -> None:
    """What was made of the one that goes alone; of that and another; and what merely has the relationship the other way round.
    Live and as a tombstone, each in a scope of its own."""
    rows = [
        {"scope": f"{type}-{dead}", "type": type, "in": side == "in", "kind": kind, "dead": dead}
        for type, side, kind in DERIVED
        for dead in (False, True)
    ]
    said = {"source": "Alice saw a doctor", "other": "Alice slept well"}
    memories(engine, *({"scope": row["scope"], "id": id, "content": said[id]} for row in rows for id in said))
    engine.database.run(
        "UNWIND $rows AS row UNWIND [['alone', ['source']], ['both', ['source', 'other']], ['not', ['other']]] AS made "
        "CREATE (d:$(CASE WHEN row.dead THEN ['Tombstone'] ELSE ['Curated', row.kind] END) {key: row.scope + '/' + made[0], "
        "scope: row.scope, id: made[0], content: 'made of it: ' + made[0] + ' ' + row.scope, created_at: $now, "
        "deleted_at: CASE WHEN row.dead THEN $now END, tombstone: CASE WHEN row.dead THEN true END, "
        "tombstone_labels: CASE WHEN row.dead THEN ['Curated', row.kind] END}) "
        "WITH d, row, made UNWIND made[1] AS id MATCH (s:Curated {key: row.scope + '/' + id}) "
        "FOREACH (x IN CASE WHEN row.in THEN [1] ELSE [] END | CREATE (d)-[:$(row.type)]->(s)) "
        "FOREACH (x IN CASE WHEN row.in THEN [] ELSE [1] END | CREATE (s)-[:$(row.type)]->(d))",
        {"now": NOW, "rows": rows},
    )
    engine.database.run(
        "UNWIND $rows AS row MATCH (s:Curated {key: row.scope + '/source'}) "
        "CREATE (d:Curated:$(row.kind) {key: row.scope + '/round', scope: row.scope, id: 'round', content: 'x', created_at: $now}) "
        "FOREACH (x IN CASE WHEN row.in THEN [1] ELSE [] END | CREATE (s)-[:$(row.type)]->(d)) "
        "FOREACH (x IN CASE WHEN row.in THEN [] ELSE [1] END | CREATE (d)-[:$(row.type)]->(s))",
        {"now": NOW, "rows": rows},
    )
    done = engine.forget(Request(keys=tuple(f"{row['scope']}/source" for row in rows)), verify=True)
    # Nobody derives a tombstone anew: it goes.
    live = {f"{row['scope']}/both" for row in rows if not row["dead"]}
    stay = {f"{row['scope']}/{id}" for row in rows for id in ("other", "not", "round")} | live
    assert keys(engine) | keys(engine, "Tombstone") == stay
    assert (done.left, said_anywhere(engine, "made of it: alone")) == ((), 0)
    marked = engine.database.run("MATCH (m:Curated) WHERE m.derive_due IS NOT NULL RETURN collect(m.key) AS keys")[0]
    assert set(marked["keys"]) == live


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
        "default/first": ("cut", "Alice lives at 5 Elm St and likes tea"),
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


def twins(client: Jochi) -> None:
    """b is merged into a; both are about x, and flagged with it."""

    def one(id: str, text: str) -> Memory:
        held = {"created_at": NOW - 40 * DAY, "content": text, "content_hash": content_hash(text), "tier": "COLD"}
        return Memory(id, ("MemoryEntry",), held)

    said = {"a": "It rained.", "b": "It rained.", "x": "We met in Oslo."}
    rels = [
        Rel("1", "ABOUT", "default/b", "default/x", {"w": 1}),
        Rel("2", "ABOUT", "default/a", "default/x", {"w": 2}),
        Rel("3", "CAUSED", "default/x", "default/b", {"unlinked": ["default/b"]}),
        # What has more survives.
        *(Rel(f"t{n}", "ABOUT", "default/a", merge_graph.THING, {"w": n}) for n in range(10)),
    ]
    nodes = [one(id, text) for id, text in said.items()]
    merge_graph.write(client.database, Graph({m.key: m for m in nodes}, {rel.id: rel for rel in rels}))
    merge_graph.flag(client.database, "default/a", "default/b", NOW)
    merge_graph.flag(client.database, "default/a", "default/x", NOW + 400 * DAY)
    assert sum(run.changed for run in run_job(client.engine, "merge_duplicates", now=NOW, drain=True)) == 1
    # On the two relationships that moved, on the flag that has no counterpart, and in the records.
    assert links_with(client, "default/b") == ["ABOUT", "CAUSED", "SIMILAR_TO"]


def links_with(client: Jochi, key: str) -> list[str]:
    """Types of the relationships that name a key."""
    rows = client.database.run(
        "MATCH ()-[r]->() UNWIND keys(r) AS name WITH r, r[name] AS v "
        "WITH r, CASE WHEN v IS :: LIST<STRING> NOT NULL THEN v ELSE [v] END AS each "
        "WHERE any(t IN each WHERE coalesce(toStringOrNull(t), '') CONTAINS $key) "
        "RETURN DISTINCT elementId(r) AS id, type(r) AS type ORDER BY type",
        {"key": key},
        write=False,
    )
    return [row["type"] for row in rows]


def test_of_what_was_merged_away_no_relationship_keeps_a_mark(engine: Jochi) -> None:
    twins(engine)
    # It would go with the other one, but for a hold.
    engine.database.run("MATCH (m:Curated {key: 'default/a'}) SET m.hold_until = $until", {"until": NOW + 9_000 * DAY})
    done = engine.forget(Request(keys=("default/b",)), verify=True)
    assert (set(done.held), keys(engine)) == ({"default/a"}, {"default/a", "default/x"})
    # The app's own property of that name stays, and isn't found to be ours; what is held says what was forgotten.
    assert links_with(engine, "default/b") == ["CAUSED"]
    assert {name for mention in done.left for name in mention.names} == {"content", "start_said"}
    rows = engine.database.run(
        "MATCH (:Curated {key: 'default/a'})-[r]-(:Curated {key: 'default/x'}) "
        "RETURN type(r) AS type, r.w AS w, r.curation_merges AS marks ORDER BY type, w",
        write=False,
    )
    assert [(row["type"], row["w"]) for row in rows] == [
        ("ABOUT", 1),
        ("ABOUT", 2),
        ("CAUSED", None),
        ("SIMILAR_TO", None),
    ]
    assert {row["marks"] is None for row in rows} == {True}


@pytest.mark.exhaustive
def test_whom_a_merged_one_led_to_is_in_no_copy_and_the_merge_can_be_taken_back(engine: Jochi) -> None:
    twins(engine)
    assert links_with(engine, "default/x") == ["KEEPS", "KEEPS"]
    done = engine.forget(Request(keys=("default/x",)), verify=True)
    assert (links_with(engine, "default/x"), said_anywhere(engine, "default/x"), done.left) == ([], 0, ())
    [told] = engine.unmerge(["default/b"], now=NOW + DAY)
    assert (told.outcome, keys(engine)) == ("unmerged", {"default/a", "default/b"})


def test_verify_finds_a_mark_that_is_left(engine: Jochi) -> None:
    twins(engine)
    found = engine.verify_forgotten(Request(keys=("default/b",)))
    assert Counter(mention.place for mention in found if mention.place[0].isupper()) >= Counter(
        [("ABOUT",), ("CAUSED",), ("SIMILAR_TO",)]
    )


@pytest.mark.slow
@pytest.mark.parametrize("gone", ["a", "b"])
def test_a_merge_under_way_ends_with_either_of_the_two(engine: Jochi, gone: str) -> None:
    """A dense one's relationships are copied page by page before it is merged."""
    nodes = [
        Memory(
            id,
            ("MemoryEntry",),
            {
                "created_at": NOW - 40 * DAY,
                "content": f"Said by {id}.",
                "content_hash": f"h-{id}",
                "access_count": count,
                **more,
            },
        )
        for id, count, more in (("a", 900, {"last_accessed_at": NOW, "agents": ["p", "q", "r"]}), ("b", 0, {}))
    ]
    rels = [
        Rel(str(n), "ABOUT", "default/b", merge_graph.THING, {"w": n, "confidence": 0.9, "last_reinforced_at": NOW})
        for n in range(1_100)
    ]
    rels += [
        Rel("own", "ABOUT", "default/a", merge_graph.THING, {"w": 7, "confidence": 0.5, "created_at": NOW - 60 * DAY})
    ]
    merge_graph.write(engine.database, Graph({m.key: m for m in nodes}, {rel.id: rel for rel in rels}))
    merge_graph.flag(engine.database, "default/a", "default/b", NOW, same_text=False, decision="approved")
    engine.database.run("MATCH (j:JochiJob {name: 'merge_duplicates'}) SET j.max_batches = 1")
    run_job(engine.engine, "merge_duplicates", now=NOW)
    ways = (
        "MATCH (m:Curated)-[r:ABOUT]->(:Thing) RETURN m.id AS id, count(r) AS n, min(r.confidence) AS least, "
        "count(r.curation_copied) + count(r.curation_copy_of) + count(r.curation_paired) AS marks ORDER BY id"
    )
    under_way = engine.database.run(ways, write=False)
    assert [row["n"] >= 1_000 for row in under_way] == [True, True]
    assert all(row["marks"] >= 1_000 for row in under_way)
    done = engine.forget(Request(keys=(f"default/{gone}",)), verify=True)
    left = {"id": "b", "n": 1_100, "least": 0.9} if gone == "a" else {"id": "a", "n": 1, "least": 0.5}
    assert engine.database.run(ways, write=False) == [left | {"marks": 0}]
    assert (said_anywhere(engine, f"default/{gone}"), done.left) == (0, ())
    assert engine.database.run("MATCH (g:JochiMerging) RETURN count(g) AS n", write=False) == [{"n": 0}]


def test_the_database_folds_as_we_suppose(engine: Jochi) -> None:
    """Whatever it looks for first is in every text that says it, whatever letter or mark that has."""
    texts = [f"zz{chr(code)}zz" for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    asked = [(text, phrase(text)) for text in texts]
    rows = [
        {"text": text, "needle": folded_needle(said), "pattern": f"(?s){pattern_of_words([said])}"}
        for text, said in asked
        if said and says(text, said)
    ]
    assert len(rows) > 90_000
    missed = engine.database.run(
        "UNWIND $rows AS row WITH row, toLower(normalize(row.text, NFKC)) AS text "
        "WHERE NOT (text CONTAINS row.needle OR normalize(text, NFKD) =~ row.pattern) RETURN row.text AS text",
        {"rows": rows},
        write=False,
    )
    assert missed == []


SPELLINGS = [
    ("Ο Αλέξανδρος μένει στην Αθήνα.", "Αλέξανδρος"),
    ("Ο ΑΛΈΞΑΝΔΡΟΣ μένει στην Αθήνα.", "Αλέξανδρος"),
    ("She takes 50µg/ml of it.", "50μg/ml"),
    ("Her oﬃce is in Bonn.", "office"),
    ("Wohnt in der Hauptstraße.", "HAUPTSTRASSE"),
]


def test_a_phrase_is_found_however_its_letters_are_written(engine: Jochi) -> None:
    for i, (said, wanted) in enumerate(SPELLINGS):
        memories(engine, {"scope": f"s{i}", "id": "m", "content": said})
        found = engine.verify_forgotten(Request(phrase=wanted, scope=f"s{i}"))
        assert [mention.place[0] for mention in found] == ["Curated"]
        done = engine.forget(Request(phrase=wanted, scope=f"s{i}", clauses=False), verify=True)
        assert (keys(engine), done.left) == (set(), ())


@pytest.mark.parametrize(
    ("other", "request_"),
    [
        ("default/doc1:3", Request(keys=("default/doc1",))),
        pytest.param("default/doc1/3", Request(keys=("default/doc1",)), marks=pytest.mark.exhaustive),
        ("default/docs/readme", Request(scope="docs")),
        pytest.param("default/docs/m1", Request(keys=("docs/m1",)), marks=pytest.mark.exhaustive),
    ],
)
def test_what_belongs_to_a_key_with_another_in_it_stays(engine: Jochi, other: str, request_: Request) -> None:
    scope, id = other.split("/", 1)
    asked = request_.keys[0].split("/", 1) if request_.keys else ["docs", "m"]
    memories(
        engine,
        {"scope": asked[0], "id": asked[1], "content": "It rained."},
        {"scope": scope, "id": id, "kind": "Notification", "content": "A ping.", "properties": {"read": True}},
        {"scope": scope, "id": f"{id}b", "content": "We met."},
    )
    engine.database.run("MATCH (m:Curated {key: $key}) SET m.next_due = $now", {"key": other, "now": NOW})
    [done] = engine.run("curate_due", now=NOW)
    assert (done.changed, keys(engine, "Tombstone")) == (1, {other})
    [run] = engine.database.run("MATCH (a:CurationAudit {action: 'prune'}) RETURN a.run AS id", write=False)
    engine.touch([f"{other}b"], agent="x")
    records = "MATCH (n:CurationAudit|CurationSnapshot|JochiAccess) RETURN count(n) AS n, count(n.key) AS keys"
    before = engine.database.run(records, write=False)
    assert engine.forget(request_, verify=True).counts["memories"] == 1
    assert engine.database.run(records, write=False) == before
    assert dict(engine.undo(run["id"]).counts) == {"undone": 1}
    assert other in keys(engine)


def test_words_on_relationships_are_not_learned_again(engine: Jochi) -> None:
    memories(engine, {"scope": "s", "id": "m", "content": "It rained."})
    engine.forget(Request(phrase="5 Elm St", scope="s"))
    rows = [
        {"kind": "MemoryEntry", "scope": "s", "id": id, "content": f"We met {id}.", "relationships": [link]}
        for id, link in (
            ("x", {"type": "ABOUT", "to": "m", "properties": {"note": "at 5 Elm St"}}),
            ("y", {"type": "ABOUT", "to": "m", "properties": {"note": "at 6 Elm St"}}),
        )
    ]
    told = engine.remember(rows, now=NOW).results
    assert [(each.outcome, each.reason) for each in told] == [("refused", "forgotten"), ("written", None)]


def test_what_is_learned_again_under_a_hold_is_not_worked_and_is_told(engine: Jochi) -> None:
    memories(engine, {"scope": "s", "id": "m", "content": "Alice has the flu."})
    engine.forget(Request(keys=("s/m",)))
    engine.database.run(
        "UNWIND [{id: 'held', hold: $until}, {id: 'free', hold: null}] AS row CREATE (m:Curated:MemoryEntry {key: 's/' + row.id, "
        "scope: 's', id: row.id, content: 'alice has the flu', created_at: $now, next_due: $now, prepare_due: $now, "
        "hold_until: row.hold})",
        {"now": NOW, "until": datetime.now(timezone.utc) + 9 * DAY},
    )
    worker = Worker(engine.engine, [PrepareHandler()])
    worker.run(once=True)
    progress = worker.progress["prepare"]
    assert (progress.forgotten, progress.failed, progress.done) == (1, 1, 0)
    [left] = engine.database.run(
        "MATCH (m:Curated) RETURN m.id AS id, m.content_hash AS hash, "
        "head(COLLECT { MATCH (w:JochiWork {key: m.key}) RETURN w.error }) AS error",
        write=False,
    )
    assert (left["id"], left["hash"]) == ("held", None)
    assert "was forgotten on request" in left["error"]
