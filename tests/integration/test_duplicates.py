"""Which pairs the job find_duplicates flags, and what it says of them (docs/reference/duplicates.md)."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

import pytest
from tests.conftest import PolicyWith
from tests.duplicate_pairs import LATER, NOON, Pairs, at_cosine

from jochi_workers.guard import Ruling

MERGE = Ruling("merge", ())


def test_both_sides_of_the_thresholds(pairs: Pairs) -> None:
    cosines = {0.8499: None, 0.8501: "flag", 0.9499: "flag", 0.9501: "waits", 0.9999: "waits"}
    for cosine in cosines:
        pairs.add("a", 1.0, scope=str(cosine))
        pairs.add("b", cosine, scope=str(cosine))
    pairs.find()
    flags = pairs.flags()
    assert set(flags) == {(f"{cosine}/a", f"{cosine}/b") for cosine, what in cosines.items() if what}
    for (key, _), flag in flags.items():
        cosine = float(key.removesuffix("/a"))
        waits = cosines[cosine] == "waits"
        assert flag["score"] == pytest.approx(cosine, abs=1e-6)
        assert flag.get("verdict") == (None if waits else "flag")
        assert flag.get("reasons") == (None if waits else ["below_merge_threshold"])
        assert ("judge_due" in flag, "merge_due" in flag, flag["same_text"]) == (waits, False, False)
        assert flag["found_at"] == flag["seen_at"] == NOON


@pytest.mark.parametrize("many", [0, 230], ids=["one by one", "by index"])
def test_scopes_and_kinds_are_never_crossed(pairs: Pairs, many: int) -> None:
    pairs.fill(many)
    a, b = pairs.add("a", 1.0, "Same"), pairs.add("b", 1.0, "Same too")
    pairs.add("a", 1.0, "Same", scope="t")
    pairs.add("c", 1.0, "Same", kind="Analysis")
    pairs.add("p", 1.0, "Same", kind="Person")
    pairs.add("q", 1.0, "Same", kind="Person")
    pairs.find()
    assert set(pairs.flags()) == {(a, b)}


@pytest.mark.slow
@pytest.mark.parametrize("factor", [9.9e17, 1.1e-18], ids=["huge", "tiny"])
def test_the_length_of_a_vector_means_nothing(pairs: Pairs, factor: float) -> None:
    pairs.fill(230)
    a = pairs.add("a", 1.0)
    b = pairs.add("b", [x * factor for x in at_cosine(1.0, pairs.dimensions)])
    many = [factor] * pairs.dimensions
    c, d = pairs.add("c", many), pairs.add("d", [1.0] * pairs.dimensions)
    pairs.find()
    assert set(pairs.flags()) == {(a, b), (c, d)}


def test_by_kind(install_once: Any, policy_with: PolicyWith) -> None:
    by_kind = '[{ kind = "Fact", flag = 0.9, merge = 0.99 }, { kind = "Belief", merge = 0.9 }]'
    pairs = Pairs(install_once(policy_with(f"[duplicates]\nby_kind = {by_kind}")))
    for kind in ("Fact", "Belief", "Analysis"):
        pairs.add(f"{kind}1", 1.0, kind=kind)
        pairs.add(f"{kind}2", at_cosine(0.92, pairs.dimensions, 1), kind=kind)
        pairs.add(f"{kind}3", at_cosine(0.87, pairs.dimensions, 2), kind=kind)
    pairs.find()
    found = {(a[2:], b[2:]): flag.get("verdict", "waits") for (a, b), flag in pairs.flags().items()}
    assert found == {
        ("Fact1", "Fact2"): "flag",
        ("Belief1", "Belief2"): "waits",
        ("Belief1", "Belief3"): "flag",
        ("Analysis1", "Analysis2"): "flag",
        ("Analysis1", "Analysis3"): "flag",
    }


VETOES: list[tuple[str, Any, Any, str]] = [
    ("access_tier", "PUBLIC", None, "access_tier"),
    ("access_tier", "PUBLIC", "PRIVATE", "access_tier"),
    ("sensitivity", "low", "high", "sensitivity"),
    ("ttl_policy", "decay", "keep_forever", "ttl_policy"),
    ("expires_at", NOON, LATER, "expires_at"),
    ("expires_at", NOON, None, "expires_at"),
    ("expires_at", NOON, "soon", "expires_at"),
    ("access_tier", 1, "PUBLIC", "access_tier"),
    ("slot_name", "v1:a", "v1:b", "slot"),
    ("slot_name", "v1:a", None, "slot"),
    ("slot_value", "v1:a", "v1:b", "slot"),
]


def test_facts_that_differ_veto_and_nobody_is_asked(pairs: Pairs) -> None:
    for i, (name, left, right, _reason) in enumerate(VETOES):
        for value in ("One text", "Another text"):
            pairs.add(f"{value[:3]}1", 1.0, value, scope=f"{i}", **{name: left})
            pairs.add(f"{value[:3]}2", 1.0, value, scope=f"{i}", **{name: right})
    pairs.find()
    flags = pairs.flags()
    for i, (*_, reason) in enumerate(VETOES):
        for id in ("One", "Ano"):
            flag = flags[f"{i}/{id}1", f"{i}/{id}2"]
            assert (flag["verdict"], "judge_due" in flag, "merge_due" in flag) == ("veto", False, False), VETOES[i]
            assert reason in flag["reasons"], VETOES[i]
    assert all(flag["verdict"] == "veto" for (a, b), flag in flags.items() if a[-1] != b[-1])


def test_what_one_text_says_of_a_pair(pairs: Pairs) -> None:
    """Each in a scope of its own: which pairs are flagged, and what a flag says."""
    one, slot = {"content": "One text"}, {"kind": "Fact", "slot_name": "v1:n", "slot_value": "v1:v"}
    written: dict[str, dict[str, dict[str, Any]]] = {
        "same": {"a": one, "b": one, "c": {"content": "one TEXT"}},
        "zones": {"a": {"expires_at": LATER}, "b": {"expires_at": LATER.astimezone(timezone(timedelta(hours=5)))}},
        "slot": {id: {**slot, "valid_from": at} for id, at in (("a", NOON), ("b", LATER), ("c", NOON))},
        "dateless": {"a": slot, "b": slot},
        "label": {"a": {}, "b": {"kind": "Belief:Draft"}},
        "archived": {"a": {"state": "archived"}, "b": {"state": "active"}, "c": {"state": "archived"}},
        "vector": {"a": {**one, "vector": 1.0}, "b": {"content": "2", "vector": 1.0, "embedding_hash": "v1:another"}},
    }
    for scope, memories in written.items():
        for id, given in memories.items():
            pairs.add(id, scope=scope, **{**one, **given})
    pairs.find()
    flags = {(a.split("/")[0], a[-1] + b[-1]): flag for (a, b), flag in pairs.flags().items()}
    told = {pair: flag.get("reasons") or flag.get("verdict") for pair, flag in flags.items()}
    assert told == {
        **{("same", "ab"): "merge", ("same", "ac"): None, ("same", "bc"): None, ("zones", "ab"): "merge"},
        # Observations of a slot are its history.
        **{("slot", "ab"): ["valid_from"], ("slot", "bc"): ["valid_from"], ("slot", "ac"): "merge"},
        **{("dateless", "ab"): ["valid_from"], ("label", "ab"): ["kind"], ("archived", "ac"): "merge"},
    }
    merges, waits = flags["same", "ab"], flags["same", "ac"]
    assert (merges["guard"], merges["merge_due"], merges["same_text"]) == ("same text", NOON, True)
    assert not {"judge_due", "score"} & merges.keys(), "no judge is asked"
    assert (waits["same_text"], waits["judge_due"]) == (False, NOON)


def test_a_second_look_changes_nothing(pairs: Pairs) -> None:
    for i in range(6):
        pairs.add(f"m{i}", at_cosine(0.9 + i * 0.015, pairs.dimensions, 1 + i % 2), "Same" if i < 3 else None)
    first = pairs.find()
    before = pairs.flags()
    assert first.changed == len(before) > 5
    assert pairs.find(LATER).selected == 0
    for i in range(6):
        pairs.change(f"s/m{i}")
    again = pairs.find(LATER)
    after = pairs.flags()
    assert (again.selected, again.changed) == (6, 0)
    assert {k: {**v, "seen_at": 0} for k, v in before.items()} == {k: {**v, "seen_at": 0} for k, v in after.items()}
    assert {flag["seen_at"] for flag in after.values()} == {LATER}


def test_stale_flags_go(pairs: Pairs) -> None:
    a = pairs.add("a", 1.0)
    gone, far, other, kept = (
        pairs.add(id, at_cosine(0.97, pairs.dimensions, i + 1)) for i, id in enumerate(("g", "f", "o", "k"))
    )
    pairs.find()
    assert {b for (x, b) in pairs.flags() if x == a} == {gone, far, other, kept}
    database = pairs.client.database
    database.run("MATCH (m {key: $key}) REMOVE m:Curated:Belief SET m:Tombstone, m.tombstone = true", {"key": gone})
    pairs.change(other, state="archived")
    pairs.change(far, embedding=at_cosine(0.8498, pairs.dimensions, 9))
    pairs.find(LATER)
    assert {b for (x, b) in pairs.flags() if x == a} == {gone, kept}  # of the tombstone nobody has heard yet
    pairs.change(a)
    pairs.find(LATER)
    assert {b for (x, b) in pairs.flags() if x == a} == {kept}


def test_a_new_text_voids_the_ruling_and_the_decision(pairs: Pairs) -> None:
    a, b = pairs.add("a", 1.0), pairs.add("b", 0.97)
    pairs.find()
    assert pairs.judge(MERGE).done == 1
    assert (pairs.flag(a, b)["verdict"], pairs.flag(a, b)["merge_due"]) == ("merge", NOON)
    pairs.change(a)
    pairs.find(LATER)
    assert (pairs.flag(a, b)["verdict"], pairs.flag(a, b)["merge_due"]) == ("merge", NOON), "the ruling stands"
    pairs.client.database.run(
        "MATCH ()-[r:SIMILAR_TO]->() SET r.decision = 'rejected', r.decided_at = $at", {"at": NOON}
    )
    pairs.change(a, content="Something else", embedding_hash=None)
    pairs.find(LATER)
    flag = pairs.flag(a, b)
    assert not flag.keys() & {"verdict", "merge_due", "decision", "decided_at", "guard", "start_text", "held_by"}
    assert (flag["judge_due"], flag["found_at"]) == (LATER, LATER)


def test_a_flag_crosses_the_threshold_with_its_vectors(pairs: Pairs) -> None:
    """The contents are the same; a later model sees them nearer, or farther."""
    a, b = pairs.add("a", 1.0), pairs.add("b", 0.9)
    pairs.find()
    assert pairs.flag(a, b)["verdict"] == "flag"
    pairs.change(b, embedding=at_cosine(0.97, pairs.dimensions))
    pairs.find(LATER)
    flag = pairs.flag(a, b)
    assert (flag.get("verdict"), flag["judge_due"]) == (None, LATER)
    assert pairs.judge(MERGE, LATER).done == 1
    assert "merge_due" in pairs.flag(a, b)
    pairs.change(b, embedding=at_cosine(0.9, pairs.dimensions))
    assert pairs.find(LATER).changed == 1
    flag = pairs.flag(a, b)
    assert (flag["verdict"], flag["reasons"], "merge_due" in flag) == ("flag", ["below_merge_threshold"], False)


def test_a_fact_that_comes_later_vetoes_what_was_judged(pairs: Pairs) -> None:
    a, b = pairs.add("a", 1.0), pairs.add("b", 0.97)
    pairs.find()
    pairs.judge(MERGE)
    pairs.change(b, sensitivity="secret")
    pairs.find(LATER)
    flag = pairs.flag(a, b)
    assert (flag["verdict"], flag["reasons"], "merge_due" in flag) == ("veto", ["sensitivity"], False)
    pairs.client.database.run("MATCH (m:Curated {key: $key}) REMOVE m.sensitivity", {"key": b})
    pairs.change(b)
    pairs.find(LATER)
    assert pairs.flag(a, b)["judge_due"] == LATER


def test_a_rejection_is_remembered_while_both_say_the_same(pairs: Pairs) -> None:
    for scope in "st":
        pairs.add("a", 1.0, scope=scope)
        pairs.add("b", 0.97, scope=scope)
    pairs.find()
    pairs.client.database.run("MATCH ()-[r:SIMILAR_TO]->() SET r.decision = 'rejected' REMOVE r.judge_due")
    for vector in (0.99, 0.1, 0.96):
        for changed in ("s/a", "t/b"):
            pairs.change(changed, embedding=at_cosine(vector, pairs.dimensions))
        pairs.find(LATER)
        flags = pairs.flags()
        assert set(flags) == {("s/a", "s/b"), ("t/a", "t/b")}
        for flag in flags.values():
            assert (flag["decision"], "judge_due" in flag, "merge_due" in flag) == ("rejected", False, False)


def test_a_duplicate_of_what_was_merged_is_known_again(pairs: Pairs) -> None:
    survivor = pairs.add("survivor", content="Ann lives in Rome", due=None)
    pairs.add("other", content="Ann lives in Rome", kind="Analysis", due=None)
    again = pairs.add("again", content="Rome is where Ann lives")
    hashed = pairs.client.database.run("MATCH (m:Curated {key: $key}) RETURN m.content_hash AS h", {"key": again})[0][
        "h"
    ]
    merged = "CREATE (:JochiMerged {seal: $seal, into: $into, text: $text, approved: $approved})"
    text = "b" * 64
    given = {"seal": f"s/Belief/{hashed}", "into": survivor, "text": text, "approved": True}
    pairs.client.database.run(merged, given)
    pairs.find()
    flag = pairs.flag(survivor, again)
    assert (flag["judge_due"], flag["same_text"], "score" in flag) == (NOON, False, False)
    row = pairs.queue().lease().rows[0]
    assert (row["approved_left"], row["approved_right"]) == (text, None)
    pairs.change(survivor)
    pairs.find(LATER)
    assert pairs.flags(), "from the other end, too"
    pairs.client.database.run("MATCH (d:JochiMerged) DETACH DELETE d")
    pairs.change(again)
    pairs.find(LATER)
    assert pairs.flags() == {}


def test_where_the_survivor_is_gone_nothing_is_flagged(pairs: Pairs) -> None:
    again = pairs.add("again", content="Rome")
    hashed = pairs.client.database.run("MATCH (m:Curated {key: $key}) RETURN m.content_hash AS h", {"key": again})[0][
        "h"
    ]
    pairs.client.database.run("CREATE (:JochiMerged {seal: $seal, into: 's/gone'})", {"seal": f"s/Belief/{hashed}"})
    pairs.find()
    assert pairs.flags() == {}


WRONG: dict[str, list[Any]] = {
    "embedding": ["text", 1, [1.0], ["a"], True, [0.0] * 384, [float("nan")] * 384, [1e300] * 384],
    "embedding_model": [1, "another", None],
    "embedding_hash": [1, "v1:other"],
    "content_hash": [1, None, [1]],
    "content": [1, None, ["a"]],
    "scope": [1, None],
    "state": [1, ["archived"]],
    "expires_at": ["x", 1],
    "valid_from": ["x"],
    "slot_name": [1],
    "access_tier": [[1, 2]],
    "similar_due": ["x", 1],
}


def test_nothing_that_an_app_wrote_makes_it_fail(pairs: Pairs) -> None:
    odd = []
    for name, values in WRONG.items():
        for i in range(2):
            pairs.add(f"good{i}", 1.0 - i / 100, "Same", scope=name)
        for i, value in enumerate(values):
            for key in (
                pairs.add(f"wrong{i}", 1.0, "Same", scope=name),
                pairs.add(f"alone{i}", 0.999, f"Alone {i}", scope=name),
            ):
                odd.append({"key": key, "changed": {name: value}})
    text = "UNWIND $odd AS row MATCH (m:Curated {key: row.key}) SET m += row.changed"
    pairs.client.database.run(text, {"odd": odd})
    pairs.find()
    assert pairs.flags().keys() >= {(f"{name}/good0", f"{name}/good1") for name in WRONG}
    pairs.judge(MERGE)
    for name in WRONG:
        for i in range(2):
            pairs.change(f"{name}/good{i}")
    pairs.find(LATER)


ON_A_FLAG = ("score", "same_text", "verdict", "reasons", "guard", "decision", "start_hash", "judge_due", "found_at")


def test_whatever_stands_on_a_flag(pairs: Pairs) -> None:
    odd = {f"{name}{i}": {name: wrong} for name in ON_A_FLAG for i, wrong in enumerate(("text", 7, [1], True))}
    for scope in odd:
        pairs.add("a", 1.0, scope=scope)
        pairs.add("b", 0.97, scope=scope)
    pairs.find()
    pairs.client.database.run(
        "MATCH (a)-[r:SIMILAR_TO]->() SET r += $odd[a.scope] SET a.similar_due = $now", {"odd": odd, "now": NOON}
    )
    assert pairs.find(LATER).selected == len(odd)
    pairs.judge(MERGE, LATER)


def test_relationships_of_an_app_are_not_flags(pairs: Pairs) -> None:
    a, b = pairs.add("a", 1.0), pairs.add("b", 0.1)
    pairs.client.database.run("MATCH (a {key: 's/b'}), (b {key: 's/a'}) CREATE (b)-[:SIMILAR_TO {since: 1}]->(a)")
    pairs.find()
    pairs.change(a)
    pairs.find()
    assert pairs.flags() == {(a, b): {"since": 1}}


@pytest.mark.slow
def test_hundreds_of_one_text_do_not_blow_up(pairs: Pairs) -> None:
    vector = at_cosine(1.0, pairs.dimensions)
    pairs.client.database.run(
        "UNWIND range(1, 300) AS i CREATE (m:Curated:Belief {key: 's/' + i, scope: 's', id: toString(i), content: 'One text', "
        "content_hash: 'v1:x', similar_due: $now, embedding: $vector, embedding_model: $model, embedding_hash: 'v1:x'})",
        {"now": NOON, "vector": vector, "model": pairs.client.policy.policy.embedding.model},
    )
    run = pairs.find()
    assert run.tally["crowded"] > 250
    most = pairs.client.policy.policy.duplicates.flags
    degrees = pairs.client.database.run(
        "MATCH (m:Curated) RETURN COUNT { (m)-[:SIMILAR_TO]-() } AS n, m.similar_due AS due", write=False
    )
    assert max(row["n"] for row in degrees) <= most
    assert min(row["n"] for row in degrees) >= 1, "each can merge with somebody"
    assert sum(row["n"] for row in degrees) > 150 * most, "and nearly all with as many as are kept"
    assert {row["due"] for row in degrees} <= {None, NOON + timedelta(days=1)}
    assert pairs.find(LATER).selected == 0


def test_the_nearest_pairs_are_kept(pairs: Pairs) -> None:
    most = pairs.client.policy.policy.duplicates.flags
    first = pairs.add("first", 1.0)
    for i in range(most + 5):
        pairs.add(f"m{i:02}", at_cosine(0.90 + i * 0.001, pairs.dimensions, 2 + i))
    pairs.find()
    last = pairs.add("zz", content="Text of first in s")
    pairs.find(LATER)
    near = sorted((flag for (a, b), flag in pairs.flags().items() if first in (a, b)), key=lambda f: f.get("score", 2))
    assert len(near) == most
    assert near[0]["score"] == pytest.approx(0.90 + 6 * 0.001, abs=1e-6)
    assert (first, last) in pairs.flags()
