"""Edges with a confidence: due at the right moment, found by their index, observed meanwhile, known to remember and recall."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.conftest import PolicyWith, TestServer, say_go
from tests.curation_looks import set_batches
from tests.edge_graph import add_edges, add_memories, look_along, next_dues, stored
from tests.oracle import activation
from tests.oracle.edges import Edge
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.database.database import Database, in_one_map
from jochi.errors import Refused, UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.results import Switch
from jochi.operate.check import Level
from jochi.operate.checks_indexes import check_indexes
from jochi.policy import LoadedPolicy, load_policy
from jochi.schema import indexes
from jochi.use.edges import Edge as Observed

pytestmark = pytest.mark.server

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
HEAD = "[policy]\nname = 'edges'\nextends = 'default'\n"
SMALL = """
[edges]
types = [
    { type = "NEAR_IN_TIME", grace = "0s", window = "1h", per_window = 0.25, floor = 0.3, reinforce = 0.5 },
    { type = "SAME_ENTITY" },
    { type = "CAUSED", one_way = true },
    { type = "RELATED_TO", lifecycle = "salience" },
]
batch_edges = 4
widest = 3
fan_out = 4
"""
"""The shipped types, whose indexes are there: after a change of these the server plans everything anew."""


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    """Installed, somebody said go."""
    say_go(jochi)
    return jochi


@pytest.fixture
def policy_of(tmp_path: Path) -> Callable[[str], LoadedPolicy]:
    """A policy that differs from the shipped one in what is given."""

    def made(extra: str = "") -> LoadedPolicy:
        file = tmp_path / "policy.toml"
        file.write_text(HEAD + extra)
        return load_policy(file)

    return made


@pytest.fixture
def small(install_once: Callable[[LoadedPolicy], Jochi], policy_with: PolicyWith) -> Jochi:
    """A type with other numbers, and bounds so small that tests reach them; somebody said go."""
    client = install_once(policy_with(SMALL))
    say_go(client)
    set_batches(client, 2, 100, job="decay_edges")
    return client


def edge(id: str = "e", start: str = "s/a", end: str = "s/b", confidence: Any = 0.8, **more: Any) -> Edge:
    return Edge(start, end, confidence, id=id, **{"created_at": MADE, **more})


def given(client: Jochi, *edges: Edge) -> None:
    """The edges and the memories that they join."""
    add_memories(client, sorted({key for e in edges for key in (e.start, e.end)}))
    add_edges(client, edges)


def tally(client: Jochi, job: str, now: datetime) -> dict[str, int]:
    """What all runs of a job did together."""
    found: dict[str, int] = {}
    for run in client.run(job, drain=True, now=now):
        assert run.error is None
        for name, n in run.tally.items():
            found[name] = found.get(name, 0) + n
    return found


def confidence(client: Jochi, id: str = "e") -> Any:
    return client.database.run("MATCH ()-[r {id: $id}]->() RETURN r.confidence AS c", {"id": id})[0]["c"]


# -- time -----------------------------------------------------------------------------------------------------------


def test_a_window_is_charged_at_the_instant_it_ends_and_only_once(client: Jochi) -> None:
    given(client, edge())
    assert tally(client, "schedule_edges", MADE + DAY) == {"scheduled": 1}
    assert next_dues(client) == {"e": MADE + 180 * DAY}
    assert tally(client, "decay_edges", MADE + 180 * DAY - TICK) == {}
    assert confidence(client) == 0.8
    for found in ({"charged": 1, "windows": 1}, {}):
        assert tally(client, "decay_edges", MADE + 180 * DAY) == found
        assert stored(client, [edge()]) == {"e": edge(confidence=0.7, last_reinforced_at=MADE + 90 * DAY)}
        assert next_dues(client) == {"e": MADE + 270 * DAY}


def test_rare_runs_take_whole_windows_and_stop_at_the_floor(client: Jochi) -> None:
    given(client, edge(), edge("low", confidence=0.1), edge("lower", confidence=0.05), edge("new", confidence=None))
    tally(client, "schedule_edges", MADE)
    assert next_dues(client) == {"e": MADE + 180 * DAY, "low": None, "lower": None, "new": MADE + 180 * DAY}
    assert tally(client, "decay_edges", MADE + 270 * DAY) == {"charged": 2, "windows": 4}
    assert (confidence(client), confidence(client, "new")) == (0.6, 0.8)
    assert tally(client, "decay_edges", MADE + 9000 * DAY) == {"charged": 2, "windows": 5 + 7, "at_floor": 2}
    assert {
        id: e.confidence for id, e in stored(client, [edge("e"), edge("low"), edge("lower"), edge("new")]).items()
    } == {
        "e": 0.1,
        "low": 0.1,
        "lower": 0.05,
        "new": 0.1,
    }
    assert set(next_dues(client).values()) == {None}


def test_what_is_no_edge_between_memories_is_left_alone(client: Jochi) -> None:
    client.database.run(
        "CREATE (:Curated:Fact {key: 's/a', scope: 's'})-[:SAME_ENTITY {id: 'x', created_at: $at}]->(:Thing {key: 's/t'}) "
        "CREATE (:Thing)-[:SAME_ENTITY {id: 'y', created_at: $at}]->(:Thing)",
        {"at": MADE},
    )
    add_memories(client, ["s/b", "s/c"])
    add_edges(client, [edge("z", "s/b", "s/c")], {"z": "KNOWS"})
    assert tally(client, "schedule_edges", MADE + 200 * DAY) == {}
    assert tally(client, "decay_edges", MADE + 200 * DAY) == {}
    assert next_dues(client) == {"x": None, "y": None, "z": None}


def test_edges_of_a_tombstone_keep_and_are_charged_when_it_is_back(client: Jochi) -> None:
    """Whichever end it is."""
    given(client, edge("from"), edge("to", "s/b", "s/c"))
    tally(client, "schedule_edges", MADE)
    client.database.run(
        "MATCH (m:Curated {key: 's/b'}) SET m:Notification, m.read = true, m.read_at = $at, m.created_at = $at, m.next_due = $at "
        "REMOVE m:Fact",
        {"at": MADE},
    )
    client.run("curate_due", now=MADE + 8 * DAY, drain=True)
    assert client.status().tombstones == 1
    assert tally(client, "decay_edges", MADE + 200 * DAY) == {"taken_off": 2}
    assert (confidence(client, "from"), confidence(client, "to")) == (0.8, 0.8)
    assert next_dues(client) == {"from": None, "to": None}
    assert tally(client, "decay_edges", MADE + 200 * DAY) == {}
    client.restore(["s/b"])
    assert tally(client, "schedule_edges", MADE + 280 * DAY) == {"scheduled": 2}
    assert tally(client, "decay_edges", MADE + 280 * DAY) == {"charged": 2, "windows": 4}
    assert (confidence(client, "from"), confidence(client, "to")) == (0.6, 0.6)


def test_a_pause_puts_off_and_takes_nothing_away(client: Jochi) -> None:
    given(client, edge())
    tally(client, "schedule_edges", MADE)
    now = MADE + 180 * DAY
    for switch in (Switch("scope", "s"), Switch("kind", "Fact")):
        client.pause(switch)
        assert tally(client, "decay_edges", now) == {"paused": 1}
        assert next_dues(client) == {"e": now + timedelta(hours=1)}
        assert tally(client, "decay_edges", now) == {}
        assert tally(client, "schedule_edges", now) == {}
        client.resume(switch)
        now += timedelta(hours=1)
    assert tally(client, "decay_edges", now) == {"charged": 1, "windows": 1}


def test_it_waits_for_a_go(jochi: Jochi) -> None:
    with pytest.raises(Refused, match="go"):
        jochi.run("decay_edges")


# -- edges that something else wrote --------------------------------------------------------------------------------


def test_a_walk_a_day_finds_what_apps_wrote_and_changed(client: Jochi) -> None:
    assert sum(run.selected for run in client.run("schedule_edges", now=MADE)) == 0
    given(client, edge())
    assert tally(client, "schedule_edges", MADE) == {"scheduled": 1}
    add_edges(client, [edge("late")])
    assert sum(run.selected for run in client.run("schedule_edges", now=MADE + DAY - TICK)) == 0
    assert tally(client, "schedule_edges", MADE + DAY) == {"scheduled": 1}
    client.database.run("MATCH ()-[r {id: 'e'}]->() SET r.created_at = $at", {"at": MADE - 50 * DAY})
    client.database.run("MATCH ()-[r {id: 'late'}]->() SET r.confidence = 0.1")
    assert tally(client, "schedule_edges", MADE + 2 * DAY) == {"scheduled": 1, "unscheduled": 1}
    assert next_dues(client) == {"e": MADE + 130 * DAY, "late": None}
    client.database.run("MATCH ()-[r {id: 'e'}]->() SET r.next_due = 'soon', r.last_reinforced_at = $at", {"at": MADE})
    assert tally(client, "schedule_edges", MADE + 3 * DAY) == {"scheduled": 1}
    # Observed by the app itself: it comes up at the earlier moment, and nothing is taken.
    client.database.run("MATCH ()-[r {id: 'e'}]->() SET r.last_reinforced_at = $at", {"at": MADE + 100 * DAY})
    assert tally(client, "schedule_edges", MADE + 180 * DAY) == {}
    assert tally(client, "decay_edges", MADE + 180 * DAY) == {}
    assert next_dues(client)["e"] == MADE + 280 * DAY


# -- finding what is due --------------------------------------------------------------------------------------------


def plan_of(client: Jochi, text: str, parameters: dict[str, Any]) -> dict[str, Any]:
    with client.database.driver.session(database=client.database.name) as session:
        found = session.run(f"EXPLAIN {text}", client.engine.given(text, parameters)).consume().plan
    assert found is not None
    return found


def paths_up(node: dict[str, Any], above: tuple[str, ...] = ()) -> list[list[str]]:
    """From each leaf up, the operators' names."""
    here = (node["operatorType"].split("@")[0], *above)
    children = node.get("children", [])
    return [path for child in children for path in paths_up(child, here)] if children else [list(here)]


