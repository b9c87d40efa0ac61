"""Merging what was judged to be one, and taking it back: what holds it up, what it leaves, what comes back
(docs/reference/merge.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests import merge_graph
from tests.conftest import TestServer, say_go
from tests.merge_graph import MARK, flag, flag_of
from tests.oracle.clusters import Pair, is_complete
from tests.oracle.memory import Memory
from tests.oracle.merging import Graph, Rel, merge, unmerge
from tests.oracle.value import score as score_of
from tests.tally import examples

from jochi import Jochi
from jochi.curate.plan import PlanQuota
from jochi.database.database import in_one_map
from jochi.errors import Refused
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch
from jochi.jobs.runner import run_job
from jochi.policy import load_policy

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
A, B, C, D = "default/a", "default/b", "default/c", "default/d"
JOB = "merge_duplicates"


_READ = re.compile(r"measured\[i\]\.score\.least\.mvs")
_WEIGH = "MATCH (p:JochiProcedure {name: 'dedup/weigh'}) RETURN p.body AS body"
_STORE = "MATCH (p:JochiProcedure {name: 'dedup/weigh'}) SET p.body = $body"


@pytest.fixture
def scored(jochi: Jochi) -> Jochi:
    say_go(jochi)
    return jochi


@pytest.fixture
def client(scored: Jochi) -> Iterator[Jochi]:
    """Here a memory's score is what it has stored in `mvs`, if that is above 0, else 0: what a test is about doesn't decide
    who survives."""
    [row] = scored.database.run(_WEIGH)
    [formula] = _READ.findall(row["body"])
    stored = "CASE WHEN toFloatOrNull(measured[i].m.mvs) > 0 THEN toFloatOrNull(measured[i].m.mvs) ELSE 0.0 END"
    scored.database.run(_STORE, {"body": row["body"].replace(formula, stored)})
    yield scored
    scored.database.run(_STORE, row)


def test_the_score_of_the_moment_says_who_survives(scored: Jochi) -> None:
    """The younger one's recency, the surer one, not what is stored; of a tie the first key, and not the bloated one."""
    as_old = {"created_at": NOW - 40 * DAY}
    cases = [
        ({}, "b"),
        ({"confidence": 1.0}, "a"),
        ({"mvs": 9.0}, "b"),
        (as_old, "a"),
        (as_old | {"token_count": 900}, "b"),
    ]
    write_pairs(scored, [(mine, {}, {}) for mine, _ in cases])
    now = merge_graph.read(scored.database)
    assert [pair[0][8] for pair in sorted(merged(scored), key=lambda pair: pair[0][9])] == [who for _, who in cases]
    for audit in merge_graph.merge_audits(scored.database):
        expected = {key: score_of(now.nodes[key], NOW, None).mvs for key in (audit["into"], audit["key"])}
        assert {audit["into"]: audit["into_mvs"], audit["key"]: audit["mvs"]} == pytest.approx(expected, abs=1e-9)


def memory(id: str, kind: str = "MemoryEntry", age: float = 40, **properties: Any) -> Memory:
    made = {"created_at": NOW - age * DAY, "content": "one text", "content_hash": f"h-{id}"} | properties
    return Memory(id, (kind,), {name: value for name, value in made.items() if value is not None})


def put(client: Jochi, *memories: Memory, rels: tuple[Rel, ...] = ()) -> None:
    merge_graph.clear(client.database)
    merge_graph.write(client.database, Graph({m.key: m for m in memories}, {r.id: r for r in rels}))


def merged(client: Jochi, now: datetime = NOW) -> list[tuple[str, str]]:
    """Runs the job until nothing is left; (survivor, other) of the merges of these runs, in the order of their keys."""
    before = {audit["id"] for audit in merge_graph.merge_audits(client.database)}
    runs = run_job(client.engine, JOB, now=now, drain=True)
    assert [one.error for one in runs if one.error] == []
    return [(a["into"], a["key"]) for a in merge_graph.merge_audits(client.database) if a["id"] not in before]


def one(client: Jochi, key: str) -> dict[str, Any]:
    rows = client.database.run(
        "MATCH (m {key: $key}) WHERE m:Curated OR m:Tombstone RETURN properties(m) AS p, labels(m) AS l",
        {"key": key},
        write=False,
    )
    assert len(rows) == 1
    return {"labels": sorted(rows[0]["l"])} | {name: to_python(value) for name, value in rows[0]["p"].items()}


def pair(client: Jochi, mine: dict[str, Any], other: dict[str, Any], kind: str = "MemoryEntry", **said: Any) -> None:
    """a, which survives by its age, and b, with a flag that lets them merge."""
    put(client, memory("a", kind, 50, **mine), memory("b", kind, **other))
    flag(client.database, A, B, NOW, **said)


Case = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]
"""What a has, what b has, and what their flag says; its ``then`` is what is done to the two afterwards."""
Outcome = tuple[list[str], datetime | None]
MERGED: Outcome = ([], None)


def write_pairs(client: Jochi, cases: Sequence[Case]) -> list[tuple[str, str]]:
    """A pair for each case; their keys."""
    keys = [(f"default/a{n}", f"default/b{n}") for n in range(len(cases))]
    mine = [memory(f"a{n}", **{"age": 50} | case[0]) for n, case in enumerate(cases)]
    put(client, *mine, *(memory(f"b{n}", **case[1]) for n, case in enumerate(cases)))
    for (a, b), (_, _, said) in zip(keys, cases, strict=True):
        flag(client.database, a, b, NOW, **{name: value for name, value in said.items() if name != "then"})
        if "then" in said:
            client.database.run(
                f"MATCH (a:Curated {{key: $a}}) MATCH (b:Curated {{key: $b}}) {said['then']}", {"a": a, "b": b}
            )
    return keys


def outcomes(client: Jochi, cases: Sequence[Case]) -> list[Outcome]:
    """By what the pair of each case is held after one run, and when it is looked at again."""
    keys = write_pairs(client, cases)
    done = merged(client)
    flags = [flag_of(client.database, *pair) for pair in keys]
    found = [(sorted(each.get("held_by", [])), each.get("merge_due")) for each in flags]
    assert sorted(done) == sorted(pair for pair, outcome in zip(keys, found, strict=True) if outcome == MERGED)
    return found


def held(client: Jochi, now: datetime = NOW) -> tuple[list[str], datetime | None]:
    """By what the pair is held, and when it is looked at again."""
    assert merged(client, now) == []
    found = flag_of(client.database, A, B)
    assert "Curated" in one(client, A)["labels"]
    assert "Curated" in one(client, B)["labels"]
    return sorted(found.get("held_by", [])), found.get("merge_due")


