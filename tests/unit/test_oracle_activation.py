"""The oracle's spreading recall on graphs small enough for a sheet of paper (seed 003, Graph Edge Lifecycle, 3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.activation import activations, paths, refined, shown, strength
from tests.oracle.edges import Edge


def edge(ends: str, confidence: Any = 1.0, weight: Any = None, **rest: Any) -> Edge:
    return Edge(ends[0], ends[1], confidence, weight, **rest)


@pytest.mark.parametrize(
    ("confidence", "weight", "expected"),
    [
        (0.8, None, 0.8),
        (0.8, 0.5, 0.4),
        (None, None, 1.0),
        ("x", None, 1.0),
        (0.2, None, 0.2),
        (0.199, None, 0.0),
        (0.8, 0, 0.0),
        (0.8, -1, 0.0),
        (0.8, "heavy", 0.8),
        (0.8, 3, 2.4),
        (7, None, 1.0),
    ],
)
def test_how_strong_an_edge_is(confidence: Any, weight: Any, expected: float) -> None:
    assert strength(edge("ab", confidence, weight)) == pytest.approx(expected)


def test_three_in_a_row() -> None:
    """S –0.8– A –0.5– B: 0.8·0.7 and 0.56·0.5·0.7."""
    found = activations({"S": 1.0}, [edge("SA", 0.8), edge("AB", 0.5)])
    assert found == {"A": pytest.approx(0.56), "B": pytest.approx(0.196)}
    assert activations({"S": 0.5}, [edge("SA", 0.8), edge("AB", 0.5)])["B"] == pytest.approx(0.098)


def test_three_hops_and_no_more() -> None:
    found = activations({"S": 1.0}, [edge("SA"), edge("AB"), edge("BC"), edge("CD")])
    assert found == {"A": pytest.approx(0.7), "B": pytest.approx(0.49), "C": pytest.approx(0.343)}


def test_below_the_floor_nobody_passes() -> None:
    assert activations({"S": 1.0}, [edge("SA", 0.199), edge("AB")]) == {}
    assert set(activations({"S": 1.0}, [edge("SA", 0.2), edge("AB")])) == {"A", "B"}


def test_paths_of_the_same_length_add_up_and_longer_ones_do_not() -> None:
    found = activations({"S": 1.0}, [edge("SA", 0.8), edge("SB", 0.5), edge("AC"), edge("BC"), edge("AB")])
    assert found["A"] == pytest.approx(0.56)
    assert found["B"] == pytest.approx(0.35)
    assert found["C"] == pytest.approx(0.56 * 0.7 + 0.35 * 0.7)


def test_seeds_add_up_and_are_not_passed_through() -> None:
    found = activations({"S": 1.0, "T": 1.0}, [edge("SA"), edge("TA"), edge("ST"), edge("TB")])
    assert found == {"A": pytest.approx(1.4), "B": pytest.approx(0.7)}


def test_parallel_edges_and_loops() -> None:
    found = activations({"S": 1.0}, [edge("SA", 0.8), edge("AS", 0.5), edge("AA"), edge("SS")])
    assert found == {"A": pytest.approx(0.91)}


def test_a_cause_leads_to_its_effect_only() -> None:
    assert set(activations({"S": 1.0}, [edge("SA", one_way=True), edge("BS", one_way=True)])) == {"A"}


def test_what_explain_shows() -> None:
    edges = [edge("SC", 0.8, id="1"), edge("CB", 0.87, id="2"), edge("SA", 0.9, id="3"), edge("AB", 0.5, id="4")]
    best = shown(paths({"S": 1.0}, edges)["B"])
    assert (best.keys, best.confidences) == (("S", "C", "B"), (0.8, 0.87))
    near = shown(paths({"S": 1.0, "T": 0.1}, [*edges, edge("TB", None)])["B"])
    assert (near.keys, near.confidences) == (("T", "B"), (1.0,))
    tied = shown(paths({"S": 1.0}, [edge("SA", id="2"), edge("AS", id="1")])["A"])
    assert [e.id for e in tied.edges] == ["1"]


def test_pagerank_of_two_by_hand() -> None:
    """All of A flows to B and back. A: 0.15·0.56 + 0.85·0.196; the difference d goes to 0.15·0.364 - 0.85·d."""
    scores, edges = {"A": 0.56, "B": 0.196}, [edge("SA", 0.8), edge("AB", 0.5)]
    assert refined(scores, edges, 1) == {"A": pytest.approx(0.2506), "B": pytest.approx(0.5054)}
    left = 0.0546 / 1.85 + 0.85**8 * (0.364 - 0.0546 / 1.85)
    assert refined(scores, edges) == {
        "A": pytest.approx((0.756 + left) / 2, abs=1e-12),
        "B": pytest.approx((0.756 - left) / 2, abs=1e-12),
    }
    assert refined(scores, edges)["A"] == pytest.approx(0.4383290, abs=1e-6)


def test_pagerank_of_three_by_hand() -> None:
    """A shares with B and C as 1 to 0.5; both give it all back."""
    scores, edges = {"A": 1.0, "B": 0.0, "C": 0.0}, [edge("AB"), edge("AC", 0.5)]
    assert refined(scores, edges, 0) == scores
    assert refined(scores, edges, 1) == {
        "A": pytest.approx(0.15),
        "B": pytest.approx(0.85 * 2 / 3),
        "C": pytest.approx(0.85 / 3),
    }
    assert refined(scores, edges, 2) == {
        "A": pytest.approx(0.15 + 0.85 * 0.85),
        "B": pytest.approx(0.085),
        "C": pytest.approx(0.0425),
    }
    top = 1 / 1.85 + 0.85**8 * (1 - 1 / 1.85)
    assert refined(scores, edges) == {
        "A": pytest.approx(top, abs=1e-12),
        "B": pytest.approx((1 - top) * 2 / 3, abs=1e-12),
        "C": pytest.approx((1 - top) / 3, abs=1e-12),
    }


def test_who_leads_nowhere_keeps_its_score() -> None:
    assert refined({"A": 0.7, "B": 0.3}, [edge("SA"), edge("SB"), edge("AB", 0.1)]) == {
        "A": pytest.approx(0.7),
        "B": pytest.approx(0.3),
    }
    one_way = refined({"A": 1.0, "B": 0.0}, [edge("AB", one_way=True)], 1)
    assert one_way == {"A": pytest.approx(0.15), "B": pytest.approx(0.85)}
    assert refined({"A": 1.0, "B": 0.0}, [edge("AB"), edge("AA")], 1) == one_way  # a loop leads nowhere
    assert refined({}, []) == {}


graphs = st.lists(
    st.tuples(st.sampled_from("STABCD"), st.sampled_from("STABCD"), st.sampled_from([None, 0.1, 0.2, 0.5, 1.0])),
    max_size=14,
)


@given(graphs)
@settings(deadline=None)
def test_refining_loses_nothing_and_wins_nothing(drawn: list[tuple[str, str, Any]]) -> None:
    edges = [edge(start + end, confidence) for start, end, confidence in drawn]
    found = activations({"S": 1.0, "T": 0.5}, edges)
    after = refined(found, edges)
    assert after.keys() == found.keys()
    assert not found.keys() & {"S", "T"}
    assert sum(after.values()) == pytest.approx(sum(found.values()))
    assert all(score >= 0.15 * found[key] - 1e-12 for key, score in after.items())
