"""What people decide over pairs is on record without any text and can be taken back; what the job does to pairs is, too."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.duplicate_pairs import LATER, NOON, Pairs
from tests.oracle import graph

from jochi.forgetting import VARIABLE, Request
from jochi.forgetting.records import GONE
from jochi.graph.driver_values import to_python
from jochi_workers.guard import Ruling

pytestmark = pytest.mark.server

SECOND = timedelta(seconds=1)


def records(pairs: Pairs, action: str) -> list[dict[str, Any]]:
    """Those that no undo made."""
    found = [to_python(each) for each in graph.audits(pairs.client.database, lists=True) if each["action"] == action]
    return [each for each in found if "of" not in each]


def moves(record: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    return list(zip(record["keys"], record["others"], record["before"], record["after"], strict=True))


def stands(pairs: Pairs, pair: tuple[str, str]) -> tuple[Any, Any, bool]:
    """What was decided, by whom, and whether it may merge now."""
    flag = pairs.flag(*pair)
    return flag.get("decision"), flag.get("decided_by"), "merge_due" in flag


def test_a_decision_is_on_record_and_says_who_but_no_text(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    client.decide_duplicates([pair[::-1], ("s/a", "s/gone")], "approved", by="ada")
    [record] = records(pairs, "decide")
    assert moves(record) == [("s/b", "s/a", "none", "approved")]
    assert (record["by"], record["n"], record["rule"]) == ("ada", 1, "duplicates.asked")
    assert record["policy"] == client.engine.state().pump["policy"]
    assert not any("Text of" in str(value) for value in record.values())
    [run] = client.runs(run=record["run"])
    assert (run.job, run.procedure, run.scanned, run.changed) == ("decide", "dedup/decide", 2, 1)
    assert run.version
    assert run.counts["decided"] == 1
    assert run.policy == record["policy"]
    assert [(done.action, done.n) for done in run.done] == [("decide", 1)]
    # Deciding the same again changes nothing, so there is nothing to put on record.
    client.decide_duplicates([pair], "approved", by="bob")
    assert len(records(pairs, "decide")) == 1
    client.decide_duplicates([pair], "rejected", by="bob")
    assert moves(records(pairs, "decide")[-1]) == [("s/a", "s/b", "approved", "rejected")]
    assert records(pairs, "decide")[-1]["was_by"] == ["ada"]


def test_an_approval_is_taken_back_and_the_pair_judged_anew(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    client.decide_duplicates([pair], "approved", by="ada")
    run = records(pairs, "decide")[0]["run"]
    assert client.undo(run, dry_run=True).counts == {"undone": 1}
    assert stands(pairs, pair) == ("approved", "ada", True), "a dry run writes nothing"
    done = client.undo(run, now=LATER)
    assert (done.counts, list(done.rows)) == ({"undone": 1}, [])
    assert stands(pairs, pair) == (None, None, False)
    assert not pairs.flag(*pair).keys() & {"start_said", "end_said", "decided_at"}
    pairs.find(LATER)
    assert "judge_due" in pairs.flag(*pair)
    pairs.judge(Ruling("veto", ("number",)), LATER)
    assert pairs.flag(*pair)["verdict"] == "veto"
    assert client.undo(run, now=LATER).already == 1
    # An approval was given to texts, which nobody keeps: it doesn't come back by an undo of the undo.
    assert done.run is not None
    again = client.undo(done.run, now=LATER)
    assert [(row.key, row.outcome) for row in again.rows] == [("s/a", "approve_again")]
    assert stands(pairs, pair) == (None, None, False)


def test_what_was_rejected_before_is_rejected_again(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    client.decide_duplicates([pair], "rejected", by="ada")
    client.decide_duplicates([pair], "approved", by="bob")
    second = records(pairs, "decide")[-1]["run"]
    assert client.undo(second, now=LATER).counts == {"undone": 1}
    assert stands(pairs, pair) == ("rejected", "ada", False)
    first = records(pairs, "decide")[0]["run"]
    # Another decision than the record's by now: it was made anew by the undo.
    conflict = client.undo(first, now=LATER)
    assert [(row.outcome, row.changed) for row in conflict.rows] == [("conflict", ("decision",))]
    assert stands(pairs, pair) == ("rejected", "ada", False)
    assert client.undo(first, now=LATER, force=True).counts == {"undone": 1}
    assert stands(pairs, pair) == (None, None, False)


def test_a_rejection_goes_and_the_approval_before_it_does_not_come(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    client.decide_duplicates([pair], "approved", by="ada")
    client.decide_duplicates([pair], "rejected", by="bob")
    done = client.undo(records(pairs, "decide")[-1]["run"], now=LATER)
    assert [(row.outcome, row.changed) for row in done.rows] == [("partly", ("decision",))]
    assert stands(pairs, pair) == (None, None, False)
    [run] = client.runs(run=done.run)
    assert run.changed == 1


def test_a_pair_that_is_none_any_more(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    client.decide_duplicates([pair], "rejected", by="ada")
    client.database.run("MATCH ()-[x:SIMILAR_TO]->() DELETE x")
    done = client.undo(records(pairs, "decide")[0]["run"], now=LATER)
    assert [row.outcome for row in done.rows] == ["pair_gone"]


def test_an_undo_since_leaves_decisions_and_pairs_alone(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    client.decide_duplicates([pair], "rejected", by="ada")
    done = client.undo(NOON - 400 * 24 * 3600 * SECOND, dry_run=True)
    assert not done.rows
    assert stands(pairs, pair) == ("rejected", "ada", False)


def test_the_job_says_what_became_of_each_pair(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    [first] = records(pairs, "pair")
    assert moves(first) == [("s/a", "s/b", "none", "waiting")]
    assert (first["rule"], first["n"], first["at"]) == ("duplicates.found", 1, NOON)
    assert [run.job for run in client.runs(run=first["run"])] == ["find_duplicates"]
    # Nothing new: no record.
    pairs.change("s/a")
    pairs.find(LATER)
    assert len(records(pairs, "pair")) == 1
    # A content changes, so what a person decided is over. That is on record as well.
    client.decide_duplicates([pair], "rejected", by="ada")
    pairs.change("s/a", content="Another text", embedding_hash=None)
    pairs.find(LATER + SECOND)
    assert moves(records(pairs, "pair")[-1]) == [("s/a", "s/b", "rejected", "gone" if not pairs.flags() else "waiting")]
    done = client.undo(records(pairs, "pair")[-1]["run"], now=LATER + 2 * SECOND)
    assert [row.outcome for row in done.rows] == ["derived"]


def test_what_is_forgotten_leaves_its_place_in_a_record_and_no_other_does(
    pairs: Pairs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "keys" / "forget.key"))
    for id, near in (("a", 1.0), ("b", 0.97), ("c", 0.96)):
        pairs.add(id, near)
    pairs.find()
    client = pairs.client
    client.decide_duplicates([("s/a", "s/b"), ("s/b", "s/c"), ("s/a", "s/c")], "approved", by="ada")
    client.forget(Request(keys=("s/b",)))
    [record] = records(pairs, "decide")
    assert moves(record) == [
        ("s/a", GONE, "none", "approved"),
        (GONE, "s/c", "none", "approved"),
        ("s/a", "s/c", "none", "approved"),
    ]
    for each in records(pairs, "pair"):
        assert not {"s/b"} & {*each["keys"], *each["others"]}
    assert client.undo(record["run"], now=LATER).counts == {"pair_gone": 2, "undone": 1}
    assert stands(pairs, ("s/a", "s/c")) == (None, None, False)