def test_the_record_says_what_decided(client: Jochi) -> None:
    pair(client, {"tags": ["x"]}, {"tags": ["y"]}, reasons=["trivial"], guard="v1", score=0.97)
    assert merged(client) == [(A, B)]
    [audit] = merge_graph.merge_audits(client.database)
    wanted = {
        **{"key": B, "into": A, "scope": "default", "kind": "MemoryEntry", "rule": "duplicates.merge", "score": 0.97},
        **{"verdict": "merge", "reasons": ["trivial"], "guard": "v1", "mvs": audit["into_mvs"], "relationships": 1},
        "policy": client.policy.label,
    }
    assert {name: audit[name] for name in wanted} == wanted
    assert sorted(audit["labels"]) == ["Curated", "MemoryEntry"]
    left = one(client, B)
    assert (left["labels"], left["merged_into"], left["curation_action"]) == (["Tombstone"], A, "MERGE")
    survivor = one(client, A)
    assert (survivor["merged_from"], survivor["merged_hashes"], survivor["tags"]) == ([B], ["h-b"], ["x", "y"])
    changes = client.database.run("MATCH (c:JochiScopeChange) RETURN collect(DISTINCT c.scope) AS s", write=False)
    assert changes[0]["s"] == ["default"]
    assert flag_of(client.database, A, B) == {}


def test_the_run_says_what_it_merged_what_rails_held_and_the_tokens(client: Jochi) -> None:
    pair(client, {"tier": "HOT", "token_count": 5}, {"tier": "WARM", "token_count": 8, "pinned": True})
    [run] = run_job(client.engine, JOB, now=NOW)
    [summary] = client.runs(run.id)
    assert (summary.changed, dict(summary.counts), dict(summary.skipped)) == (0, {}, {"pinned": 1})
    assert (dict(summary.tokens_before), dict(summary.tokens_after)) == ({}, {})
    pair(client, {"tier": "HOT", "token_count": 5}, {"tier": "WARM", "token_count": 8})
    [run] = run_job(client.engine, JOB, now=NOW)
    [summary] = client.runs(run.id)
    assert (summary.changed, dict(summary.counts), dict(summary.skipped)) == (1, {"merged": 1}, {})
    assert dict(summary.tokens_before) == {"HOT": 0, "WARM": 8, "COLD": 0, "ARCHIVE": 0}
    assert sum(summary.tokens_after.values()) == 0


def test_explain_says_with_whom_and_what_holds_it(client: Jochi) -> None:
    pair(client, {}, {"pinned": True}, reasons=["trivial"], score=0.97)
    held(client)
    for key, other in ((A, B), (B, A)):
        [found] = client.explain(key, at=NOW).duplicates
        assert (found["other"], found["verdict"], found["score"]) == (other, "merge", 0.97)
        assert (found["same_text"], found["reasons"], found["held_by"]) == (True, ["trivial"], ["pinned"])
        assert found["merge_due"] == NOW + DAY
    pair(client, {}, {})
    assert merged(client) == [(A, B)]
    assert client.explain(A, at=NOW).duplicates == []
    [tombstone] = client.explain(B, at=NOW).tombstones
    assert tombstone["merged_into"] == A


DAY_ON = NOW + DAY
HELD: list[tuple[dict[str, Any], dict[str, Any], list[str], datetime | None]] = [
    ({"access_tier": "PUBLIC"}, {}, ["access_tier"], DAY_ON),
    ({}, {"sensitivity": "high"}, ["sensitivity"], DAY_ON),
    ({"expires_at": NOW + DAY}, {"expires_at": NOW + 2 * DAY}, ["expires_at"], DAY_ON),
    ({"ttl_policy": "ephemeral"}, {}, ["ttl_policy"], DAY_ON),
    ({"state": "archived"}, {}, ["state"], DAY_ON),
    ({}, {"pinned": True}, ["pinned"], DAY_ON),
    ({}, {"pinned": 0}, ["pinned"], DAY_ON),
    ({}, {"created_at": NOW - DAY + SECOND}, ["grace"], NOW + SECOND),
    ({}, {"created_at": "then"}, ["grace"], DAY_ON),
    ({}, {"hold_until": NOW + 9 * DAY}, ["hold"], NOW + 9 * DAY),
    ({}, {"hold_until": "later"}, ["hold"], DAY_ON),
    ({}, {"hold_until": NOW + 9 * DAY, "created_at": NOW}, ["grace", "hold"], NOW + 9 * DAY),
    ({}, {"hold_until": NOW + 9 * DAY, "pinned": True}, ["hold", "pinned"], DAY_ON),
    ({}, {"agents": list("abcd")}, ["consensus"], DAY_ON),
    ({}, {"locked_by": "ann", "locked_at": NOW}, ["locked"], NOW + timedelta(minutes=10)),
    ({"locked_by": "ann", "locked_at": NOW}, {}, ["locked"], NOW + timedelta(minutes=10)),
    ({"quarantined_until": NOW + DAY}, {}, ["quarantined"], NOW + DAY),
    ({}, {"quarantined_until": NOW + 3 * DAY}, ["quarantined"], NOW + 3 * DAY),
    ({"slot_name": "n"}, {}, ["slot"], DAY_ON),
    ({"merged_from": [f"default/{n}" for n in range(9)]}, {}, ["most"], None),
    (
        {"merged_from": [f"default/{n}" for n in range(5)]},
        {"merged_from": [f"default/{n}" for n in range(4)], "merged_at": NOW - DAY},
        ["most"],
        None,
    ),
    ({}, {"kind": "Reflection", "consolidated": False}, ["kind"], DAY_ON),
    # What holds nothing up: the survivor's own rails, a day's age, locks that are over, one instant, nine in one.
    ({"pinned": True}, {}, *MERGED),
    ({"created_at": NOW - 2 * DAY, "mvs": 1.0}, {"created_at": NOW - DAY}, *MERGED),
    ({"hold_until": NOW + DAY, "agents": list("abcd")}, {}, *MERGED),
    ({"locked_by": "ann", "locked_at": NOW - DAY}, {"hold_until": NOW}, *MERGED),
    ({"expires_at": DAY_ON}, {"expires_at": DAY_ON.astimezone(timezone(timedelta(hours=9)))}, *MERGED),
    ({"merged_from": [f"default/{n}" for n in range(8)]}, {}, *MERGED),
]
DONE = [
    ("SET b:Draft", "kind"),
    ("SET b.scope = 'other'", "scope"),
    ("CREATE (:JochiAccess {key: b.key})", "unfolded_access"),
    ("WITH b UNWIND range(1, 4) AS i CREATE (b)-[:BY]->(:Agent {id: i})", "consensus"),
]


def test_what_holds_a_merge_up_and_what_does_not(client: Jochi) -> None:
    said: list[Case] = [(mine, other, {}) for mine, other, _, _ in HELD]
    assert outcomes(client, said) == [(names, again) for _, _, names, again in HELD]
    assert [names for names, _ in outcomes(client, [({}, {}, {"then": then}) for then, _ in DONE])] == [
        [n] for _, n in DONE
    ]


def test_the_rails_of_kinds_hold_it_up(client: Jochi) -> None:
    rails: dict[str, dict[str, Any]] = {
        "confident_belief": {"kind": "Belief", "state": "active", "confidence": 0.9},
        "proven_reflection": {"kind": "Reflection", "consolidated": True, "access_count": 6},
        "active_task": {"kind": "Task", "status": "pending"},
        "active_session": {"kind": "SessionContext"},
    }
    found = outcomes(client, [({"kind": other["kind"]}, other, {}) for other in rails.values()])
    assert [names for names, _ in found] == [[rail] for rail in rails]


