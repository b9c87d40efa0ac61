"""Tables of docs/reference that say what a memory or an edge becomes: computed by the engine, compared with the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

import pytest
from tests.conftest import say_go
from tests.curation_looks import DAY, HAIR, SECOND, write
from tests.edge_graph import add_edges, add_memories, stored
from tests.oracle import Memory
from tests.oracle.edges import Edge
from tests.pages import says, table

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy, load_policy

pytestmark = [pytest.mark.server, pytest.mark.exhaustive]  # what they compute other tests compute by hand

MADE = datetime(2026, 1, 1, tzinfo=timezone.utc)
LONG_AGO = MADE - 400 * DAY
BURSTS = [180.0 + day for day in range(4)] + [545.0 + day for day in range(4)]
"""Four uses a year, in days after MADE."""


@pytest.fixture
def client(install_once: Callable[[LoadedPolicy], Jochi]) -> Jochi:
    """The shipped policy; somebody said go."""
    made = install_once(load_policy())
    say_go(made)
    return made


# -- salience.md -------------------------------------------------------------------------------------------------------


def test_the_page_of_salience_has_the_true_lifetimes(client: Jochi) -> None:
    unused = {
        "plain": {"state": "active"},
        "from a half": {},
        "of 0.4": {"confidence": 0.4},
        "of 0.5": {"confidence": 0.5},
        "of 0.9": {"confidence": 0.9},
        "resistant": {"salience": 1.0, "state": "active", "recall_frequency": 5, "decay_gradient": 1.5},
    }
    given(client, unused)
    left = {days: salience(client, unused, MADE + days * DAY) for days in (0, 35, 70, 4000)}
    assert left[4000]["of 0.9"] == left[0]["of 0.9"]
    assert left[0]["of 0.4"] == left[0]["of 0.5"] == left[0]["from a half"] == 0.5
    half = {id: f"{half_life(client, id):.1f} days" for id in ("plain", "of 0.4", "of 0.5")}
    gone = {id: f"{days:.1f} days" for id, days in archived(client, unused).items()}
    assert gone.keys() == {"plain", "from a half", "of 0.4", "of 0.5"}
    kept = {days: f"× {left[days]['resistant'] / left[0]['resistant']:.3f}" for days in (35, 70)}

    often = used(client, [3.0 * i for i in range(1, 11)])
    assert [state for state, _, _ in often[:-1]] == ["active"] * 9
    bursts = used(client, [*BURSTS, 900.0, 901.0])
    assert {state for state, _, _ in bursts[:-1]} == {"active"}
    in_two_years = bursts[: len(BURSTS)]
    # It is highest after a use and lowest before one; what it was before it was first used is no baseline.
    lowest = min(before for _, before, _ in in_two_years[1:])
    highest = max(after for _, _, after in in_two_years)

    rows = [
        ("never used", "half of what it was", "35 days", half["plain"]),
        ("never used, from 0.5", "below 0.01, archived", "100 days", gone["from a half"]),
        ("candidate with confidence 0.4, from 0.5", "half", "17 days", half["of 0.4"]),
        ("the same", "below 0.01, archived", "about 50 days", gone["of 0.4"]),
        ("candidate with confidence 0.5, from 0.5", "half", "17 days", half["of 0.5"]),
        ("the same", "below 0.01, archived", "–", gone["of 0.5"]),
        ("used 5 times, gradient 1.5", "after 35 days", "× 0.95", kept[35]),
        ("the same", "after 70 days", "× 0.90", kept[70]),
        ("candidate with confidence 0.9", "any time", "as it was", "as it was"),
        ("used every third day", "after ten uses (30 days)", "core", often[-1][0]),
        (
            "used in a burst of four a year",
            "after two years",
            "active",
            f"{in_two_years[-1][0]}, for 8 uses; from the tenth on it is {bursts[-1][0]}",
        ),
        ("the same", "from its first burst on", "0.3–0.6", f"{lowest:.2f}–{highest:.2f}"),
    ]
    says("salience.md", {"lifetimes": table(("memory", "salience", "the seed says", "really"), rows)})


def given(client: Jochi, some: Mapping[str, dict[str, Any]]) -> None:
    """Concepts made at MADE, in a scope that has reported accesses for long."""
    memories = [
        Memory(id, ("Concept",), {"created_at": MADE, "tier": "ARCHIVE", **properties})
        for id, properties in some.items()
    ]
    write(client, memories, first=LONG_AGO, now=MADE)


def salience(client: Jochi, ids: Mapping[str, Any] | list[str], at: datetime) -> dict[str, float]:
    """What the database says it is at a moment."""
    row = client.engine.call("memory/salience", {"now": at, "keys": [f"default/{id}" for id in ids]}, write=False)
    return {entry["key"].split("/")[1]: entry["salience"] for entry in row["memories"]}


def half_life(client: Jochi, id: str) -> float:
    """Days after which the database says that half is left."""
    low, high = 0.0, 100.0
    whole = salience(client, [id], MADE)[id]
    while high - low > 0.001:
        middle = (low + high) / 2
        low, high = (low, middle) if salience(client, [id], MADE + middle * DAY)[id] <= whole / 2 else (middle, high)
    return high


def archived(client: Jochi, some: Mapping[str, Any]) -> dict[str, float]:
    """After how many days those that fade within a year had faded: the queue is worked whenever it has something."""
    gone: dict[str, float] = {}
    while True:
        rows = client.database.run(
            "MATCH (m:Curated) RETURN m.id AS id, m.state AS state, m.salience_at AS at, m.next_due AS due", write=False
        )
        for row in map(to_python, rows):
            if row["state"] == "archived":
                gone[row["id"]] = (row["at"] - MADE) / DAY
        due = min(to_python(row)["due"] for row in rows if row["due"] is not None)
        if due > MADE + 365 * DAY:
            assert gone.keys() <= some.keys()
            return gone
        assert run_job(client.engine, "curate_due", now=due, drain=True)[-1].error is None


def used(client: Jochi, days: list[float]) -> list[tuple[str, float, float]]:
    """Of a memory that is used at these days after MADE: its state after each use, and its salience just before and after."""
    client.database.run("MATCH (n:Curated|JochiAccess) DETACH DELETE n")
    given(client, {"m": {}})
    found = []
    for day in days:
        at = MADE + day * DAY
        before = salience(client, ["m"], at - HAIR)["m"]
        client.touch(["default/m"], now=at)
        client.run("fold_accesses", drain=True, now=at + SECOND)
        (row,) = client.database.run("MATCH (m:Curated {id: 'm'}) RETURN m.state AS state, m.salience AS salience")
        found.append((row["state"], before, row["salience"]))
    return found


# -- edges.md ----------------------------------------------------------------------------------------------------------

CONFIDENCES: dict[str, tuple[float | None, ...]] = {
    "1.0, or none": (1.0, None),
    "0.8": (0.8,),
    "0.5": (0.5,),
    "0.2": (0.2,),
}
AGES = (179, 180, 270, 360, 450, 540, 720, 900)


def test_the_page_of_edges_has_what_time_takes(client: Jochi) -> None:
    edges = {
        (name, i): Edge(f"s/{name}{i}", f"s/{name}{i}'", confidence, id=f"{name}{i}", created_at=MADE)
        for name, some in CONFIDENCES.items()
        for i, confidence in enumerate(some)
    }
    add_memories(client, [key for edge in edges.values() for key in (edge.start, edge.end)])
    add_edges(client, edges.values())
    client.run("schedule_edges", drain=True, now=MADE)
    found: dict[str, list[Any]] = {name: [] for name in CONFIDENCES}
    seen = followed(client, edges.values())
    lost: dict[str, int] = {}
    for age in sorted({*AGES, *range(180, 901, 90)}):
        now = MADE + age * DAY
        assert client.run("decay_edges", drain=True, now=now)[-1].error is None
        left = stored(client, edges.values())
        before, seen = seen, followed(client, edges.values())
        for name, some in CONFIDENCES.items():
            (confidence,) = {1.0 if (c := left[f"{name}{i}"].confidence) is None else c for i in range(len(some))}
            if age in AGES:
                found[name].append(confidence)
            if f"s/{name}0'" in before - seen:
                lost[name] = age
    head = ("confidence", "at 179 days", *AGES[1:], "recall loses it (< 0.2) after")
    rows = [(name, *found[name], f"{lost[name]} days") for name in CONFIDENCES]
    says("edges.md", {"confidence by age": table(head, rows)})


def followed(client: Jochi, edges: Any) -> set[str]:
    """The ends that recall reaches from the starts."""
    asked = {"scope": "s", "seeds": [{"key": edge.start, "score": 1.0} for edge in edges], "hops": 1, "k": 50}
    row = client.engine.call("memory/recall_spread", {"now": MADE, "asked": asked}, write=False)
    return {one["key"] for one in row["reached"]}


def test_the_page_of_edges_has_a_recall_along_them(client: Jochi) -> None:
    texts = ("tea is green", "cup of porcelain", "china makes it", "far away")
    rows = [{"kind": "Fact", "scope": "s", "id": text.split()[0], "content": text} for text in texts]
    client.remember(rows, now=MADE)
    add_edges(
        client,
        [
            Edge("s/tea", "s/cup", 0.87, id="1"),
            Edge("s/china", "s/cup", None, weight=0.5, id="2"),
            Edge("s/china", "s/far", 0.2, id="3"),
        ],
    )
    client.database.autocommit("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    found = client.recall("green", scope="s", hops=3)
    assert [(hit.key, hit.score) for hit in found.hits] == [("s/tea", pytest.approx(1.0))]
    decay, before = load_policy().policy.edges.hop_decay, found.hits[0].score
    told = []
    for one in sorted(found.reached, key=lambda one: one.hops):
        step = one.edges[-1]
        sum_ = f"{before:.5f} · {step.confidence * step.weight:g} · {decay:g} = {one.activation:.5f}"
        way = ("… " if one.hops > 1 else "") + f"{one.keys[-2]} {step} {one.keys[-1]}".replace("s/", "")
        told.append((one.key.removeprefix("s/"), sum_, f"{one.score:.5f}", f"`{way}`"))
        before = one.activation
    says("edges.md", {"a recall": table(("", "activation", "after 8 rounds", "way"), told)})