GIVEN = {
    "now": MADE + 180 * DAY,
    "limit": 100,
    "skip": [],
    "keys": ["s/a"],
    "run": "r",
    "policy": "p",
    "job": {"name": "decay_edges", "skip": []},
}


@pytest.mark.parametrize("section", ["select", "act"])
def test_due_edges_come_from_the_index_in_its_order(client: Jochi, section: str) -> None:
    given(client, *(edge(str(i), f"s/{i % 50}", f"s/{i}") for i in range(500)))
    root = plan_of(client, client.engine.text("edges/decay_edges", section), GIVEN)
    ways = paths_up(root)
    seeks = [way for way in ways if way[0] == "DirectedRelationshipIndexSeekByRange"]
    assert len(seeks) == len(client.policy.policy.edges.names)
    for way in seeks:
        first = next(name for name in way if name in ("Limit", "Sort", "Top", "PartialSort", "PartialTop"))
        assert first == "Limit", way
    others = {way[0] for way in ways} - {"DirectedRelationshipIndexSeekByRange", "Argument", "EmptyRow"}
    assert others <= {"NodeByLabelScan"}  # of :JochiPause, the kill switches
    assert section == "act" or others == set()


def test_keys_to_pass_over_stand_in_nobodys_way(client: Jochi) -> None:
    given(client, edge("bad", "s/bad", "s/b", created_at=MADE - DAY), edge("good"))
    tally(client, "schedule_edges", MADE)
    select = client.engine.text("edges/decay_edges", "select")
    assert client.database.run(select, in_one_map({**GIVEN, "limit": 1}))[0]["keys"] == ["s/bad"]
    assert client.database.run(select, in_one_map({**GIVEN, "limit": 1, "skip": ["s/bad"]}))[0]["keys"] == ["s/a"]
    client.database.run("MATCH (m:Curated {key: 's/bad'}) SET m.quarantined_until = $at", {"at": MADE + 181 * DAY})
    assert tally(client, "decay_edges", MADE + 180 * DAY) == {"charged": 1, "windows": 1}
    assert tally(client, "decay_edges", MADE + 181 * DAY) == {"charged": 1, "windows": 1}