def test_a_held_pair_merges_when_the_rail_has_ended(client: Jochi) -> None:
    pair(client, {}, {"created_at": NOW - DAY + SECOND})
    assert held(client) == (["grace"], NOW + SECOND)
    assert merged(client, NOW + SECOND - timedelta(microseconds=1)) == []
    assert merged(client, NOW + SECOND) == [(A, B)]


@pytest.mark.parametrize("which", ["a", "b"])
def test_what_was_changed_since_it_was_judged_is_not_merged(client: Jochi, which: str) -> None:
    changed, both = (["changed"], None), (["changed", "similarity"], None)
    cases: list[tuple[dict[str, Any], Outcome]] = [
        ({"then": f"SET {which}.content_hash = 'new', {which}.content = 'new'"}, both),
        ({"decision": "approved", "then": f"SET {which}.content_hash = 'new'"}, changed),
        # Plain Cypher that leaves the hash behind.
        ({"decision": "approved", "then": f"SET {which}.content = 'one test'"}, changed),
        ({"guard": "same text", "then": f"SET {which}.content = 'one_text'"}, both),
        ({"same_text": False, "start_said": None}, both),
        ({"then": f"REMOVE {which}.content_hash"}, changed),
    ]
    assert outcomes(client, [({}, {}, said) for said, _ in cases]) == [outcome for _, outcome in cases]


def test_verdict_and_decision(client: Jochi) -> None:
    cases: list[tuple[dict[str, Any], bool]] = [
        ({"verdict": "veto"}, False),
        ({"verdict": "flag"}, False),
        ({"verdict": None}, False),
        ({"decision": "rejected"}, False),
        ({"verdict": "veto", "decision": "approved"}, True),
        ({"verdict": None, "decision": "approved"}, True),
        ({"verdict": 7, "decision": ["x"]}, False),
        ({}, True),
    ]
    found = outcomes(client, [({}, {}, said) for said, _ in cases])
    assert found == [MERGED if merges else (["verdict"], None) for _, merges in cases]


def vector(cosine: float, dimensions: int = 384) -> list[float]:
    return [cosine, (1 - cosine**2) ** 0.5, *([0.0] * (dimensions - 2))]


MODEL = load_policy().policy.embedding.model


KNOWN = "CREATE (:JochiMerged {seal: 'default/MemoryEntry/' + b.content_hash, into: a.key})"
COSINES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], bool]] = [
    ({"embedding": vector(1)}, {"embedding": vector(0.951)}, {}, True),
    ({"embedding": vector(1)}, {"embedding": vector(0.949)}, {}, False),
    ({"embedding": vector(1)}, {"embedding": vector(0.2)}, {"decision": "approved"}, True),
    ({"embedding": vector(1)}, {}, {}, False),
    ({}, {}, {}, False),
    ({"embedding": vector(1)}, {"embedding": vector(1, 8)}, {}, False),
    ({"embedding": vector(1)}, {"embedding": [0.0] * 384}, {}, False),
    ({"embedding": vector(1)}, {"embedding": "vector"}, {}, False),
    ({"embedding": vector(1)}, {"embedding": vector(1), "embedding_model": "other"}, {}, False),
    ({"embedding": vector(1)}, {"embedding": vector(1), "embedding_hash": "h", "content_hash": "h"}, {}, True),
    ({"embedding": vector(1)}, {"embedding": vector(1), "embedding_hash": "older"}, {}, False),
    ({"embedding": vector(1), "embedding_hash": "older"}, {"embedding": vector(1)}, {}, False),
    ({"content_hash": "g"}, {"content_hash": "g"}, {}, True),
    ({}, {}, {"then": KNOWN}, True),
]


def test_the_cosine_is_computed_anew(client: Jochi) -> None:
    """Not the flag's: the one of what is stored now. Where vectors can't be compared, equal texts or hashes, a decision or a
    content that was merged away stand in."""
    said: dict[str, Any] = {"same_text": False, "score": 0.99}
    model = {"embedding_model": MODEL}
    cases: list[Case] = [
        (model | mine, model | {"content": "other text"} | other, said | more) for mine, other, more, _ in COSINES
    ]
    assert outcomes(client, cases) == [MERGED if merges else (["similarity"], None) for *_, merges in COSINES]


def test_what_is_paused_waits(client: Jochi) -> None:
    for switch in (Switch("kind", "MemoryEntry"), Switch("scope", "default")):
        pair(client, {}, {})
        client.pause(switch)
        assert held(client) == (["paused"], NOW + client.policy.policy.queue.pause_recheck)
        client.resume(switch)
        assert merged(client, NOW + DAY) == [(A, B)]
    pair(client, {}, {})
    client.pause(Switch("all"))
    with pytest.raises(Refused):
        run_job(client.engine, JOB, now=NOW)
    client.resume(Switch("all"))


def test_nothing_is_merged_before_somebody_said_go(jochi: Jochi) -> None:
    with pytest.raises(Refused, match="apply"):
        run_job(jochi.engine, JOB, now=NOW)


def test_the_breaker_stops_the_run(client: Jochi) -> None:
    pair(client, {}, {})
    hour = int(NOW.timestamp()) // 3600
    client.database.run(
        "CREATE (:JochiQuota {key: 'default/MemoryEntry', scope: 'default', kind: 'MemoryEntry', hours: [$hour], counts: "
        "[$n], lift_left: 0})",
        {"hour": hour, "n": client.policy.policy.limits.breaker_floor},
    )
    [run] = run_job(client.engine, JOB, now=NOW)
    assert (run.status, run.changed) == ("breaker", 0)
    found = flag_of(client.database, A, B)
    assert (found["held_by"], found["merge_due"]) == (["breaker"], NOW)
    with pytest.raises(Refused, match=f"approve {run.id}"):
        run_job(client.engine, JOB, now=NOW)
    client.apply(client.plan(NOW))  # counts no merges
    assert client.approve_run(run.id, now=NOW).lifts == [PlanQuota("default", "MemoryEntry", 1)]
    assert merged(client, NOW) == [(A, B)]


def test_the_most_similar_go_first_and_each_once_a_run(client: Jochi) -> None:
    put(client, *(memory(id, age=age) for id, age in zip("abcd", (50, 49, 48, 47), strict=True)))
    for left, right, score in ((A, B, 0.96), (B, C, 0.99), (A, C, 0.97), (C, D, 0.98), (A, D, 0.96), (B, D, 0.96)):
        flag(client.database, left, right, NOW, score=score, decision="approved")
    assert merged(client) == [(B, C), (A, D)]
    assert merged(client) == []
    assert merged(client, NOW + SECOND) == [(A, B)]
    assert one(client, A)["merged_from"] == [B, C, D]
    assert one(client, C)["merged_into"] == B


