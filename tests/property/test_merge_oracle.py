"""Merge and unmerge in the database against the oracle, on random graphs (seed 000, Option B, Merge strategy; DESIGN §10)."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Duration, Time
from tests import merge_graph
from tests.conftest import say_go
from tests.merge_graph import THING, differ, told, without
from tests.oracle.memory import Memory
from tests.oracle.merging import Graph, Rel, hindrances, merge, survivor
from tests.tally import examples

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
TODAY = NOW.date()
A, B, C, D, E = "default/a", "default/b", "default/c", "default/d/2", "default/e"
KEYS = (A, B, C, D, E)
CHECKS: dict[str, Any] = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
}

instants = st.integers(2, 40).map(lambda days: NOW - days * DAY)
moments = st.one_of(instants, instants, st.sampled_from(["then", 7, datetime(2026, 1, 1)]))  # noqa: DTZ001
windows = st.dictionaries(st.integers(0, 6).map(lambda n: n * 3600), st.integers(1, 10), min_size=1, max_size=5).map(
    lambda held: [value for start in sorted(held, reverse=True) for value in (start, held[start])]
)
counts = st.one_of(st.integers(0, 50), st.integers(0, 50), st.sampled_from([-1, "many", True, 2.5, math.nan]))
texts = st.one_of(st.lists(st.sampled_from("xyz"), max_size=3), st.sampled_from([7, "x", [1]]))
shares = st.one_of(
    st.sampled_from([0, 1, 0.2, 0.5, 0.8]), st.sampled_from([0.2, 0.5, 0.8]), st.sampled_from([2, -1, "x", math.nan])
)
natives = st.sampled_from(
    [
        *(True, "text", "", 2**62, -0.5, math.inf, math.nan, b"\x00\xff", [], [1, 2], [1.0, 2.0], ["a", ""], [True]),
        *(date(2026, 1, 2), time(1, 2, 3, 4), Time.from_iso_format("01:02:00+02:00"), datetime(2026, 1, 2)),  # noqa: DTZ001
        *(NOW, NOW.astimezone(timezone(timedelta(hours=9))), Duration(months=1, days=2, seconds=3, nanoseconds=4)),
        *(WGS84Point((1.5, 2.5)), WGS84Point((1.5, 2.5, 3.5)), CartesianPoint((1, 2)), CartesianPoint((1, 2, 3))),
        *([NOW, NOW + DAY], [date(2026, 1, 2)], [WGS84Point((1.5, 2.5))], [Duration(days=1)]),
    ]
)
odd_days = st.sampled_from(
    [
        {"access_day": TODAY, "access_days": [1, 2]},
        {"access_day": "today", "access_days": [1] * 7},
        {"access_day": TODAY},
        {"access_count_7d": 4},
        {"access_count_7d": "4"},
    ]
)
days = st.builds(
    lambda age, n: {"access_day": TODAY - age * DAY, "access_days": n, "access_count_7d": sum(n)},
    st.integers(0, 8),
    st.lists(st.integers(0, 4), min_size=7, max_size=7),
)
values: dict[str, Any] = {
    "access_count": counts,
    "recall_count": counts,
    "recall_frequency": counts,
    "access_windows": st.one_of(windows, windows, st.sampled_from([[1], "w", [1.5, 2.5]])),
    "last_accessed_at": moments,
    "prev_accessed_at": moments,
    "last_recalled_at": moments,
    "first_seen_at": moments,
    "agents": st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
    "tags": texts,
    "keywords": texts,
    "topics": texts,
    "aliases": texts,
    "confidence": shares,
    "confidence_at": instants,
    "importance": shares,
    "salience": shares,
    "salience_at": moments,
    "tier": st.sampled_from(["HOT", "WARM", "COLD", "ARCHIVE", "hot", 7]),
    "tier_at": instants,
    "tier_reason": st.sampled_from(["tier.warm_used", "budget.HOT"]),
    "tier_from": st.sampled_from(["HOT", "COLD"]),
    "revision": st.integers(1, 9),
    "merged_from": st.sampled_from([["default/z"], ["default/z", "default/y"]]),
    "merged_hashes": st.sampled_from([["1"], ["2", "9"]]),
    "mvs": st.sampled_from([1.5, 2.5]),
    "author": natives,
    "note": natives,
}
rel_values: dict[str, Any] = {
    "confidence": st.sampled_from([0.5, 0.8, 0.8, "x", 1, 2.5]),
    "last_reinforced_at": instants,
    "created_at": instants,
    "note": natives,
}


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    kind = draw(st.sampled_from(["MemoryEntry", "Belief", "Concept", "Diary", "Reflection"]))
    held_up = draw(st.integers(0, 3)) == 0
    nodes = []
    for key in KEYS:
        held = draw(
            st.fixed_dictionaries(
                {"created_at": instants, "content_hash": st.sampled_from(["1", "2", "3"])}, optional=values
            )
        )
        held |= draw(st.one_of(st.just({}), days, days, odd_days))
        held |= {"content": "one text"}
        if kind == "Belief":
            held |= {"state": "active"} | ({} if held_up else {"confidence": draw(st.sampled_from([0.2, 0.5, 0.8, 0]))})
        if kind == "Reflection":
            held |= {"consolidated": False}
            held.pop("access_count", None)
        if held_up and draw(st.booleans()):
            held |= draw(
                st.sampled_from(
                    [
                        *(
                            {"access_tier": "PRIVATE"},
                            {"sensitivity": "high"},
                            {"expires_at": NOW + 9 * DAY},
                            {"state": "archived"},
                        ),
                        *({"pinned": True}, {"pinned": "no"}, {"hold_until": NOW + DAY}, {"created_at": NOW - DAY / 2}),
                        *(
                            {"locked_by": "a", "locked_at": NOW},
                            {"quarantined_until": NOW + DAY},
                            {"agents": list("abcd")},
                            {"ttl_policy": "keep_forever"},
                        ),
                    ]
                )
            )
        nodes.append(Memory(key.split("/", 1)[1], (kind,), held))
    ends = st.sampled_from((A, A, A, B, B, B, C, C, D, E, THING))
    types = st.sampled_from(["ABOUT", "ABOUT", "CAUSED", "SIMILAR_TO"])
    some = st.one_of(st.just({}), st.fixed_dictionaries({}, optional=rel_values))
    made = draw(st.lists(st.tuples(types, ends, ends, some), max_size=14))
    rels = [
        # Flags of ours have found_at: apps may have relationships of that type, too, which move as all do.
        Rel(str(n), type, start, end, held | ({"found_at": NOW} if type == "SIMILAR_TO" else {}))
        for n, (type, start, end, held) in enumerate(made)
        if not (type == "SIMILAR_TO" and (THING in (start, end) or start == end or {start, end} == {A, B}))
    ]
    return Graph({node.key: node for node in nodes}, {rel.id: rel for rel in rels})


firsts = st.sampled_from([None, NOW - 1000 * DAY, NOW - 20 * DAY])


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    say_go(jochi)
    return jochi


def put(client: Jochi, graph: Graph, first: datetime | None) -> None:
    merge_graph.clear(client.database)
    merge_graph.write(client.database, graph)
    if first:
        client.database.run(
            "CREATE (:JochiScope {name: 'default', first_access_at: $first, last_access_at: $first})", {"first": first}
        )


def run(client: Jochi, now: datetime = NOW) -> dict[str, int]:
    runs = run_job(client.engine, "merge_duplicates", now=now, drain=True)
    assert [one.error for one in runs if one.error] == []
    return {name: sum(one.tally.get(name, 0) for one in runs) for name in ("merged", "held")}


@given(before=graphs(), first=firsts)
@settings(max_examples=examples(15, 60), **CHECKS)
def test_a_merge_leaves_what_the_oracle_says_and_unmerge_takes_it_back(
    client: Jochi, before: Graph, first: datetime | None
) -> None:
    put(client, before, first)
    merge_graph.flag(client.database, A, B, NOW)
    was = merge_graph.read(client.database)
    tally = run(client)
    audits = merge_graph.merge_audits(client.database)
    one = without(was, (A, B))
    if not audits:
        names = merge_graph.flag_of(client.database, A, B)["held_by"]
        ways = [hindrances(one.nodes[x], one.nodes[y], NOW) for x, y in ((A, B), (B, A))]
        assert frozenset(names) in ways, (names, ways)
        assert names
        assert tally == {"merged": 0, "held": 1}
        assert differ(without(merge_graph.read(client.database), (A, B)), one) == {}
        return
    [audit] = audits
    kept, lost = audit["into"], audit["key"]
    scores = {kept: audit["into_mvs"], lost: audit["mvs"]}
    assert [m.key for m in survivor(one.nodes[A], one.nodes[B], scores)] == [kept, lost]
    assert hindrances(one.nodes[kept], one.nodes[lost], NOW) == frozenset()
    assert tally == {"merged": 1, "held": 0}

    wanted, _record = merge(one, kept, lost, NOW, first)
    left = merge_graph.read(client.database)
    found = without(left, (A, B))
    assert differ(found, without(wanted)) == {}
    assert found.nodes[kept].properties["next_due"] == NOW
    assert found.nodes[kept].properties.get("revision") == wanted.nodes[kept].properties.get("revision")

    [would] = client.unmerge([lost], dry_run=True, now=NOW + DAY)
    assert merge_graph.told(merge_graph.read(client.database)) == told(left)
    [done] = client.unmerge([lost], now=NOW + DAY)
    assert (would.outcome, done.outcome, done.changed) == ("would_unmerge", "unmerged", ())
    assert would.relationships == done.relationships
    back = without(merge_graph.read(client.database), (A, B))
    assert differ(back, without(one)) == {}
    assert client.database.run("MATCH (s) WHERE s:CurationSnapshot OR s:JochiMerged RETURN count(s) AS n")[0]["n"] == 0
    assert (
        client.database.run(
            f"MATCH ()-[r]->() WHERE r.{merge_graph.MARK} IS NOT NULL OR r.unlinked IS NOT NULL RETURN count(r) AS n"
        )[0]["n"]
        == 0
    )
    pair = merge_graph.flag_of(client.database, A, B)
    assert (pair["decision"], pair["decided_by"], pair.get("merge_due")) == ("rejected", "unmerge", None)
    assert run(client, NOW + 2 * DAY) == {"merged": 0, "held": 0}
    assert (
        to_python(client.database.run("MATCH (m:Curated {key: $k}) RETURN m.next_due AS d", {"k": lost})[0]["d"])
        == NOW + DAY
    )