# -- observations ---------------------------------------------------------------------------------------------------


def test_each_observation_adds_up_to_the_cap(client: Jochi) -> None:
    given(client, edge())
    seen = Observed("s/a", "SAME_ENTITY", "s/b")
    for number, expected in enumerate((0.85, 0.9, 0.95, 1.0, 1.0)):
        at = MADE + number * DAY
        assert client.reinforce([seen], now=at).reinforced == 1
        assert stored(client, [edge()])["e"] == edge(confidence=expected, last_reinforced_at=at)
        assert next_dues(client) == {"e": at + 180 * DAY}
    assert client.reinforce([seen], now=MADE + 4 * DAY + 180 * DAY).reinforced == 1
    assert confidence(client) == 0.95  # a window had ended: 1.0 - 0.1 + 0.05
    assert client.reinforce([seen, seen], now=MADE).reinforced == 2
    assert stored(client, [edge()])["e"] == edge(confidence=1.0, last_reinforced_at=MADE + 184 * DAY)


def test_a_batch_that_is_sent_again_changes_nothing(client: Jochi) -> None:
    given(client, edge(confidence=0.5))
    seen = Observed("s/a", "SAME_ENTITY", "s/b")
    first = client.reinforce([seen], batch="b1", now=MADE)
    again = client.reinforce([seen], batch="b1", now=MADE + DAY)
    assert (first.reinforced, first.repeated, again.reinforced, again.repeated) == (1, 0, 0, 1)
    assert confidence(client) == 0.55
    assert client.reinforce([seen], batch="b2", now=MADE).reinforced == 1
    client.touch(["s/a"], batch="b1", now=MADE)  # touches are batches of their own
    assert confidence(client) == 0.6
    tally(client, "forget_batches", MADE + 8 * DAY)
    assert client.reinforce([seen], batch="b1", now=MADE + 8 * DAY).reinforced == 1


