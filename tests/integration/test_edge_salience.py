"""Relationships with a salience: how they fall, what a use does, when they are archived, and that recall knows (seed 002)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.conftest import PolicyWith, say_go
from tests.living_edges import add, stored
from tests.oracle import edge_salience as oracle
from tests.oracle.edge_salience import LivingEdge

from jochi import Jochi
from jochi.errors import UsageError
from jochi.use.edges import Edge, ReinforceResult

pytestmark = pytest.mark.server

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
TICK = timedelta(microseconds=1)
TYPE = "RELATED_TO"


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    """Installed, somebody said go."""
    say_go(jochi)
    return jochi


def edge(id: str = "e", start: str = "s/a", end: str = "s/b", **properties: Any) -> LivingEdge:
    return LivingEdge(id, start, end, {"id": id, "created_at": MADE} | properties)


def use(client: Jochi, *edges: LivingEdge, at: datetime = MADE) -> ReinforceResult:
    return client.reinforce([Edge(e.start, TYPE, e.end, e.id) for e in edges], now=at)


def look(client: Jochi, now: datetime) -> None:
    for job in ("schedule_edges", "decay_edges"):
        assert [run.error for run in client.run(job, drain=True, now=now) if run.error] == []


def reported(client: Jochi, at: datetime = MADE, scope: str = "s") -> None:
    """Somebody used another edge of the scope, so that what isn't used is known to be unused."""
    other = edge("other", f"{scope}/x", f"{scope}/y")
    add(client, [other])
    assert use(client, other, at=at).reinforced == 1


FADES: list[tuple[dict[str, Any], float]] = [
    ({}, 195.6),
    ({"salience": 0.5, "confidence": 0.4}, 88.9),
    ({"confidence": 0.79}, 137.7),
    ({"state": "active", "recall_frequency": 5, "decay_gradient": 1.5}, 2382.5),
    ({"state": "core", "salience": 1.0, "access_count": 12}, 2993.4),
]


def test_below_a_hundredth_it_is_archived_and_nothing_else(client: Jochi) -> None:
    more = {"attitude": "fond", "weight": 2.0}
    edges = {days: edge(str(days), f"s/a{days}", **properties, **more) for properties, days in FADES}
    add(client, edges.values())
    reported(client)
    look(client, MADE + DAY)
    for days, one in sorted(edges.items()):
        fades = oracle.due(one, MADE)
        assert fades is not None
        assert (fades - MADE) / DAY == pytest.approx(days, abs=0.05)
        look(client, fades - SECOND)
        assert stored(client)[one.id] == one.properties | {"next_due": fades}
        look(client, fades + DAY)
        after = stored(client)[one.id]
        assert (after["state"], after["archived_at"], after["salience_at"]) == ("archived", fades + DAY, fades)
        assert after["salience"] == pytest.approx(oracle.salience_now(one, fades, MADE), rel=1e-12)
        assert after["salience"] < 0.01
        kept = set(one.properties) - {"state", "salience"}
        assert {name: after[name] for name in kept} == {name: one.properties[name] for name in kept}
        assert "next_due" not in after
    before = stored(client)
    look(client, MADE + 4000 * DAY)
    assert {id: stored(client)[id] for id in map(str, edges)} == {id: before[id] for id in map(str, edges)}


STAYS: list[dict[str, Any]] = [
    {"confidence": 0.8},
    {"ttl_policy": "keep_forever"},
    {"salience": "high"},
    {"state": 7},
    {"created_at": "then"},
    {"decay_gradient": "steep"},
    {"recall_frequency": -1},
    {"state": "archived", "salience": 0.001},
]


def test_what_doesnt_fall_or_cant_be_read_stays(client: Jochi) -> None:
    edges = [edge(str(i), f"s/a{i}", **properties) for i, properties in enumerate(STAYS)]
    add(client, edges)
    reported(client)
    for day in (1, 1000, 7000):
        look(client, MADE + day * DAY)
    found = stored(client)
    assert {one.id: found[one.id] for one in edges} == {one.id: one.properties for one in edges}


def test_a_scope_where_nobody_reports_uses_keeps_its_edges(client: Jochi) -> None:
    mine, theirs, faint = edge(), edge("t", "t/a", "t/b"), edge("f", "t/a", "t/b", salience=0.001, state="active")
    add(client, [mine, theirs, faint])
    client.touch(["t/a", "t/b"], now=MADE, used=True)
    client.run("fold_accesses", drain=True, now=MADE + DAY)
    reported(client)
    look(client, MADE + 7000 * DAY)
    found = stored(client)
    assert (found["e"]["state"], found["t"].get("state"), found["f"]["state"]) == ("archived", None, "active")
    assert "next_due" not in found["t"]
    late = MADE + 7000 * DAY
    reported(client, late, scope="t")
    look(client, late + DAY)
    assert stored(client)["t"]["next_due"] == oracle.due(theirs, late), "it falls from the first report on"
    assert (stored(client)["f"]["state"], stored(client)["f"]["salience_at"]) == ("archived", late)


