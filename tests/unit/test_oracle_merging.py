"""The oracle's merge and its inverse, by hand and on random graphs (seed 000, Option B, Merge strategy; DESIGN §10)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import Memory
from tests.oracle.counts import uses_in_7_days
from tests.oracle.merging import (
    Graph,
    Rel,
    combined,
    hindrances,
    merge,
    moved,
    survivor,
    tombstone,
    unmerge,
)

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
LONG_AGO = NOW - 1000 * DAY
TODAY = NOW.date()
A, B, C, D = "default/a", "default/b", "default/c", "default/d"


def memory(id: str, kind: str = "MemoryEntry", age: float = 40, **properties: Any) -> Memory:
    made = {"created_at": NOW - age * DAY, "content": id} | properties
    return Memory(id, (kind,), {name: value for name, value in made.items() if value is not None})


def both(mine: dict[str, Any], other: dict[str, Any], *names: str, kind: str = "MemoryEntry") -> Any:
    """Properties of the survivor afterwards: one value, or several in order."""
    left = combined(memory("a", kind, **mine), memory("b", kind, **other), NOW, LONG_AGO).properties
    found = tuple(left.get(name) for name in names)
    return found[0] if len(found) == 1 else found


def test_the_higher_score_survives_then_the_older_then_the_key() -> None:
    old, young, undated = memory("b", age=41), memory("a", age=40), memory("0", created_at="then")
    assert survivor(old, young, {A: 5.1, B: 5.0}) == (young, old)
    assert survivor(old, young, {A: 5.0, B: 5.0}) == (old, young)
    assert survivor(young, old, {A: 5.0, B: 5.0}) == (old, young)
    assert survivor(undated, young, {A: 5.0, "default/0": 5.0}) == (young, undated)
    twin = memory("c", age=40)
    assert survivor(twin, young, {A: 5.0, C: 5.0}) == (young, twin)


@pytest.mark.parametrize(
    ("mine", "other", "why"),
    [
        ({}, {}, set()),
        ({"access_tier": "PUBLIC"}, {"access_tier": "PRIVATE"}, {"access_tier"}),
        ({"access_tier": "PUBLIC"}, {}, {"access_tier"}),
        ({}, {"sensitivity": "high"}, {"sensitivity"}),
        ({"expires_at": NOW + DAY}, {"expires_at": NOW + 2 * DAY}, {"expires_at"}),
        ({"expires_at": NOW + DAY}, {"expires_at": NOW + DAY}, set()),
        ({}, {"ttl_policy": "ephemeral"}, {"ttl_policy"}),
        ({"state": "archived"}, {"state": "active"}, {"state"}),
        ({"state": "core"}, {"state": "active"}, set()),
        ({}, {"pinned": True}, {"pinned"}),
        ({"pinned": True}, {}, set()),
        ({}, {"created_at": NOW - DAY + SECOND}, {"grace"}),
        ({}, {"created_at": NOW - DAY}, set()),
        ({"created_at": NOW}, {}, set()),
        ({}, {"hold_until": NOW + SECOND}, {"hold"}),
        ({"hold_until": NOW + SECOND}, {}, set()),
        ({}, {"agents": list("abcd")}, {"consensus"}),
        ({"locked_by": "kublai", "locked_at": NOW}, {}, {"locked"}),
        ({"locked_by": "kublai", "locked_at": NOW - DAY}, {}, set()),
    ],
)
def test_what_holds_a_merge_up(mine: dict[str, Any], other: dict[str, Any], why: set[str]) -> None:
    assert hindrances(memory("a", **mine), memory("b", **other), NOW) == why


def test_kinds_scopes_and_touches_hold_it_up() -> None:
    one = memory("a")
    assert hindrances(one, memory("b", "Reflection", consolidated=False), NOW) == {"kind"}
    assert hindrances(one, replace(memory("b"), scope="other"), NOW) == {"scope"}
    assert hindrances(one, replace(memory("b"), touched=True), NOW) == {"unfolded_access"}


@pytest.mark.parametrize(
    ("mine", "other", "left"),
    [(3, 4, 7), (None, 4, 4), (3, None, 3), (None, None, None), (3, -1, 3), (3, "4", 3), ("3", 4, "3"), (-1, 4, -1)],
)
@pytest.mark.parametrize("name", ["access_count", "recall_count", "recall_frequency"])
def test_counts_add_up(mine: Any, other: Any, left: Any, name: str) -> None:
    assert both({name: mine}, {name: other}, name) == left


def days(newest: date, *counts: int) -> dict[str, Any]:
    return {"access_day": newest, "access_days": list(counts), "access_count_7d": sum(counts)}


NAMES = ("access_day", "access_days", "access_count_7d")


def test_day_buckets_add_up_by_day() -> None:
    mine, other = days(TODAY, 1, 0, 0, 0, 0, 2, 3), days(TODAY - 2 * DAY, 5, 6, 0, 0, 0, 0, 7)
    assert both(mine, other, *NAMES) == (TODAY, [1, 0, 5, 6, 0, 2, 3], 17)
    assert both(other, mine, *NAMES) == (TODAY, [1, 0, 5, 6, 0, 2, 3], 17)
    assert both({}, other, *NAMES) == tuple(other.values())
    assert both(mine, {}, *NAMES) == tuple(mine.values())
    assert both(mine, days(TODAY - 7 * DAY, 9, 9, 9, 9, 9, 9, 9), *NAMES) == tuple(mine.values())
    assert both({"access_count_7d": 2}, {"access_count_7d": 3}, *NAMES) == (None, None, 5)
    assert both({"access_count_7d": 2}, mine, *NAMES) == tuple(mine.values())
    assert both(mine, {"access_count_7d": 2}, *NAMES) == tuple(mine.values())
    assert both(days(TODAY, 1, 2), mine, *NAMES) == (TODAY, [1, 2], 3)  # unreadable stays


def test_windows_add_up_by_their_start() -> None:
    assert both({"access_windows": [7200, 3, 3600, 1]}, {"access_windows": [3600, 2, 0, 5]}, "access_windows") == [
        *(7200, 3, 3600, 3, 0, 5)
    ]
    many = [value for start in range(168, 0, -1) for value in (start * 3600, 1)]
    left = both({"access_windows": many}, {"access_windows": [169 * 3600, 9]}, "access_windows")
    assert (left[:2], left[-2:], len(left)) == ([169 * 3600, 9], [2 * 3600, 1], 2 * 168)
    assert both({"access_windows": [1]}, {"access_windows": [3600, 2]}, "access_windows") == [1]


@pytest.mark.parametrize(
    ("mine", "other", "left"),
    [
        ((9, None), (7, None), (7, 9)),
        ((9, 12), (7, 8), (7, 8)),
        ((7, 12), (7, 9), (7, 9)),
        ((7, 12), (8, 13), (7, 8)),
        ((None, None), (7, 8), (7, 8)),
        ((7, 8), (None, None), (7, 8)),
        ((None, None), (None, None), (None, None)),
    ],
)
def test_the_newest_two_moments_of_use_stay(mine: Any, other: Any, left: Any) -> None:
    names = ("last_accessed_at", "prev_accessed_at")

    def at(ages: tuple[int | None, ...]) -> list[datetime | None]:
        return [None if age is None else NOW - age * DAY for age in ages]

    assert both(dict(zip(names, at(mine), strict=True)), dict(zip(names, at(other), strict=True)), *names) == tuple(
        at(left)
    )


def test_times_widen_but_no_ttl_comes_sooner() -> None:
    names = ("created_at", "first_seen_at")
    assert both({"age": 10}, {"age": 90}, *names) == (NOW - 10 * DAY, NOW - 90 * DAY)
    assert both({"age": 90}, {"age": 10}, *names) == (NOW - 90 * DAY, NOW - 90 * DAY)
    assert both({"age": 10, "first_seen_at": NOW - 99 * DAY}, {"age": 90}, *names)[1] == NOW - 99 * DAY
    assert both({"last_recalled_at": NOW - DAY}, {"last_recalled_at": NOW}, "last_recalled_at") == NOW


def test_agents_and_tags_unite() -> None:
    assert both({"agents": ["c", "a"]}, {"agents": ["b", "a"]}, "agents") == ["a", "b", "c"]
    assert both({}, {"agents": ["b"]}, "agents") == ["b"]
    assert both({"agents": 7}, {"agents": ["b"]}, "agents") == 7
    assert both({"tags": ["z", "a"]}, {"tags": ["b", "a"]}, "tags") == ["z", "a", "b"]
    assert both({"steps": ["z"]}, {"steps": ["b"]}, "steps") == ["z"]


def test_confidence_is_the_greater_and_never_more() -> None:
    assert both({"confidence": 0.6}, {"confidence": 0.8}, "confidence") == 0.8
    assert both({"confidence": 0.8}, {"confidence": 0.6}, "confidence") == 0.8
    assert both({"confidence": 0.6}, {"confidence": 0.6}, "confidence") == 0.6
    assert both({}, {"confidence": 0.6}, "confidence") == 0.6
    assert both({"confidence": 7}, {"confidence": 0.6}, "confidence") == 7
    assert both({"confidence": 0.6}, {"confidence": 1.1}, "confidence") == 0.6


def test_what_a_belief_lost_stays_lost() -> None:
    """0.8 has 0.67 left after 20 idle days, though the other was used yesterday."""
    faded = {"state": "active", "confidence": 0.8, "age": 20}
    used = {"state": "active", "confidence": 0.6, "age": 20, "last_accessed_at": NOW - DAY}
    left = both(faded, used, "confidence", "confidence_at", "last_accessed_at", kind="Belief")
    assert left == (pytest.approx(0.67), NOW, NOW - DAY)
    assert both(faded, used | {"confidence": None}, "confidence", kind="Belief") == pytest.approx(0.67)
    assert both(used, faded, "confidence", kind="Belief") == pytest.approx(0.67)


def test_importance_salience_and_tier() -> None:
    assert both({"importance": 0.2}, {"importance": 0.9}, "importance") == 0.9
    assert both({}, {"importance": 0.9}, "importance") == 0.9
    assert both({"importance": 7}, {"importance": 0.9}, "importance") == 7
    assert both({"salience": 0.2, "age": 0}, {"salience": 0.9, "age": 0}, "salience", kind="Concept") == 0.9
    assert both({"salience": 0.9, "age": 0}, {"salience": 0.2, "age": 0}, "salience", kind="Concept") == 0.9
    assert both({"salience": 0.2}, {"salience": 0.9}, "salience") == 0.2  # an entry has none
    near = {"tier": "HOT", "tier_at": NOW, "tier_reason": "tier.warm_used"}
    assert both({"tier": "COLD", "tier_reason": "budget.HOT"}, near, *near) == tuple(near.values())
    assert both(near, {"tier": "COLD"}, *near) == tuple(near.values())
    assert both({"tier": "cold"}, near, "tier") == "cold"


def test_content_is_the_survivors_and_nothing_absent_is_filled_in() -> None:
    mine, other = {"content": "A", "author": "Ann"}, {"content": "a", "author": "Bob", "read": True, "token_count": 3}
    assert both(mine, other, "content", "author", "read", "token_count") == ("A", "Ann", None, None)


def test_provenance() -> None:
    mine = {"content_hash": "1", "merged_from": [C], "revision": 4, "mvs": 5.0, "duplicate_of": B}
    other = {"content_hash": "2", "merged_from": [D], "merged_hashes": ["3", "1"], "content_key": "k"}
    names = ("merged_from", "merged_hashes", "merged_at", "revision", "mvs", "next_due", "duplicate_of", "content_key")
    assert both(mine, other, *names) == ([B, C, D], ["2", "3"], NOW, 5, None, NOW, None, "k")
    assert both({"content_hash": "1"}, {"content_hash": "1"}, *names[:2], "revision") == ([B], None, 1)
    assert both({"duplicate_of": C, "content_key": "m"}, {"content_key": "k"}, *names[-2:]) == (C, "m")


def test_the_loser_is_a_tombstone_with_all_it_had() -> None:
    loser = replace(memory("b", tags=["x"]), labels=("MemoryEntry", "Draft"))
    left = tombstone(loser, memory("a"), NOW)
    assert left.labels == ("Tombstone",)
    assert left.properties == loser.properties | {
        "tombstone": True,
        "deleted_at": NOW,
        "tombstone_labels": ["Draft", "MemoryEntry"],
        "merged_into": A,
    }


def rel(id: str, start: str, end: str, type: str = "ABOUT", /, **properties: Any) -> Rel:
    return Rel(id, type, start, end, properties)


def after(*rels: Rel) -> list[Rel]:
    """b merged into a."""
    return sorted(moved(rels, A, B), key=lambda found: found.id)


def test_relationships_move_with_type_direction_and_properties() -> None:
    out, into, own = rel("1", B, C, "CAUSED", x=1), rel("2", C, B, "ABOUT"), rel("3", A, D)
    assert after(out, into, own) == [rel("1", A, C, "CAUSED", x=1), rel("2", C, A), own]


def test_what_was_between_the_two_vanishes_and_so_do_our_flags_of_the_loser() -> None:
    assert after(rel("1", A, B), rel("2", B, A, x=1), rel("3", B, C, "SIMILAR_TO"), rel("4", D, B, "SIMILAR_TO")) == []
    flag = rel("5", A, C, "SIMILAR_TO")
    assert after(flag, rel("6", B, B), rel("7", A, A, x=1)) == [flag, rel("6", A, A), rel("7", A, A, x=1)]


def test_duplicates_are_combined_and_differences_stay_parallel() -> None:
    assert after(rel("1", A, C, x=1), rel("2", B, C, x=1)) == [rel("1", A, C, x=1)]
    for other in ({"x": 2}, {}, {"x": 1, "y": 1}, {"x": True}, {"x": 1.0}):
        assert after(rel("1", A, C, x=1), rel("2", B, C, **other)) == [rel("1", A, C, x=1), rel("2", A, C, **other)]
    assert len(after(rel("1", A, C), rel("2", B, C, "CAUSED"))) == 2
    assert len(after(rel("1", A, C), rel("2", C, B))) == 2
    assert len(after(rel("1", A, C, id="p"), rel("2", B, C, id="q"))) == 2
    assert len(after(rel("1", A, C), rel("2", A, C), rel("3", B, C))) == 2
    assert len(after(rel("1", A, C), rel("2", B, C), rel("3", B, C), rel("4", B, C))) == 3
    assert len(after(rel("2", B, C), rel("3", B, C))) == 2
    assert len(after(rel("1", A, C, confidence="x"), rel("2", B, C, confidence=0.5))) == 2


def test_of_two_duplicates_the_surer_counts() -> None:
    weak = {"confidence": 0.5, "last_reinforced_at": NOW, "next_due": NOW}
    sure = {"confidence": 0.8, "last_reinforced_at": NOW - DAY, "created_at": NOW - 9 * DAY}
    for mine, other in ((weak, sure), (sure, weak)):
        assert after(rel("1", A, C, **mine), rel("2", B, C, **other)) == [rel("1", A, C, **sure)]
    assert after(rel("1", A, C, **sure), rel("2", B, C)) == [rel("1", A, C)]  # absent is 1.0
    late = sure | {"last_reinforced_at": NOW}
    assert after(rel("1", A, C, **sure), rel("2", B, C, **late)) == [rel("1", A, C, **late)]


def graph(*nodes: Memory, rels: tuple[Rel, ...] = ()) -> Graph:
    return Graph({node.key: node for node in nodes}, {found.id: found for found in rels})


def test_unmerge_takes_back_what_is_as_it_was_left_and_names_the_rest() -> None:
    before = graph(memory("a", access_count=3), memory("b", access_count=4), memory("c"), rels=(rel("1", B, C),))
    merged, record = merge(before, A, B, NOW, LONG_AGO)
    assert unmerge(merged, record) == (before, frozenset())
    used = replace(merged.nodes[A], properties=merged.nodes[A].properties | {"access_count": 9, "mood": "new"})
    back, changed = unmerge(Graph(merged.nodes | {A: used}, merged.rels | {"2": rel("2", A, C, x=1)}), record)
    assert changed == {f"{A}.access_count"}
    assert back.nodes[A].properties == before.nodes[A].properties | {"access_count": 9, "mood": "new"}
    assert back.nodes[B] == before.nodes[B]
    assert set(back.rels) == {"1", "2"}
    rewritten = Graph(merged.nodes, {"1": replace(merged.rels["1"], properties={"x": 1})})
    assert unmerge(rewritten, record)[0].rels == rewritten.rels
    assert unmerge(rewritten, record)[1] == {"1"}
    restored = replace(merged.nodes[B], labels=("MemoryEntry",))
    assert unmerge(Graph(merged.nodes | {B: restored}, merged.rels), record)[1] == {f"{B}:labels"}
    purged = Graph({key: node for key, node in merged.nodes.items() if key != B}, merged.rels)
    assert unmerge(purged, record) == (purged, frozenset({B}))
    without_c = Graph({key: node for key, node in merged.nodes.items() if key != C}, merged.rels)
    assert unmerge(without_c, record)[1] == {"1"}


def test_the_merges_of_one_come_apart_in_either_order_and_it_claims_nobody() -> None:
    said = {B: "1", C: "2"}
    before = graph(memory("a"), *(memory(key[-1], content_hash=hash) for key, hash in said.items()), rels=())
    one, first = merge(before, A, B, NOW, LONG_AGO)
    two, second = merge(one, A, C, NOW + DAY, LONG_AGO)
    back, changed = unmerge(two, first)
    only_go_on = {f"{A}.revision", f"{A}.next_due"}
    assert changed == only_go_on
    left = back.nodes[A].properties
    assert (left["merged_from"], left["merged_hashes"], left["merged_at"]) == ([C], ["2"], NOW + DAY)
    last, changed = unmerge(back, second)
    assert changed == frozenset()
    names = {"merged_from", "merged_hashes", "merged_at"}
    assert names & last.nodes[A].properties.keys() == set()
    # What isn't a list of texts is the app's: it stays and is named.
    odd = replace(two.nodes[A], properties=two.nodes[A].properties | {"merged_from": 7})
    assert unmerge(Graph(two.nodes | {A: odd}, two.rels), first)[1] == {f"{A}.merged_from", *only_go_on}


_KEYS = (A, B, C, D, "default/e", "default/f")
_moments = st.integers(0, 40).map(lambda days: NOW - days * DAY)
_windows = st.dictionaries(st.integers(0, 6).map(lambda n: n * 3600), st.integers(1, 10), max_size=5).map(
    lambda held: [value for start in sorted(held, reverse=True) for value in (start, held[start])] or None
)
_values: dict[str, Any] = {
    "access_count": st.integers(0, 50),
    "recall_count": st.one_of(st.integers(0, 50), st.just("many")),
    "access_windows": _windows,
    "last_accessed_at": _moments,
    "prev_accessed_at": _moments,
    "agents": st.lists(st.sampled_from("abc"), max_size=3),
    "tags": st.one_of(st.lists(st.sampled_from("xyz"), max_size=3), st.just(7)),
    "confidence": st.sampled_from([0.2, 0.5, 0.8, 2]),
    "importance": st.sampled_from([0.1, 0.9]),
    "tier": st.sampled_from(["HOT", "WARM", "COLD", "hot"]),
    "content_hash": st.sampled_from(["1", "2", "3"]),
    "revision": st.integers(1, 9),
    "merged_from": st.just(["default/z"]),
    "first_seen_at": _moments,
    "author": st.sampled_from(["Ann", "Bob"]),
}
_days = st.builds(
    lambda age, counts: days(TODAY - timedelta(days=age), *counts),
    st.integers(0, 8),
    st.lists(st.integers(0, 4), min_size=7, max_size=7),
)


@st.composite
def _graphs(draw: st.DrawFn) -> Graph:
    kind = draw(st.sampled_from(["MemoryEntry", "Belief", "Concept"]))
    nodes = []
    for key in _KEYS:
        held = draw(st.fixed_dictionaries({"created_at": _moments}, optional=_values))
        held |= draw(st.one_of(st.just({}), _days)) | ({"state": "active"} if kind == "Belief" else {})
        nodes.append(Memory(key[8:], (kind,), {name: value for name, value in held.items() if value is not None}))
    some = st.fixed_dictionaries(
        {},
        optional={
            "confidence": st.sampled_from([0.5, 0.8, 0.8, "x"]),
            "last_reinforced_at": _moments,
            "created_at": _moments,
            "note": st.sampled_from([1, 2]),
        },
    )
    ends = st.sampled_from(_KEYS[:5])
    types = st.sampled_from(["ABOUT", "ABOUT", "CAUSED", "SIMILAR_TO"])
    made = draw(st.lists(st.tuples(types, ends, ends, st.one_of(st.just({}), some)), max_size=14))
    rels = tuple(Rel(str(n), type, start, end, held) for n, (type, start, end, held) in enumerate(made))
    return graph(*nodes, rels=rels)


@settings(max_examples=40, deadline=None)
@given(before=_graphs())
def test_no_relationship_is_lost_or_invented_and_counts_add_up(before: Graph) -> None:
    merged, _ = merge(before, A, B, NOW, LONG_AGO)

    def renamed(key: str) -> str:
        return A if key == B else key

    def said(found: Graph) -> Counter[tuple[str, ...]]:
        """By what it says, apart from how sure it is."""
        return Counter(
            (r.type, renamed(r.start), renamed(r.end), repr(r.properties.get("note"))) for r in found.rels.values()
        )

    gone = Counter[tuple[str, ...]]()
    for r in before.rels.values():
        if {r.start, r.end} == {A, B} or (r.type == "SIMILAR_TO" and B in (r.start, r.end)):
            gone[r.type, renamed(r.start), renamed(r.end), repr(r.properties.get("note"))] += 1
    kept = said(before) - gone
    assert set(said(merged)) == set(kept)
    assert all(said(merged)[key] <= n <= 2 * said(merged)[key] for key, n in kept.items())
    assert not any(B in (r.start, r.end) for r in merged.rels.values())
    assert set(merged.nodes) == set(before.nodes)
    untouched = {id for id, r in before.rels.items() if not {r.start, r.end} & {A, B}}
    assert {id: merged.rels[id] for id in untouched} == {id: before.rels[id] for id in untouched}

    mine, other, left = before.nodes[A], before.nodes[B], merged.nodes[A]
    assert left.properties.get("access_count", 0) == sum(m.properties.get("access_count", 0) for m in (mine, other))
    windows = [sum(m.properties.get("access_windows", [])[1::2]) for m in (mine, other, left)]
    assert windows[0] + windows[1] == windows[2]
    week = [uses_in_7_days(m, datetime.combine(TODAY, NOW.time(), timezone.utc)) for m in (mine, other, left)]
    assert week[2] == (week[0] or 0) + (week[1] or 0)
    assert (left.get("confidence") in (None, 2)) or left.get("confidence") <= max(
        m.get("confidence") for m in (mine, other) if m.get("confidence") not in (None, 2)
    )