def test_what_cannot_be_reinforced_is_told(client: Jochi) -> None:
    given(client, edge(), edge("odd", "s/b", "s/a", confidence="much", one_way=True))
    add_edges(client, [edge("k")], {"k": "KNOWS"})
    asked = [
        Observed("s/a", "SAME_ENTITY", "s/none"),
        Observed("s/a", "KNOWS", "s/b"),
        Observed("s/b", "CAUSED", "s/a"),
        Observed("s/a", "CAUSED", "s/b"),  # a cause leads one way
        Observed("s/b", "SAME_ENTITY", "s/a"),  # the same entity both ways
        Observed("s/a", "SAME_ENTITY", "s/b", "other"),
    ]
    done = client.reinforce(asked, now=MADE)
    assert (done.reinforced, done.unknown, done.undeclared, done.unreadable) == (1, 3, 1, 1)
    assert done.samples[0] == "s/a -SAME_ENTITY-> s/none: unknown"
    assert stored(client, [edge(), edge("odd")])["odd"].confidence == "much"
    assert client.database.run("MATCH (:Curated)-[r]->() RETURN count(r) AS n")[0]["n"] == 3
    for wrong in ("s/a", [("s/a", "KNOWS", "s/b")], [Observed("s/a", 1, "s/b")]):  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            client.reinforce(wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="1990"):
        client.reinforce(asked[:1], now=datetime(1970, 1, 21, tzinfo=timezone.utc))


def test_any_driver_is_told_what_is_wrong(client: Jochi) -> None:
    given(client, edge())
    link = {"from": "s/a", "type": "SAME_ENTITY", "to": "s/b"}
    for name, value in (("now", "today"), ("links", None), ("links", "x"), ("batch", ""), ("batch", 7)):
        row = client.engine.call("edges/reinforce", {"now": MADE, "links": [link], "batch": None, name: value})
        assert (row["results"], row["reinforced"]) == ([], 0)
        assert row["problem"].startswith(name)
    some = [link, None, 7, {}, {**link, "to": None}, {**link, "id": 5}]
    row = client.engine.call("edges/reinforce", {"now": MADE, "links": some, "batch": None})
    assert [result["outcome"] for result in row["results"]] == ["reinforced", *["wrong"] * 5]
    assert client.engine.call("edges/reinforce", {"now": MADE, "links": [], "batch": "b"})["results"] == []


def test_no_observation_is_lost_while_time_takes(client: Jochi) -> None:
    """Whoever comes first: the window takes its tenth once, and each observation adds its twentieth."""
    edges = [edge(str(i), f"s/{i % 7}", f"s/x{i}", confidence=0.3) for i in range(40)]
    given(client, *edges)
    tally(client, "schedule_edges", MADE)
    now = MADE + 185 * DAY
    seen = [Observed(e.start, "SAME_ENTITY", e.end) for e in edges]

    def observe(number: int) -> int:
        return sum(client.reinforce(seen[i::2], now=now, batch=f"{number}/{i}").reinforced for i in (0, 1))

    with ThreadPoolExecutor(4) as pool:
        working = [pool.submit(observe, number) for number in range(3)]
        charged = sum(run.changed for _ in range(5) for run in client.run("decay_edges", drain=True, now=now))
        assert sum(done.result() for done in working) == 3 * 40
    assert charged <= 40
    assert {e.confidence for e in stored(client, edges).values()} == {0.35}  # 0.3 - 0.1 + 3 · 0.05
    assert {e.last_reinforced_at for e in stored(client, edges).values()} == {now}


def test_an_app_that_holds_the_edge_is_waited_for_and_not_overwritten(client: Jochi) -> None:
    given(client, edge())
    tally(client, "schedule_edges", MADE)
    with client.database.driver.session() as session, ThreadPoolExecutor(1) as pool:
        tx = session.begin_transaction()
        tx.run("MATCH ()-[r {id: 'e'}]->() SET r.confidence = 0.5").consume()
        run = pool.submit(lambda: client.run("decay_edges", now=MADE + 180 * DAY))
        while not client.database.run(
            "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
        ):
            assert not run.done()
        tx.commit()
        assert sum(each.changed for each in run.result(60)) == 1
    assert confidence(client) == 0.4


# -- remember -------------------------------------------------------------------------------------------------------