@pytest.mark.parametrize("apart", ["veto", "unjudged", "rejected"])
def test_a_chain_is_no_cluster(client: Jochi, apart: str) -> None:
    """a ~ b ~ c, and a and c are not one: whoever of b's neighbours goes first keeps the other out."""
    put(client, *(memory(id, age=age, content=id) for id, age in zip("abc", (49, 50, 48), strict=True)))
    for left, right in ((A, B), (B, C)):
        flag(client.database, left, right, NOW, same_text=False, score=0.99)
    client.database.run(
        "MATCH (m:Curated) SET m.embedding = $v, m.embedding_model = $model", {"v": vector(1), "model": MODEL}
    )
    if apart != "unjudged":
        flag(
            client.database,
            A,
            C,
            NOW,
            score=0.99,
            **({"verdict": "veto"} if apart == "veto" else {"decision": "rejected"}),
        )
        client.database.run(
            "MATCH (:Curated {key: $a})-[f:SIMILAR_TO]->(:Curated {key: $c}) REMOVE f.merge_due", {"a": A, "c": C}
        )
    assert merged(client) == [(B, A)]
    assert merged(client, NOW + DAY) == []
    found = flag_of(client.database, B, C)
    assert (found["held_by"], found.get("merge_due")) == (["linkage"], None)
    client.unmerge([A], now=NOW + DAY)
    assert "unlinked" not in flag_of(client.database, B, C)


NEAR: list[tuple[dict[str, Any] | None, bool]] = [
    ({"verdict": "merge"}, True),
    ({"verdict": "merge", "decision": "approved"}, True),
    ({"verdict": "veto", "decision": "approved"}, True),
    ({"verdict": None, "decision": "approved"}, True),
    ({"verdict": "merge", "decision": "rejected"}, False),
    ({"verdict": "veto"}, False),
    ({"verdict": "flag"}, False),
    ({"verdict": None}, False),
    ({"verdict": "merge", "found_at": None}, False),
    (None, False),
]


def test_who_is_near_the_survivor_is_linked_or_noted(client: Jochi) -> None:
    """a swallows b while a ~ c waits: it waits on, and says by whom it is held where b and c weren't found to be one."""
    put(
        client,
        *(
            memory(f"{id}{n}", age=age)
            for n in range(len(NEAR))
            for id, age in zip("abcd", (50, 45, 40, 40), strict=True)
        ),
    )
    for n, (theirs, _) in enumerate(NEAR):
        a, b, c, d = (f"default/{id}{n}" for id in "abcd")
        flag(client.database, a, b, NOW, score=1.0)
        flag(client.database, a, c, NOW, score=0.96)
        flag(client.database, a, d, NOW, score=0.96, merge_due=DAY_ON)
        if theirs is not None:
            flag(client.database, b, c, NOW, score=0.96, merge_due=None, **theirs)
    [stored] = client.database.run("MATCH (p:JochiProcedure {name: 'dedup/merge_duplicates'}) RETURN p.act AS act")
    for n in range(len(NEAR)):
        given = {"now": NOW, "keys": [f"default/a{n}"], "run": "r/1", "policy": "p", "job": {}}
        [done] = client.database.run(stored["act"], in_one_map(given))
        assert {one["name"]: one["n"] for one in done["tally"]}["merged"] == 1
    for n, (theirs, linked) in enumerate(NEAR):
        noted = [f"r/1/default/b{n}"]
        found = flag_of(client.database, f"default/a{n}", f"default/c{n}")
        assert (found.get("unlinked"), found["merge_due"]) == (None if linked else noted, NOW + SECOND), theirs
        later = flag_of(client.database, f"default/a{n}", f"default/d{n}")
        assert (later["merge_due"], later["unlinked"]) == (DAY_ON, noted)


@pytest.mark.parametrize(
    ("theirs", "kept"),
    [
        ({"verdict": "merge"}, False),
        ({"verdict": "merge", "guard": "same text", "start_said": None, "end_said": None}, True),
        ({"verdict": "merge", "decision": "approved"}, True),
        ({"verdict": "veto", "start_said": None, "end_said": None, "merge_due": None}, True),
    ],
)
def test_what_was_judged_of_a_third_one_is_judged_anew_when_it_comes_back(
    client: Jochi, theirs: dict[str, Any], kept: bool
) -> None:
    """The texts that a judge read aren't kept; what a person approved is."""
    put(client, memory("a", age=50), memory("b", age=45), memory("c"))
    flag(client.database, A, B, NOW, score=1.0)
    flag(client.database, B, C, NOW + DAY, score=0.96, **theirs)
    was = flag_of(client.database, B, C)
    assert merged(client) == [(A, B)]
    [texts] = client.database.run(
        "MATCH (s:CurationSnapshot) RETURN count(coalesce(s.start_said, s.end_said)) AS n", write=False
    )
    assert texts["n"] == (1 if "decision" in theirs else 0)
    client.unmerge([B], now=NOW + SECOND)
    back = flag_of(client.database, B, C)
    if kept:
        assert back == was
    else:
        assert {"verdict", "merge_due", "judged_at", "guard"}.isdisjoint(back)
        assert (back["judge_due"], back["score"], back["start_hash"]) == (NOW + SECOND, 0.96, was["start_hash"])


def test_one_that_has_others_in_it_does_not_take_them_along_unjudged(client: Jochi) -> None:
    """b has swallowed x before a was found to be near it: nobody has compared x and a."""
    put(
        client,
        memory("a", age=50, content="a"),
        memory("b", content="b", merged_from=["default/x"], merged_at=NOW - DAY),
    )
    client.database.run(
        "MATCH (m:Curated) SET m.embedding = $v, m.embedding_model = $model", {"v": vector(1), "model": MODEL}
    )
    flag(client.database, A, B, NOW, same_text=False)
    assert held(client) == (["linkage"], None)
    client.database.run(
        "MATCH ()-[f:SIMILAR_TO]->() SET f.found_at = $at, f.merge_due = $now", {"at": NOW - DAY, "now": NOW}
    )
    assert merged(client) == [(A, B)]


def test_what_grows_over_runs_is_complete(client: Jochi) -> None:
    """Every cluster that is left after any number of runs holds only memories of which every two were found to be one."""
    keys = [f"default/{id}" for id in "abcdefg"]
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (0, 3), (4, 5), (5, 6), (4, 6), (1, 3)]
    for turn in range(examples(1, 4)):
        put(client, *(memory(key[8:], age=40 + (n * 3 + turn) % 7, content=key) for n, key in enumerate(keys)))
        client.database.run(
            "MATCH (m:Curated) SET m.embedding = $v, m.embedding_model = $model", {"v": vector(1), "model": MODEL}
        )
        pairs = []
        for n, (i, j) in enumerate(edges):
            score = 0.95 + ((n * 7 + turn * 3) % 10) / 250
            pairs.append(Pair(keys[i], keys[j], score))
            flag(client.database, keys[i], keys[j], NOW, score=score, same_text=False)
        for day in range(6):
            merged(client, NOW + day * DAY)
        left = [one(client, key) for key in keys]
        clusters = [[memory["key"], *memory.get("merged_from", [])] for memory in left if "Curated" in memory["labels"]]
        assert sorted(key for cluster in clusters for key in cluster) == keys
        assert [c for c in clusters if not is_complete(c, pairs, 0.95)] == []
        assert max(len(cluster) for cluster in clusters) >= 3