def test_what_is_ephemeral_has_its_deadline_however_salient(client: Jochi) -> None:
    kept = edge("kept", ttl_policy="keep_forever")
    short = edge("short", ttl_policy="ephemeral", salience=1.0, state="core", access_count=40)
    add(client, [kept, short])
    end = MADE + 90 * DAY
    look(client, end - TICK)
    assert stored(client)["short"]["state"] == "core"
    look(client, end)
    found = stored(client)
    assert (found["short"]["state"], found["short"]["archived_at"], found["kept"].get("state")) == (
        "archived",
        end,
        None,
    )
    use(client, short, at=end + DAY)
    assert stored(client)["short"]["state"] == "archived", "archived for good"


def test_uses_make_it_active_then_core_and_bring_it_back(client: Jochi) -> None:
    expected = edge(confidence=0.6)
    add(client, [expected])
    for n in range(1, 11):
        at = MADE + 3 * n * DAY
        assert use(client, expected, at=at).reinforced == 1
        expected = oracle.used(expected, at, MADE + 3 * DAY)
        found = stored(client)["e"]
        assert found["state"] == ("active" if n < 10 else "core")
        assert found["salience"] == pytest.approx(expected.properties["salience"], rel=1e-12)
        for name in ("recall_frequency", "access_count", "last_accessed_at", "prev_accessed_at", "decay_gradient"):
            assert found.get(name) == expected.properties.get(name), name
        assert found["next_due"] == oracle.due(expected, MADE + 3 * DAY)
    fades = oracle.due(expected, MADE + 3 * DAY)
    assert fades is not None
    look(client, fades)
    assert stored(client)["e"]["state"] == "archived"
    use(client, expected, at=fades + DAY)
    found = stored(client)["e"]
    assert (found["state"], found.get("archived_at")) == ("active", None)
    assert found["confidence"] == 0.6, "time and uses leave the confidence of the extraction alone"


def test_ten_uses_an_hour_count(client: Jochi) -> None:
    add(client, [edge()])
    done = client.reinforce([Edge("s/a", TYPE, "s/b")] * 12, now=MADE)
    assert (done.reinforced, done.uncounted, done.unreadable) == (10, 2, 0)
    assert use(client, edge(), at=MADE + 3599 * SECOND).uncounted == 1
    found = stored(client)["e"]
    assert (found["access_count"], found["state"], found["last_accessed_at"]) == (10, "core", MADE + 3599 * SECOND)
    assert use(client, edge(), at=MADE + 3600 * SECOND).reinforced == 1
    assert use(client, edge(), at=MADE - SECOND).reinforced == 1, "late, in a window of its own"
    assert stored(client)["e"]["access_count"] == 12
    assert stored(client)["e"]["last_accessed_at"] == MADE + 3600 * SECOND


def test_a_use_too_old_for_the_windows_that_are_remembered_isnt_counted(client: Jochi) -> None:
    add(client, [edge()])
    kept = client.policy.policy.accesses.windows_kept
    for hour in range(1, kept + 1):
        assert use(client, edge(), at=MADE + hour * 3600 * SECOND).reinforced == 1
    assert use(client, edge(), at=MADE).uncounted == 1
    assert len(stored(client)["e"]["access_windows"]) == 2 * kept
    assert use(client, edge(), at=MADE + 3601 * SECOND).reinforced == 1


def test_two_years_of_weekly_uses_bursts_and_none_end_in_the_states_that_the_seed_describes(client: Jochi) -> None:
    weekly, once, seasonal = (edge(id, f"s/{id}", "s/b") for id in ("weekly", "once", "seasonal"))
    add(client, [weekly, once, seasonal])
    uses = [(MADE + 7 * week * DAY, weekly) for week in range(1, 105)]
    uses += [(MADE + DAY, once)] + [(MADE + season * 91 * DAY, seasonal) for season in range(1, 9)]
    first, expected = MADE + DAY, {e.id: e for e in (weekly, once, seasonal)}
    for at, used in sorted(uses, key=lambda pair: (pair[0], pair[1].id)):
        use(client, used, at=at)
        expected[used.id] = oracle.used(expected[used.id], at, first)
    end = MADE + 730 * DAY
    look(client, end)
    found = stored(client)
    assert {id: found[id]["state"] for id in expected} == {"weekly": "core", "once": "archived", "seasonal": "active"}
    for id, e in expected.items():
        assert found[id]["salience"] == pytest.approx(oracle.looked_at(e, end, first).properties["salience"], rel=1e-9)