def test_what_is_remembered_is_in_the_queue_at_once(client: Jochi) -> None:
    old = MADE - 300 * DAY
    links = [
        {"type": "SAME_ENTITY", "to": "b"},
        {"type": "CAUSED", "to": "b", "direction": "in", "properties": {"confidence": 0.6, "created_at": old}},
        {"type": "NEAR_IN_TIME", "to": "b", "properties": {"confidence": 0.1, "next_due": MADE}},
        {"type": "KNOWS", "to": "b", "properties": {"confidence": 0.6}},
    ]
    memories = [
        {"kind": "Fact", "scope": "s", "id": "b", "content": "tea"},
        {"kind": "Fact", "scope": "s", "id": "a", "content": "green tea", "relationships": links},
    ]
    for _ in range(2):  # sent again, nothing is reinforced: an answer may have got lost
        client.remember(memories, now=MADE)
        rows = client.database.run(
            "MATCH (a:Curated)-[r]->() RETURN type(r) AS type, a.id AS start, properties(r) AS p"
        )
        assert {row["type"]: (row["start"], to_python(row["p"])) for row in rows} == {
            "SAME_ENTITY": ("a", {"created_at": MADE, "next_due": MADE + 180 * DAY}),
            "CAUSED": ("b", {"confidence": 0.6, "created_at": old, "next_due": old + 180 * DAY}),
            "NEAR_IN_TIME": ("a", {"confidence": 0.1, "created_at": MADE}),
            "KNOWS": ("a", {"confidence": 0.6}),
        }
    assert tally(client, "decay_edges", MADE) == {"charged": 1, "windows": 2}


# -- recall ---------------------------------------------------------------------------------------------------------


def remembered(client: Jochi, *texts: str, scope: str = "s") -> None:
    client.remember(
        [{"kind": "Fact", "scope": scope, "id": text.split()[0], "content": text} for text in texts], now=MADE
    )


def test_recall_follows_edges_and_shows_them(client: Jochi) -> None:
    """Every number of docs/reference/edges.md, and on both sides of `edges.visible` and of the third hop."""
    remembered(client, "tea is green", "cup of porcelain", "china makes it", "far away", "farther still", "faint trace")
    add_edges(
        client,
        [
            edge("1", "s/tea", "s/cup", 0.87),
            edge("2", "s/china", "s/cup", None, weight=0.5),
            edge("3", "s/china", "s/far", 0.2),
            edge("4", "s/far", "s/farther", 1.0),
            edge("5", "s/tea", "s/faint", 0.199),
        ],
    )
    plain = client.recall("green", scope="s")
    assert (plain.keys, plain.reached) == (["s/tea"], ())
    found = client.recall("green", scope="s", hops=3)
    assert found.hits == plain.hits
    seed = plain[0].score
    assert seed == pytest.approx(1.0)
    assert [(one.key, round(one.activation, 5), round(one.score, 5)) for one in found.reached] == [
        ("s/cup", 0.609, 0.37758),
        ("s/china", 0.21315, 0.35544),
        ("s/far", 0.02984, 0.11897),
    ]
    assert {one.key: one.activation for one in found.reached} == pytest.approx(
        {
            "s/cup": seed * 0.87 * 0.7,
            "s/china": seed * 0.87 * 0.7 * 0.5 * 0.7,
            "s/far": seed * 0.87 * 0.7 * 0.5 * 0.7 * 0.2 * 0.7,
        }
    )
    far = next(one for one in found.reached if one.key == "s/far")
    assert far.path == (
        "s/tea -[SAME_ENTITY conf=0.87]-> s/cup <-[SAME_ENTITY conf=1.00 weight=0.5]- s/china -[SAME_ENTITY conf=0.20]-> s/far"
    )
    assert (far.kind, far.content, far.tier, far.hops, far.seed) == ("Fact", "far away", "HOT", 3, "s/tea")
    assert sum(one.score for one in found.reached) == pytest.approx(sum(one.activation for one in found.reached))
    assert not found.cut_off
    assert [one.key for one in client.recall("green", scope="s", hops=1).reached] == ["s/cup"]
    assert len(client.recall("green", scope="s", hops=3, k=2).reached) == 2
    assert len(client.recall("nothing", scope="s", hops=3).reached) == 0


@dataclass(frozen=True)
class Network:
    """Seven memories in a scope of their own, what joins them, and what recall hit."""

    scope: str
    edges: list[Edge]
    seeds: dict[str, float]
    hops: int

    @property
    def keys(self) -> list[str]:
        return [f"{self.scope}/{name}" for name in "abcdefg"]

    def scores(self) -> dict[str, float]:
        return activation.refined(activation.activations(self.seeds, self.edges, self.hops), self.edges)