def test_a_content_is_handed_over_and_back(client: Jochi) -> None:
    """The older one is the duplicate of the younger one, which owns the content."""
    pair(
        client, {"duplicate_of": B, "content_hash": "h"}, {"content_key": "default/MemoryEntry/h", "content_hash": "h"}
    )
    assert merged(client) == [(A, B)]
    assert one(client, A)["content_key"] == "default/MemoryEntry/h"
    assert "duplicate_of" not in one(client, A)
    seal = client.database.run("MATCH (d:JochiMerged) RETURN properties(d) AS d", write=False)
    assert seal == [{"d": {"seal": "default/MemoryEntry/h", "into": A}}]
    client.unmerge([B])
    assert (one(client, A)["duplicate_of"], one(client, B)["content_key"]) == (B, "default/MemoryEntry/h")
    assert "content_key" not in one(client, A)
    assert client.database.run("MATCH (d:JochiMerged) RETURN count(d) AS n")[0]["n"] == 0


def test_a_duplicate_stays_one_when_it_comes_back(client: Jochi) -> None:
    pair(
        client, {"content_key": "default/MemoryEntry/h", "content_hash": "h"}, {"duplicate_of": A, "content_hash": "h"}
    )
    assert merged(client) == [(A, B)]
    client.unmerge([B])
    assert one(client, B)["duplicate_of"] == A
    assert "prepare_due" not in one(client, B)


def test_those_that_were_its_duplicates_are_the_survivors(client: Jochi) -> None:
    """Another scope's, another content's and who names another stay what they are."""
    put(
        client,
        memory("a", age=50),
        memory("b", age=45),
        memory("c", content_hash="h-b", duplicate_of=B),
        memory("d", content_hash="h-b", duplicate_of="default/z"),
        memory("e", duplicate_of=B),
    )
    flag(client.database, A, B, NOW)
    assert merged(client) == [(A, B)]
    assert [one(client, key)["duplicate_of"] for key in (C, D, "default/e")] == [A, "default/z", B]
    client.database.run("MATCH (m:Curated {key: $d}) SET m.duplicate_of = $a", {"d": D, "a": A})
    client.unmerge([B])
    assert [one(client, key)["duplicate_of"] for key in (C, D, "default/e")] == [B, A, B]


def test_a_chain_takes_its_duplicates_along(client: Jochi) -> None:
    put(client, memory("a", age=50), memory("b", age=45), memory("c"), memory("d", content_hash="h-c", duplicate_of=C))
    flag(client.database, B, C, NOW, decision="approved")
    assert merged(client) == [(B, C)]
    flag(client.database, A, B, NOW + DAY, decision="approved")
    assert merged(client, NOW + DAY) == [(A, B)]
    assert one(client, D)["duplicate_of"] == A
    client.unmerge([B])
    client.unmerge([C])
    assert one(client, D)["duplicate_of"] == C


def test_what_was_merged_is_known_by_its_content_along_the_chain(client: Jochi) -> None:
    put(client, memory("a", age=50), memory("b", age=45), memory("c"))
    flag(client.database, B, C, NOW, end_text="t-c", decision="approved")
    assert merged(client) == [(B, C)]
    flag(client.database, A, B, NOW + DAY, start_text="t-a", end_text="t-b", decision="approved")
    assert merged(client, NOW + DAY) == [(A, B)]

    def seals() -> list[tuple[str, str, Any, Any]]:
        rows = client.database.run("MATCH (d:JochiMerged) RETURN d ORDER BY d.seal", write=False)
        return [(r["d"]["seal"][-3:], r["d"]["into"], r["d"].get("text"), r["d"].get("approved")) for r in rows]

    assert seals() == [("h-b", A, "t-b", True), ("h-c", A, "t-c", True)]
    client.unmerge([B])
    assert seals() == [("h-c", B, "t-c", True)]
    client.unmerge([C])
    assert seals() == []


def rel(id: str, start: str, end: str, type: str = "ABOUT", /, **properties: Any) -> Rel:
    return Rel(id, type, start, end, properties)


def test_a_chain_comes_apart_in_either_order(client: Jochi) -> None:
    rels = (rel("1", C, D, x=1), rel("2", B, D, x=2), rel("3", D, C, "CAUSED"))
    memories = (
        memory("a", age=50, access_count=1),
        memory("b", age=45, access_count=2),
        memory("c", access_count=4),
        memory("d"),
    )

    def chained() -> merge_graph.Graph:
        put(client, *memories, rels=rels)
        before = merge_graph.read(client.database)
        flag(client.database, B, C, NOW, decision="approved")
        assert merged(client) == [(B, C)]
        flag(client.database, A, B, NOW + DAY, decision="approved")
        assert merged(client, NOW + DAY) == [(A, B)]
        assert one(client, A)["access_count"] == 7
        return before

    before = chained()
    assert [r.outcome for r in client.unmerge([B, C], now=NOW + 2 * DAY)] == ["unmerged", "unmerged"]
    assert merge_graph.differ(merge_graph.without(merge_graph.read(client.database), (A, B), (B, C)), before) == {}

    chained()
    [first] = client.unmerge([C], now=NOW + 2 * DAY)
    assert (first.outcome, first.into) == ("unmerged", B)
    assert len(first.changed) == 2
    assert one(client, C)["access_count"] == 4
    [second] = client.unmerge([B], now=NOW + 2 * DAY)
    assert second.outcome == "unmerged"
    counts = {key: one(client, key)["access_count"] for key in (A, B, C)}
    assert counts == {A: 1, B: 2, C: 4}
    # Nothing is lost: what moved on with b comes back to b.
    assert sum(client.database.run("MATCH (:Curated {key: $d})-[r]-() RETURN count(r) AS n", {"d": D})[0].values()) == 3


@pytest.mark.parametrize("order", [(B, C), (C, B)], ids=["first to last", "last to first"])
def test_several_of_one_come_apart_in_either_order_and_it_claims_nobody(client: Jochi, order: tuple[str, str]) -> None:
    said = {"tags": ["a"]}
    put(client, memory("a", age=50, **said), memory("b", tags=["b"]), memory("c", tags=["c"]))
    before = merge_graph.read(client.database)
    records = {}
    for other, at in ((B, NOW), (C, NOW + DAY)):
        flag(client.database, A, other, at, decision="approved")
        was = merge_graph.without(merge_graph.read(client.database), (A, B), (A, C))
        assert merged(client, at) == [(A, other)]
        wanted, records[other] = merge(was, A, other, at, None)
        left = merge_graph.without(merge_graph.read(client.database), (A, B), (A, C))
        assert merge_graph.differ(left, wanted) == {}
    mine = one(client, A)
    assert (mine["merged_from"], mine["merged_hashes"], mine["merged_at"]) == ([B, C], ["h-b", "h-c"], NOW + DAY)
    for n, other in enumerate(order):
        was = merge_graph.without(merge_graph.read(client.database), (A, B), (A, C))
        wanted, changed = unmerge(was, records[other])
        [found] = client.unmerge([other], now=NOW + 2 * DAY)
        assert found.outcome == "unmerged"
        assert set(found.changed) == changed - {f"{A}.revision", f"{A}.next_due"}
        assert set(found.changed) == ({f"{A}.tags"} if order == (B, C) and n == 0 else set())
        left = merge_graph.without(merge_graph.read(client.database), (A, B), (A, C))
        assert merge_graph.differ(left, wanted) == {}
    mine = one(client, A)
    assert not {"merged_from", "merged_hashes", "merged_at"} & mine.keys()
    if order == (C, B):
        assert merge_graph.differ(left, before) == {}