def test_recall_leaves_out_what_is_archived_and_says_the_state(client: Jochi) -> None:
    add(client, [edge("a", "s/a", "s/b", state="archived"), edge("c", "s/a", "s/c", state="core", confidence=0.5)])
    asked: dict[str, Any] = {"scope": "s", "seeds": [{"key": "s/a", "score": 1.0}], "hops": 1, "k": 10}
    asked |= dict.fromkeys(("kinds", "tiers", "since", "until", "include_archived", "include_superseded"))

    def reached(**more: Any) -> dict[str, Any]:
        row = client.engine.call("memory/recall_spread", {"now": MADE, "asked": asked | more}, write=False)
        assert row["refused"] is None
        return {entry["key"]: entry["edges"][0]["state"] for entry in row["reached"]}

    assert reached() == {"s/c": "core"}
    assert reached(include_archived=True) == {"s/b": "archived", "s/c": "core"}


def test_where_it_stands_for_any_time_in_cypher_and_in_python(client: Jochi) -> None:
    falls = edge("f", "s/a", "s/b", state="active", recall_frequency=3, decay_gradient=0.7, salience=0.9)
    fainter = edge("g", "s/a", "s/b", salience=0.2)
    add(client, [falls, fainter])
    reported(client)
    link = Edge("s/a", TYPE, "s/b")
    turned, none, other = Edge("s/b", TYPE, "s/a"), Edge("s/a", TYPE, "s/nobody"), Edge("s/a", "CAUSED", "s/b")
    for days in (-5, 0, 17, 7300):
        at = MADE + days * DAY
        standing, same, *nothing = client.edge_salience([link, turned, none, other], at=at)
        assert nothing == [None, None]
        assert standing is not None
        assert same is not None
        assert standing.at(at) == pytest.approx(oracle.salience_now(falls, at, MADE), rel=1e-12)
        assert (same.value, same.since, same.rate) == (standing.value, standing.since, standing.rate)
        row = client.engine.call(
            "edges/salience", {"now": at, "links": [{"from": "s/a", "type": TYPE, "to": "s/b", "id": "g"}]}, write=False
        )
        assert row["edges"][0]["salience"] == pytest.approx(oracle.salience_now(fainter, at, MADE), rel=1e-12)


def test_remember_writes_when_it_was_made_and_the_walk_finds_it(client: Jochi) -> None:
    link = {"type": TYPE, "to": "ann", "properties": {"id": "e", "attitude": "fond"}}
    people = [{"kind": "Person", "scope": "s", "id": id, "content": id} for id in ("ann", "bob")]
    done = client.remember([people[0], people[1] | {"relationships": [link]}], now=MADE)
    assert done.written == 2
    assert stored(client)["e"] == {"id": "e", "attitude": "fond", "created_at": MADE}
    reported(client)
    look(client, MADE + DAY)
    assert stored(client)["e"]["next_due"] == oracle.due(edge(), MADE)


def test_an_edge_of_a_tombstone_waits_and_goes_on(client: Jochi) -> None:
    add(client, [edge()])
    reported(client)
    look(client, MADE + DAY)
    client.database.run("MATCH (n {key: 's/b'}) SET n:Tombstone, n.tombstone = true REMOVE n:Curated:Fact")
    look(client, MADE + 300 * DAY)
    assert stored(client)["e"] == edge().properties
    assert use(client, edge(), at=MADE + 300 * DAY).unknown == 1
    client.database.run("MATCH (n {key: 's/b'}) SET n:Curated:Fact REMOVE n:Tombstone, n.tombstone")
    look(client, MADE + 302 * DAY)
    assert stored(client)["e"]["state"] == "archived"


def test_many_at_once_lose_no_use(client: Jochi) -> None:
    add(client, [edge()])

    def report(hour: int) -> int:
        return client.reinforce([Edge("s/a", TYPE, "s/b")] * 3, now=MADE + hour * 3600 * SECOND).reinforced

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(report, range(16))) == 48
    found = stored(client)["e"]
    assert (found["access_count"], found["recall_frequency"], found["last_accessed_at"]) == (
        48,
        48,
        MADE + 15 * 3600 * SECOND,
    )


def test_numbers_of_confidence_are_refused_where_there_is_a_salience(policy_with: PolicyWith) -> None:
    for number in ("grace = '1d'", "floor = 0.2", "reinforce = 0.1"):
        with pytest.raises(UsageError, match="KNOWS has a salience"):
            policy_with(f"[edges]\ntypes = [{{ type = 'KNOWS', lifecycle = 'salience', {number} }}]")