def network(number: int) -> Network:
    """Dense enough for paths that meet, parallel edges and hits that lead to the same; the same ones in every run."""
    dice, empty = Random(number), Network(f"n{number}", [], {}, 0)
    edges = [
        Edge(
            *dice.sample(empty.keys, 2),
            confidence=dice.choice([None, 0.1, 0.199, 0.2, 0.5, 0.87, 1]),
            weight=dice.choice([None, 0.5, 2]),
            one_way=dice.random() < 1 / 3,
            id=f"{number}-{i:02}",
        )
        for i in range(dice.randint(12, 20))
    ]
    hits = dice.sample(empty.keys, dice.randint(1, 3))
    seeds = {key: 1 / (61 + rank) for rank, key in enumerate(hits)}
    return Network(empty.scope, edges, seeds, dice.choice([1, 2, 3, 3, 3]))


def test_recall_along_edges_is_the_oracles(client: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis' few examples of it are nearly empty; these are not, which is asked of the oracle first."""
    networks = [network(number) for number in range(40)]
    activated = [activation.activations(n.seeds, n.edges, n.hops) for n in networks]
    scores = [n.scores() for n in networks]
    assert sum(s != pytest.approx(a) for s, a in zip(scores, activated, strict=True)) >= 20, "refined"
    both_ways = [replace(n, edges=[replace(e, one_way=False) for e in n.edges]).scores() for n in networks]
    assert sum(s != pytest.approx(other) for s, other in zip(scores, both_ways, strict=True)) >= 20, "one_way"
    with monkeypatch.context() as patched:
        patched.setattr(activation, "VISIBLE", 0.0)
        seen = [n.scores() for n in networks]
    assert sum(s != pytest.approx(other) for s, other in zip(scores, seen, strict=True)) >= 20, "visible"
    ways = [list(activation.paths(n.seeds, n.edges, n.hops).values()) for n in networks]
    assert sum(any(len(activation.shown(to).edges) == 3 for to in of) for of in ways) >= 10, "three hops"
    assert sum(any(len({way.keys for way in to}) > 1 for to in of) for of in ways) >= 20, "paths"
    assert sum(any(len({way.keys[0] for way in to}) > 1 for to in of) for of in ways) >= 10, "hits"
    assert sum(any(len({way.keys for way in to}) < len(to) for to in of) for of in ways) >= 20, "parallel edges"

    add_memories(client, [key for n in networks for key in n.keys])
    add_edges(client, [e for n in networks for e in n.edges])
    for n in networks:
        look_along(client, n.scope, n.edges, n.seeds, n.hops, MADE)


def test_recall_passes_through_live_memories_of_the_scope_only(client: Jochi) -> None:
    remembered(client, "tea is green", "one", "two", "old", "beyond", "dead", "gone")
    remembered(client, "foreign", scope="other")
    client.database.run("MATCH (m {key: 's/old'}) SET m.state = 'archived'")
    client.database.run("MATCH (m {key: 's/dead'}) REMOVE m:Curated, m:Fact SET m:Tombstone, m.tombstone = true")
    pairs = ["tea one", "one two", "tea old", "old beyond", "tea dead", "dead gone"]
    edges = [edge(str(i), *(f"s/{name}" for name in pair.split()), confidence=0.9) for i, pair in enumerate(pairs)]
    add_edges(client, [*edges, edge("f", "s/tea", "other/foreign")])

    def reached(**asked: Any) -> set[str]:
        return {one.key for one in client.recall("green", scope="s", hops=3, **asked).reached}

    assert reached() == {"s/one", "s/two"}
    assert reached(include_archived=True) == {"s/one", "s/two", "s/old", "s/beyond"}
    client.database.run("MATCH (m {key: 's/one'}) SET m.status = 'superseded'")
    assert (reached(), reached(include_superseded=True)) == (set(), {"s/one", "s/two"})
    client.database.run("MATCH (m {key: 's/one'}) REMOVE m.status")
    client.database.run(
        "MATCH (m {key: 's/one'}) REMOVE m:Fact SET m:Note, m.tier = 'COLD', m.created_at = $at", {"at": MADE - DAY}
    )
    assert reached(kinds=["Fact"]) == {"s/two"}
    assert reached(tiers=["COLD"], k=5) == set()  # the hit itself isn't COLD
    assert reached(since=MADE) == {"s/two"}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"scope": ""}, "scope"),
    ({"seeds": None}, "seeds"),
    ({"seeds": [{"key": "s/a"}]}, "seeds"),
    ({"seeds": [{"key": "s/a", "score": -1}]}, "seeds"),
    ({"seeds": [{"key": "s/a", "score": math.nan}]}, "seeds"),
    ({"hops": 0}, "hops"),
    ({"hops": 4}, "hops"),
    ({"hops": 1.5}, "hops"),
    ({"k": 0}, "k"),
    ({"kinds": "Fact"}, "kinds"),
    ({"kinds": ["Fact", "Fakt"]}, "kinds: kinds of the policy, which has no Fakt"),
    ({"tiers": ["WET"]}, "tiers"),
    ({"since": "now"}, "since"),
    ({"include_archived": 1}, "include_archived"),
]