def test_what_an_app_made_of_the_list_of_who_went_in_stays_and_is_named(client: Jochi) -> None:
    pair(client, {}, {})
    assert merged(client) == [(A, B)]
    client.database.run("MATCH (m:Curated {key: $a}) SET m.merged_from = 7", {"a": A})
    [found] = client.unmerge([B])
    assert (found.changed, one(client, A)["merged_from"]) == ((f"{A}.merged_from",), 7)


def test_of_two_merges_of_one_key_each_is_taken_back_by_its_own_run(client: Jochi) -> None:
    runs = []
    put(client, memory("a", age=50), memory("b"), memory("c", age=50))
    flag(client.database, A, B, NOW, decision="approved")
    assert merged(client) == [(A, B)]
    merge_graph.write(client.database, Graph({B: memory("b", content="another")}, {}))
    flag(client.database, B, C, NOW, decision="approved")
    assert merged(client, NOW + DAY) == [(C, B)]
    runs = [audit["run"] for audit in merge_graph.merge_audits(client.database)]

    def dead() -> list[tuple[str, str]]:
        rows = client.database.run("MATCH (t:Tombstone) RETURN t.merged_into AS into, t.content AS c ORDER BY into")
        return [(row["into"], row["c"]) for row in rows]

    assert dead() == [(A, "one text"), (C, "another")]
    for dry in (True, False):
        assert client.undo(runs[0], dry_run=dry, now=NOW + 2 * DAY).counts == {"undone": 1}
    assert dead() == [(C, "another")]
    for dry in (True, False):
        done = client.undo(runs[1], dry_run=dry, now=NOW + 2 * DAY)
        assert [(row.key, row.outcome) for row in done.rows] == [(B, "taken")]
    again = client.undo(runs[0], now=NOW + 2 * DAY)
    assert (again.counts, again.already) == ({}, 1)
    # Without a record it is the newest of the key, as ever.
    client.database.run("MATCH (m:Curated {key: $b}) DETACH DELETE m", {"b": B})
    assert [found.into for found in client.unmerge([B], now=NOW + 2 * DAY)] == [C]


def test_a_merge_that_was_taken_back_by_hand_and_made_again_is_another(client: Jochi) -> None:
    pair(client, {}, {})
    assert merged(client) == [(A, B)]
    client.unmerge([B], now=NOW + SECOND)
    flag(client.database, A, B, NOW + DAY, decision="approved")
    assert merged(client, NOW + DAY) == [(A, B)]
    first, second = (audit["run"] for audit in merge_graph.merge_audits(client.database))
    assert client.undo(first, now=NOW + 2 * DAY).counts == {"as_before": 1}
    assert "Tombstone" in one(client, B)["labels"]
    assert client.undo(second, now=NOW + 2 * DAY).counts == {"undone": 1}
    assert "Curated" in one(client, B)["labels"]


def test_what_changed_since_stays_and_is_named(client: Jochi) -> None:
    put(
        client,
        memory("a", age=50, access_count=1, tags=["x"]),
        memory("b", access_count=2, tags=["y"]),
        memory("c"),
        memory("d"),
        rels=(rel("1", B, C, x=1), rel("2", B, D), rel("3", B, A, "CAUSED")),
    )
    flag(client.database, A, B, NOW)
    assert merged(client) == [(A, B)]
    client.database.run("MATCH (m:Curated {key: $a}) SET m.access_count = 9, m.mood = 'new'", {"a": A})
    client.database.run("MATCH (:Curated {key: $a})-[r:ABOUT]->(:Curated {key: $c}) SET r.x = 2", {"a": A, "c": C})
    client.database.run("MATCH (m:Curated {key: $d}) DETACH DELETE m", {"d": D})
    for dry in (True, False):
        [found] = client.unmerge([B], dry_run=dry)
        assert found.changed == (f"({B})-[:ABOUT]->({C})", f"({B})-[:ABOUT]->({D})", f"{A}.access_count")
        assert found.relationships == 2
    left = one(client, A)
    assert (left["access_count"], left["tags"], left["mood"]) == (9, ["x"], "new")
    rows = client.database.run(
        "MATCH (a:Curated)-[r:ABOUT|CAUSED]->(b:Curated) RETURN a.id + b.id AS ends, properties(r) AS p ORDER BY ends"
    )
    assert [(row["ends"], row["p"]) for row in rows] == [("ac", {"x": 2}), ("ba", {})]


def test_defined_answers(client: Jochi) -> None:
    def outcome(key: str = B) -> str:
        [found] = client.unmerge([key])
        return found.outcome

    pair(client, {}, {})
    assert outcome("default/none") == outcome(A) == outcome() == "not_merged"
    assert merged(client) == [(A, B)]
    assert [r.outcome for r in client.restore([B])] == ["merged"]
    client.database.run(
        "CREATE (:Curated:MemoryEntry {key: $b, scope: 'default', id: 'b', content: 'again'})", {"b": B}
    )
    assert outcome() == "taken"
    client.database.run("MATCH (m:Curated {key: $b}) DETACH DELETE m", {"b": B})
    client.database.run("MATCH (t:Tombstone) SET t.purge_started_at = $now", {"now": NOW})
    assert outcome() == "purging"
    client.database.run("MATCH (t:Tombstone) REMOVE t.purge_started_at")
    client.database.run("MATCH (m:Curated {key: $a}) SET m:Gone REMOVE m:Curated", {"a": A})
    assert outcome() == "survivor_gone"
    client.database.run("MATCH (m:Gone) SET m:Curated REMOVE m:Gone")
    assert outcome() == "unmerged"
    assert outcome() == "not_merged"
    assert client.engine.call(
        "memory/unmerge", {"now": NOW, "keys": [], "dry_run": False, "run": "r", "hold": False, "audits": None}
    ) == {"results": []}


