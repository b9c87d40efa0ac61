"""The oracle's clusters of near duplicates, by hand and at random (DESIGN §10, Merge)."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.clusters import Pair, clusters, is_complete, mergeable, merges

AT = 0.95


def pair(names: str, similarity: float = 0.97, *vetoes: str) -> Pair:
    return Pair(f"s/{names[0]}", f"s/{names[1]}", similarity, vetoes)


def told(*pairs: Pair, most: int = 10, taken: str = "") -> list[str]:
    """Each cluster by its letters."""
    found = clusters(pairs, AT, most=most, taken=[f"s/{name}" for name in taken])
    return ["".join(key[2:] for key in cluster) for cluster in found]


@pytest.mark.parametrize(
    ("similarity", "found"), [(0.949999, []), (0.95, ["ab"]), (1.0, ["ab"]), (math.nan, []), (-1.0, [])]
)
def test_at_the_threshold_a_pair_may_merge(similarity: float, found: list[str]) -> None:
    assert told(pair("ab", similarity)) == found


def test_a_veto_wins_over_any_similarity() -> None:
    assert told(pair("ab", 1.0, "numbers")) == []
    assert told(pair("ab", 1.0), pair("ba", 1.0, "numbers")) == []
    assert told(pair("ab", 0.99), pair("ba", 0.94)) == []
    assert mergeable([pair("ab", 0.99), pair("ba", 0.96)], AT) == {("s/a", "s/b"): 0.96}


def test_a_chain_is_no_cluster() -> None:
    assert told(pair("ab", 0.97), pair("bc", 0.98)) == ["bc"]
    assert told(pair("ab", 0.97), pair("bc", 0.98), pair("ac", 0.94)) == ["bc"]
    assert told(pair("ab", 0.97), pair("bc", 0.98), pair("ac", 0.99, "names")) == ["bc"]
    assert told(pair("ab", 0.97), pair("bc", 0.98), pair("ac", 0.95)) == ["abc"]


def test_the_most_similar_first_and_then_by_keys() -> None:
    assert told(pair("ab", 0.98), pair("bc", 0.97)) == ["ab"]
    assert told(pair("cb", 0.97), pair("ba", 0.97)) == ["ab"]
    assert told(pair("ab", 0.96), pair("bc", 0.99), pair("cd", 0.97)) == ["bc"]  # a and d are left over
    assert told(pair("ab", 0.98), pair("bc", 0.96), pair("cd", 0.98)) == ["ab", "cd"]


def test_two_clusters_join_if_all_of_both_may_merge() -> None:
    full = [pair("ab", 0.99), pair("cd", 0.99), *(pair(names, 0.96) for names in ("ac", "ad", "bc", "bd"))]
    assert told(*full) == ["abcd"]
    assert told(*full[:-1]) == ["ab", "cd"]


def test_size_is_bounded() -> None:
    full = [pair(first + second, 0.97) for first, second in combinations("abcde", 2)]
    assert told(*full, most=5) == ["abcde"]
    assert told(*full, most=4) == ["abcd"]
    assert told(*full, most=2) == ["ab", "cd"]
    assert told(*full, most=1) == []
    many = [Pair(f"s/{a:02}", f"s/{b:02}", 0.99) for a, b in combinations(range(25), 2)]
    assert [len(cluster) for cluster in clusters(many, AT)] == [10, 10, 5]


def test_who_was_merged_in_this_run_is_left_out() -> None:
    full = [pair(first + second, 0.97) for first, second in combinations("abc", 2)]
    assert told(*full, taken="a") == ["bc"]
    assert told(*full, taken="ab") == []


def test_neither_over_scopes_nor_with_itself() -> None:
    assert clusters([Pair("s/a", "t/a", 1.0), Pair("s/a", "s/a", 1.0)], AT) == []


def test_all_go_into_one_survivor() -> None:
    assert merges(("s/a", "s/b", "s/c"), "s/b") == [("s/b", "s/a"), ("s/b", "s/c")]


_pairs = st.lists(
    st.builds(
        pair,
        st.sampled_from([a + b for a in "abcdefg" for b in "abcdefg"]),
        st.sampled_from([0.94, 0.95, 0.96, 0.97, 0.98, 1.0]),
    )
    | st.builds(lambda names: pair(names, 1.0, "dates"), st.sampled_from(["ab", "cd", "ae"])),
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(pairs=_pairs, most=st.integers(2, 4), order=st.randoms(use_true_random=False))
def test_every_cluster_is_complete_as_large_as_may_be_and_the_order_means_nothing(
    pairs: list[Pair], most: int, order: object
) -> None:
    found = clusters(pairs, AT, most=most)
    members = [key for cluster in found for key in cluster]
    assert len(members) == len(set(members))
    assert all(2 <= len(cluster) <= most and is_complete(cluster, pairs, AT) for cluster in found)
    left = {key for keys in mergeable(pairs, AT) for key in keys} - set(members)
    for one, other in combinations([*found, *((key,) for key in left)], 2):
        assert len(one + other) > most or not is_complete(one + other, pairs, AT)
    shuffled = pairs.copy()
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert clusters(shuffled, AT, most=most) == found