def test_a_wrong_request_says_what_is_wrong(client: Jochi) -> None:
    given(client, edge())
    asked = {"scope": "s", "seeds": [{"key": "s/a", "score": 1}], "hops": 1, "k": 5}
    right = client.engine.call("memory/recall_spread", {"now": MADE, "asked": asked}, write=False)
    assert [one["key"] for one in right["reached"]] == ["s/b"]
    for changed, says in WRONG:
        row = client.engine.call("memory/recall_spread", {"now": MADE, "asked": {**asked, **changed}}, write=False)
        assert row["refused"].startswith(says)
        assert (row["reached"], row["found"]) == ([], 0)
    for hops in (-1, True, 1.5, "2", 4):
        with pytest.raises(UsageError, match="hops"):
            client.recall("green", scope="s", hops=hops)  # type: ignore[arg-type]


# -- reports --------------------------------------------------------------------------------------------------------


def test_the_report_names_what_waits(client: Jochi, server: TestServer) -> None:
    given(client, edge(), edge("late", "s/b", "s/c", confidence=None, created_at=MADE + DAY), edge("c", one_way=True))
    tally(client, "schedule_edges", MADE)
    found = client.edges(MADE + 180 * DAY)
    assert [(t.type, t.one_way, t.stored, t.due, t.next_due) for t in found.types] == [
        ("SAME_ENTITY", False, 2, 1, MADE + 180 * DAY),
        ("NEAR_IN_TIME", False, 0, 0, None),
        ("CAUSED", True, 1, 1, MADE + 180 * DAY),
        ("RELATED_TO", False, 0, 0, None),
    ]
    assert [t.lifecycle for t in found.types] == ["confidence"] * 3 + ["salience"]
    (waiting,) = found.types[0].samples
    assert (waiting.start, waiting.end, waiting.confidence, waiting.anchor) == ("s/a", "s/b", 0.8, MADE)
    assert found.walked_at == MADE
    assert client.plan(MADE + 180 * DAY).edges == {"SAME_ENTITY": 1, "CAUSED": 1}
    assert client.plan(MADE + 180 * DAY - TICK).edges == {}
    environment = {"JOCHI_URI": server.uri, "JOCHI_USER": server.user, "JOCHI_PASSWORD": server.password}
    for words, says in (
        (["memory", "edges", "--at", "2026-06-30T00:00:00Z"], "SAME_ENTITY"),
        (["memory", "edges", "--json"], '"next_due"'),
        (["plan", "--at", "2026-06-30T00:00:00Z"], "1 CAUSED, 1 SAME_ENTITY"),
        (["recall", "fact", "--scope", "s", "--hops", "2", "--json"], '"reached"'),
        (["recall", "fact", "--scope", "s", "--hops", "1"], "more along edges"),
        (["recall", "fact", "--scope", "s", "--limit", "1", "--hops", "1"], "conf="),
    ):
        answer = CliRunner().invoke(app, words, env=environment)
        assert answer.exit_code == 0, answer.output
        assert says in answer.output


# -- other numbers and small bounds: another policy, so these tests stand together ---------------------------------------


def test_each_type_has_numbers_of_its_own(small: Jochi) -> None:
    client = small
    add_memories(client, ["s/a", "s/b"])
    add_edges(client, [edge("k"), edge("c"), edge("other")], {"k": "NEAR_IN_TIME", "c": "CAUSED", "other": "KNOWS"})
    now = MADE + timedelta(hours=1)
    assert tally(client, "schedule_edges", now) == {"scheduled": 2}
    assert tally(client, "decay_edges", now - TICK) == {}
    assert tally(client, "decay_edges", now) == {"charged": 1, "windows": 1}
    assert (confidence(client, "k"), confidence(client, "c"), confidence(client, "other")) == (0.55, 0.8, 0.8)
    tally(client, "decay_edges", now + timedelta(hours=5))
    assert confidence(client, "k") == 0.3
    assert client.reinforce([Observed("s/a", "NEAR_IN_TIME", "s/b")], now=now).reinforced == 1
    assert confidence(client, "k") == 0.8


def test_a_memory_with_more_edges_than_a_batch(small: Jochi) -> None:
    client = small
    edges = [edge(f"e{i}", "s/hub" if i < 11 else f"s/{i}", "s/other", one_way=i % 2 == 0) for i in range(23)]
    given(client, *edges)
    assert tally(client, "schedule_edges", MADE) == {"scheduled": 23}
    assert tally(client, "decay_edges", MADE + 180 * DAY) == {"charged": 23, "windows": 23}
    assert {e.confidence for e in stored(client, edges).values()} == {0.7}