def test_a_purge_takes_what_was_kept_for_unmerge(client: Jochi) -> None:
    put(client, memory("a", age=50), memory("b"), memory("c"), rels=(rel("1", B, C),))
    flag(client.database, A, B, NOW)
    assert merged(client) == [(A, B)]
    kept = "MATCH (s:CurationSnapshot) RETURN count(s) AS n"
    assert client.database.run(kept)[0]["n"] >= 4
    later = NOW + client.policy.policy.limits.tombstone_ttl
    run_job(client.engine, "purge_tombstones", now=later - SECOND, drain=True)
    assert client.database.run(kept)[0]["n"] >= 4
    # A rail: it neither goes nor comes back on its own, for its relationships are elsewhere.
    client.database.run("MATCH (t:Tombstone) SET t.pinned = true")
    run_job(client.engine, "purge_tombstones", now=later, drain=True)
    assert one(client, B)["labels"] == ["Tombstone"]
    client.database.run(
        "MATCH (t:Tombstone) REMOVE t.pinned, t.quarantined_until CREATE (t)-[:LATER]->(:Thing {name: 't2'})"
    )
    run_job(client.engine, "purge_tombstones", now=later, drain=True)
    assert client.database.run("MATCH (t:Tombstone) RETURN count(t) AS n")[0]["n"] == 0
    assert client.database.run(kept)[0]["n"] == 0
    assert (
        client.database.run("MATCH (:Curated {key: $a})-[r:LATER]->(:Thing) RETURN count(r) AS n", {"a": A})[0]["n"]
        == 1
    )
    assert client.database.run("MATCH (d:JochiMerged) RETURN count(d) AS n")[0]["n"] == 1


@pytest.mark.exhaustive
def test_a_page_of_relationships_goes_in_one_transaction_whatever_the_survivor_has(client: Jochi) -> None:
    """More than a page: tests/integration/test_merge_dense.py."""

    def ties(key: str, n: int) -> None:
        client.database.run(
            "MATCH (m:Curated {key: $key}) UNWIND range(1, $n) AS i CREATE (m)-[:HAS]->(:Thing {name: i})",
            {"key": key, "n": n},
        )

    pair(client, {}, {})
    ties(B, 999)
    ties(A, 1500)
    assert merged(client) == [(A, B)]
    assert client.database.run("MATCH (:Curated {key: $a})-[r:HAS]->() RETURN count(r) AS n", {"a": A})[0]["n"] == 2499
    [found] = client.unmerge([B])
    assert (found.relationships, found.changed) == (1000, ())
    assert client.database.run("MATCH (:Curated {key: $b})-[r:HAS]->() RETURN count(r) AS n", {"b": B})[0]["n"] == 999


def test_more_relationships_than_are_ever_copied_hold_it_up(client: Jochi) -> None:
    """The limit lowered to 3."""
    [row] = client.database.run(_WEIGH)
    assert len(re.findall("lost.degree > 1000000 ", row["body"])) == 1
    client.database.run(_STORE, {"body": row["body"].replace("lost.degree > 1000000 ", "lost.degree > 3 ")})
    for n, names in ((3, ["dense"]), (2, [])):
        put(
            client,
            memory("a", age=50),
            memory("b"),
            *(memory(f"x{i}") for i in range(n)),
            rels=tuple(rel(str(i), B, f"default/x{i}") for i in range(n)),
        )
        flag(client.database, A, B, NOW)
        if names:
            assert held(client) == (names, DAY_ON)
        else:
            assert merged(client) == [(A, B)]


def test_what_is_tied_to_a_memory_while_it_is_merged_follows_it(client: Jochi, server: TestServer) -> None:
    """Plain Cypher found the memory before, and writes to it after: by then it is a tombstone."""
    pair(client, {}, {})
    with server.driver() as driver, driver.session() as session, session.begin_transaction() as tx:
        [found] = tx.run("MATCH (b:Curated {key: $b}) RETURN elementId(b) AS b", b=B)
        assert merged(client) == [(A, B)]
        tx.run(
            "MATCH (b) WHERE elementId(b) = $b CREATE (b)-[:TOLD {at: 1}]->(:Thing {name: 'x'})", b=found["b"]
        ).consume()
        tx.commit()
    assert client.database.run("MATCH (:Tombstone)-[r:TOLD]->() RETURN count(r) AS n")[0]["n"] == 1
    [run] = run_job(client.engine, JOB, now=NOW + timedelta(minutes=5))
    assert (run.error, run.tally["late"], run.changed) == (None, 1, 1)
    rows = client.database.run(
        f"MATCH (:Curated {{key: $a}})-[r:TOLD {{at: 1}}]->(:Thing) RETURN size(r.{MARK}) AS n", {"a": A}
    )
    assert rows == [{"n": 1}]
    assert client.unmerge([B])[0].relationships == 2
    rows = client.database.run("MATCH (:Curated {key: $b})-[r:TOLD]->(:Thing) RETURN properties(r) AS p", {"b": B})
    assert rows == [{"p": {"at": 1}}]


CITES = (
    "MATCH (m {key: $key})-[r:TESTS_CITES]-(x) RETURN r.ref AS ref, startNode(r) = m AS out, x = m AS loop ORDER BY ref"
)


def test_a_relationship_that_must_be_unique_moves(client: Jochi) -> None:
    """It is never there twice, nor when it comes late."""
    put(
        client,
        *(memory("a", age=50), memory("b"), memory("c")),
        rels=(
            Rel("r1", "TESTS_CITES", A, C, {"ref": 1}),
            Rel("r2", "TESTS_CITES", B, C, {"ref": 2, "confidence": 0.5}),
            Rel("r3", "TESTS_CITES", C, B, {"ref": 3}),
            Rel("r4", "TESTS_CITES", B, B, {"ref": 4}),
            Rel("r5", "TESTS_CITES", B, C, {"ref": 5}),
        ),
    )
    flag(client.database, A, B, NOW)
    [run] = run_job(client.engine, JOB, now=NOW)
    assert (run.status, run.error, run.tally.get("merged")) == ("ok", None, 1)
    assert [tuple(row.values()) for row in client.database.run(CITES, {"key": A})] == [
        (1, True, False),
        (2, True, False),
        (3, False, False),
        (4, True, True),
        (5, True, False),
    ]
    late = "MATCH (t:Tombstone {key: $b}), (c:Curated {key: $c}) CREATE (t)-[:TESTS_CITES {ref: 6}]->(c)"
    client.database.run(late, {"b": B, "c": C})
    [run] = run_job(client.engine, JOB, now=NOW + timedelta(minutes=5))
    assert (run.error, run.tally["late"]) == (None, 1)
    assert [row["ref"] for row in client.database.run(CITES, {"key": A})] == [1, 2, 3, 4, 5, 6]


def test_a_pair_that_a_constraint_refuses_is_held_and_the_others_merge(client: Jochi) -> None:
    """The sum of both is a value that a third one has, and must be unique."""
    once = ("MemoryEntry", "TestsOnce")
    numbers = {"a": 2, "b": 3, "e": 5}
    made = [Memory(id, once, dict(memory(id).properties, recall_count=n)) for id, n in numbers.items()]
    put(client, *made, memory("c", age=50), memory("d"))
    flag(client.database, A, B, NOW)
    flag(client.database, C, D, NOW, score=0.9, same_text=None, guard="v1", decision="approved")
    runs = run_job(client.engine, JOB, now=NOW, drain=True)
    assert [(one.status, one.error, one.quarantined) for one in runs] == [("ok", None, ())] * len(runs)
    counted = {name: sum(one.tally.get(name, 0) for one in runs) for name in ("merged", "held", "held_constraint")}
    assert counted == {"merged": 1, "held": 1, "held_constraint": 1}
    assert [(audit["into"], audit["key"]) for audit in merge_graph.merge_audits(client.database)] == [(C, D)]
    found = flag_of(client.database, A, B)
    assert (found["held_by"], found["merge_due"]) == (["constraint"], NOW + DAY)
    assert client.database.run("MATCH (m:Curated) WHERE m.curation_failures > 0 RETURN m.key") == []
    names = (
        "tests_one_line: unique state, line on TESTS_MENTIONS",
        "tests_one_recall: unique recall_count on TestsOnce",
        "tests_one_ref: unique ref on TESTS_CITES",
    )
    [listed] = [each for each in client.duplicates().pairs if each.verdict == "merge"]
    assert (listed.held_by, listed.constraints) == (("constraint",), names)
    [explained] = client.explain(A, at=NOW).duplicates
    assert (explained["held_by"], explained["constraints"]) == (["constraint"], list(names))
    client.database.run("MATCH (e:TestsOnce {recall_count: 5}) REMOVE e:TestsOnce")
    assert merged(client, NOW + DAY) == [(A, B)]


@pytest.mark.slow
def test_a_writer_that_holds_a_memory_is_waited_for_and_its_change_counts(client: Jochi, server: TestServer) -> None:
    """Whoever changes the content first: the pair isn't merged, as what was judged is no more."""
    pair(client, {}, {})
    with server.driver() as driver, driver.session() as session:
        tx = session.begin_transaction()
        tx.run("MATCH (b:Curated {key: $b}) SET b.content = 'new', b.content_hash = 'new'", b=B).consume()
        with server.driver(max_transaction_retry_time=1) as hasty:  # it would try for half a minute
            [run] = run_job(Jochi(hasty).engine, JOB, now=NOW)
        assert run.error is not None
        assert "lock" in run.error.lower()
        tx.commit()
    client.database.run(
        "MATCH (j:JochiJob {name: $job}) SET j.failures = 0, j.skip = [], j.isolated_in_a_row = 0", {"job": JOB}
    )
    client.database.run("MATCH (m:Curated) REMOVE m.quarantined_until")
    assert held(client) == (["changed", "similarity"], None)


def test_wrong_types_everywhere_throw_nothing(client: Jochi) -> None:
    names = [
        *("access_count", "recall_count", "recall_frequency", "access_day", "access_days", "access_count_7d", "access_windows"),
        *("first_seen_at", "last_accessed_at", "prev_accessed_at", "last_recalled_at", "tags", "keywords", "topics", "aliases"),
        *("confidence_at", "importance", "salience", "salience_at", "tier", "tier_from", "tier_reason", "tier_at"),
        *("merged_from", "merged_hashes", "merged_at", "mvs", "duplicate_of", "revision", "embedding", "embedding_model"),
        *("token_count", "curation_failures", "next_due", "curation_rails"),
    ]  # fmt: skip
    values: list[Any] = [True, 7, -1.5, "text", [1], ["x", "y"], [], b"\x01", NOW - DAY, NOW.date(), 2**62, [2**62] * 7]
    odd = [dict.fromkeys(names, value) | {"kind": "Concept"} for value in [*values, float("nan")]]
    others = [odd[n] if n != 6 else {"kind": "Concept", "merged_from": ["default/z"]} for n in range(len(odd))]
    said = {"decision": "approved"}
    found = outcomes(client, [(mine, other, said) for mine, other in zip(odd, others, strict=True)])
    assert found == [MERGED] * len(odd)
    back = client.unmerge([f"default/b{n}" for n in range(len(odd))])
    assert [(each.outcome, each.changed) for each in back] == [("unmerged", ())] * len(odd)


def test_odd_flags_throw_nothing(client: Jochi) -> None:
    odd: list[dict[str, Any]] = [{"unlinked": 7}, {"held_by": 1}, {"found_at": "x"}, {"score": "high"}]
    odd += [{"score": None}, {"same_text": 1}, {"reasons": 3}, {"start_hash": 7}]
    found = outcomes(client, [({}, {}, {"decision": "approved"} | each) for each in odd])
    assert [each == MERGED for each in found] == [True] * 7 + [False]


def test_an_apps_own_relationships_of_that_type_move(client: Jochi) -> None:
    put(client, memory("a", age=50), memory("b"), memory("c"), rels=(rel("1", B, C, "SIMILAR_TO", how="by ear"),))
    flag(client.database, A, B, NOW)
    assert merged(client) == [(A, B)]
    rows = client.database.run(
        "MATCH (:Curated {key: $a})-[r:SIMILAR_TO]->(:Curated {key: $c}) RETURN r.how AS how", {"a": A, "c": C}
    )
    assert rows == [{"how": "by ear"}]
    client.unmerge([B])
    rows = client.database.run(
        "MATCH (:Curated {key: $b})-[r:SIMILAR_TO]->(:Curated {key: $c}) RETURN properties(r) AS p", {"b": B, "c": C}
    )
    assert rows == [{"p": {"how": "by ear"}}]


def test_the_greater_confidence_and_importance_stay(client: Jochi) -> None:
    pair(
        client,
        {"confidence": 0.4, "importance": 0.9},
        {"confidence": 0.7, "importance": 0.3, "confidence_at": NOW - DAY},
    )
    assert merged(client) == [(A, B)]
    left = one(client, A)
    assert (left["confidence"], left["importance"], left["confidence_at"]) == (0.7, 0.9, NOW - DAY)


@pytest.mark.parametrize("surer", ["a", "b"])
def test_of_two_that_say_the_same_the_surer_stays_and_both_come_back(client: Jochi, surer: str) -> None:
    weak = {"x": 1, "confidence": 0.3, "created_at": NOW - 9 * DAY}
    sure = {"x": 1, "confidence": 0.8, "created_at": NOW - 8 * DAY}
    mine, other = (sure, weak) if surer == "a" else (weak, sure)
    rels = (rel("1", A, C, **mine), rel("2", B, C, **other), rel("3", A, C, x=2), rel("4", B, C, x=3))
    put(client, memory("a", age=50), memory("b"), memory("c"), rels=rels)
    before = merge_graph.read(client.database)
    flag(client.database, A, B, NOW)
    assert merged(client) == [(A, B)]
    found = Counter(merge_graph.meaning(r) for r in merge_graph.read(client.database).rels.values())
    assert found == Counter(merge_graph.meaning(rel("", A, C, **said)) for said in (sure, {"x": 2}, {"x": 3}))
    [done] = client.unmerge([B])
    assert (done.outcome, done.changed) == ("unmerged", ())
    assert merge_graph.differ(merge_graph.without(merge_graph.read(client.database), (A, B)), before) == {}