@pytest.mark.slow
def test_a_neighbourhood_that_is_too_large_is_cut_off_and_says_so(small: Jochi) -> None:
    remembered(small, "tea is green", *(f"n{i} leaf" for i in range(5)))

    def found(*ends: int) -> tuple[set[str], bool]:
        small.database.run("MATCH (:Curated)-[r]->() DELETE r")
        add_edges(small, [edge(str(i), "s/tea", f"s/n{n}", confidence=0.3 + i / 10) for i, n in enumerate(ends)])
        recalled = small.recall("green", scope="s", hops=2)
        return {one.key for one in recalled.reached}, recalled.cut_off

    assert found(0, 1, 2) == ({"s/n0", "s/n1", "s/n2"}, False)
    assert found(0, 1, 2, 3) == ({"s/n1", "s/n2", "s/n3"}, True)  # widest: the strongest
    assert found(0, 0, 0, 0) == ({"s/n0"}, False)
    assert found(0, 0, 0, 0, 0) == ({"s/n0"}, True)  # fan_out


# -- indexes and policies -------------------------------------------------------------------------------------------


def names(database: Database) -> set[str]:
    return {row["name"] for row in indexes.read(database) if row["entity"] == "RELATIONSHIP"}


def test_indexes_follow_the_policy(database: Database, policy_of: Callable[..., LoadedPolicy]) -> None:
    shipped, one = policy_of().policy, policy_of("[edges]\ntypes = [{ type = 'CAUSED' }, { type = 'KNOWS' }]\n").policy
    assert check_indexes(shipped, indexes.read(database)).level is Level.FAIL
    made = indexes.reconcile(database, shipped)
    assert {(change.name, change.done) for change in made if "edge" in change.name} == {
        (f"curated_edge_due_{type}", "created") for type in ("SAME_ENTITY", "NEAR_IN_TIME", "CAUSED", "RELATED_TO")
    }
    assert indexes.reconcile(database, shipped) == []
    indexes.await_built(database, indexes.wanted_indexes(shipped))
    assert check_indexes(shipped, indexes.read(database)).level is Level.OK
    assert {(change.name[17:], change.done) for change in indexes.reconcile(database, one)} == {
        ("SAME_ENTITY", "dropped"),
        ("NEAR_IN_TIME", "dropped"),
        ("RELATED_TO", "dropped"),
        ("KNOWS", "created"),
    }
    assert names(database) == {"curated_edge_due_CAUSED", "curated_edge_due_KNOWS"}
    indexes.remove(database)
    assert names(database) == set()


def test_a_dbas_own_index_will_do_and_stays(database: Database, policy_of: Callable[..., LoadedPolicy]) -> None:
    policy = policy_of("[edges]\ntypes = [{ type = 'CAUSED' }]\n").policy
    database.autocommit("CREATE INDEX mine FOR ()-[r:CAUSED]-() ON (r.next_due)")
    assert [change.name for change in indexes.reconcile(database, policy) if "edge" in change.name] == []
    indexes.await_built(database, indexes.wanted_indexes(policy))
    assert check_indexes(policy, indexes.read(database)).level is Level.OK
    indexes.remove(database)
    assert names(database) == {"mine"}


def test_a_foreign_index_of_the_name_stops_the_install(
    database: Database, policy_of: Callable[..., LoadedPolicy]
) -> None:
    database.autocommit("CREATE INDEX curated_edge_due_CAUSED FOR (n:Thing) ON (n.x)")
    with pytest.raises(Refused, match="curated_edge_due_CAUSED"):
        indexes.reconcile(database, policy_of().policy)


@pytest.mark.slow
def test_a_policy_without_edges_works_and_uninstall_leaves_nothing(
    database: Database, policy_of: Callable[..., LoadedPolicy]
) -> None:
    client = Jochi(database.driver, policy=policy_of())
    client.install(arm=False)
    client.apply()
    given(client, edge())
    tally(client, "schedule_edges", MADE)
    assert next_dues(client)["e"] is not None
    none = Jochi(database.driver, policy=policy_of("[edges]\ntypes = []\n"))
    none.install(arm=False)
    none.apply()
    assert names(database) == set()
    for job in ("schedule_edges", "decay_edges"):
        assert sum(run.selected for run in none.run(job, now=MADE + 400 * DAY)) == 0
    assert none.edges().types == ()
    assert none.reinforce([Observed("s/a", "SAME_ENTITY", "s/b")]).undeclared == 1
    assert none.recall("fact", scope="s", hops=2).reached == ()
    client.install(arm=False)
    client.uninstall()
    assert names(database) == set()
    (left,) = database.run("MATCH ()-[r]->() RETURN properties(r) AS p")
    assert to_python(left["p"]) == {"id": "e", "confidence": 0.8, "created_at": MADE}
