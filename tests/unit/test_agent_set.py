"""The set of conversations keeps to its method, and the measures on it say what they mean (docs/reference/agent-set.md)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from tests.agent_set import locomo, report, score
from tests.agent_set.__main__ import main
from tests.agent_set.baselines import newest_of_near
from tests.agent_set.conversation import (
    Conversation,
    Never,
    Outdated,
    Question,
    Slot,
    Statement,
    Turn,
    faults,
    files,
    load,
    read,
)
from tests.agent_set.score import Count, Remembered, judged, sums

from jochi import Turn as Said
from jochi.errors import UsageError

NINE = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)


def small() -> Conversation:
    """One turn in Bergen, one in Oslo days later."""
    return Conversation(
        *("01", "small", "en", "home", True, False, "A move"),
        turns=(
            Turn(NINE, "user", "Ann", "I live in Bergen with my sister"),
            Turn(NINE + timedelta(days=2), "user", "Ann", "I moved to Oslo, she stays"),
        ),
        facts=(Statement(2, (("Oslo",),)), Statement(1, (("sister", "brother"), ("Bergen",)))),
        never=(Never((("pizza",), ("lunch",)), "small_talk"),),
        questions=(
            Question(
                "Where is home?",
                (("oslo",), ("ann", "user")),
                (Outdated("Bergen", "Oslo"), Outdated("Trondheim", None)),
            ),
            Question("Any pets?", (("cat",),), ()),
        ),
        must=((("Oslo",),),),
        must_not=(Outdated("Bergen", "Oslo"), Outdated("weather", None)),
        slots=(Slot("Ann", "home", ("Bergen", "Oslo")), Slot("Ann", "age", ("7",))),
        stays=(Statement(1, (("sister",), ("Bergen",))),),
    )


def test_every_conversation_keeps_to_the_method() -> None:
    """What is wrong with an unseen one is named by its place alone."""
    conversations = [read(file) for file in files()]
    assert [(each.number, fault) for each in conversations for fault in faults(each)] == []
    assert [each.number for each in conversations] == [f"{n:02}" for n in range(1, 41)]
    assert Counter(each.group for each in conversations) == {"en": 24, "de": 8, "others": 8}
    assert len(load(unseen=True)) == 13
    assert not any(each.unseen for each in load())
    assert [each.number for each in load(only=["04", "01"])] == ["01", "04"]
    with pytest.raises(UsageError, match="no seen conversation has the number 03"):
        load(only=["01", "03"])


def test_what_is_written_otherwise_is_named_and_not_quoted(tmp_path: Path) -> None:
    file = tmp_path / "01-changed.toml"
    text = files()[0].read_text(encoding="utf-8")
    file.write_text(
        text.replace("[[never]]", "[[never]]\nhas = 'SECRET'\nwhy = 'other'\n[[never]]", 1), encoding="utf-8"
    )
    with pytest.raises(UsageError, match=r"01-changed\.toml, never 1") as error:
        read(file)
    assert "SECRET" not in str(error.value)


def test_each_measure_on_both_sides() -> None:
    """One system that got everything right, and for each measure one that got it wrong."""
    right = Remembered(
        hits=(("Ann lives in Oslo, no longer in Bergen", "b", "c"), ("Ann has a cat",)),
        statements=(
            "Ann lives in Oslo",
            "Ann's sister lives in Bergen, not Oslo",
            "Ann's son is 7",
            "pizza is from Naples",
        ),
        replaced=("Ann lives in Bergen",),
        entries=("Ann lives in Oslo",),
    )
    assert [verdict for verdict in judged(small(), right) if not verdict.right] == []
    statements = right.statements or ()
    for wrong, measures in (
        (replace(right, hits=(("b", "c", "d", *right.hits[0]), right.hits[1])), {score.ANSWERS}),
        # Half of the answer in each of two hits is none.
        (replace(right, hits=(("Oslo", "Ann"), right.hits[1])), {score.ANSWERS}),
        (replace(right, hits=((*right.hits[0][:2], "Ann lives in Bergen"), right.hits[1])), {score.CURRENT}),
        (replace(right, statements=(*statements, "pizza for LUNCH")), {score.KEPT_OUT}),
        (replace(right, statements=(*statements, "Ann lives in Bergen")), {score.EARLIER_VALUES}),
        (replace(right, statements=statements[1:2] + statements[2:], entries=("Oslo",)), set()),
        (replace(right, statements=tuple(each.replace(" 7", " 17") for each in statements)), {score.LAST_VALUE}),
        (replace(right, statements=("Ann lives in Oslo", "is 7")), {score.FACTS, score.STAYS}),
        (replace(right, entries=()), {score.MUSTS}),
        (replace(right, entries=("Oslo", "Bergen")), {score.MUST_NOTS}),
        (replace(right, entries=("Oslo", "fine Weather")), {score.MUST_NOTS}),
    ):
        assert {verdict.measure for verdict in judged(small(), wrong) if not verdict.right} == measures


def test_what_still_holds_and_was_replaced_is_a_false_replacement() -> None:
    """A fact and a stay of the same words count once. A search of turns has no statements to judge."""
    statements, sister = ("Ann lives in Oslo", "Ann's son is 7"), "Ann's sister lives in Bergen"
    lost = Remembered((("Oslo",), ("four",)), statements, replaced=(sister,))
    other = replace(small(), stays=(Statement(1, (("sister", "brother"), ("Bergen",))),))
    assert sums([(other, lost)], len)[score.FALSE_REPLACEMENTS] == Count(1, 3)
    kept = replace(lost, statements=(*statements, sister))
    assert sums([(other, kept)], len)[score.FALSE_REPLACEMENTS] == Count(0, 4)
    assert sums([(other, kept)], len)[score.TOKENS] == Count(8, 2)
    assert set(sums([(other, Remembered(lost.hits))], len)) == {score.ANSWERS, score.CURRENT, score.TOKENS}


def test_sessions_end_where_there_is_a_long_pause_and_newer_turns_go_first() -> None:
    assert [len(session) for session in small().sessions] == [1, 1]
    assert newest_of_near([0.9, 0.1, 0.8, 0.7, 0.6], 2) == [4, 3]


def test_of_unseen_conversations_only_sums_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unseen = replace(small(), unseen=True)
    remembered = Remembered((("a",), ("b",)), ())
    for shown in (report.cases, report.memory):
        with pytest.raises(ValueError, match="sums only"):
            list(shown(unseen, remembered))
    for option in ("--cases", "--memory", "--verbose", "--only=03"):
        monkeypatch.setattr("sys.argv", ["agent_set", "--unseen", option])
        with pytest.raises(SystemExit):
            main()
        told = capsys.readouterr()
        assert told.out == ""
        assert "sums only" in told.err


def test_what_must_hold_is_judged_on_both_sides() -> None:
    def lines(answers: int, german: int, baseline: int) -> dict[str, bool | None]:
        ours = {
            "all": {score.ANSWERS: Count(answers, 100), score.MUST_NOTS: Count(95, 100)},
            "en": {score.ANSWERS: Count(95, 100)},
            "de": {score.ANSWERS: Count(german, 100)},
        }
        beside = report.Column("raw turns", {"all": {score.ANSWERS: Count(baseline, 100)}})
        return {line.what: line.holds for line in report.must_hold(ours, [beside])}

    best, german = "answers above the best baseline", f"German below English: {score.ANSWERS}"
    held, broken = lines(92, 87, 87), lines(91, 86, 87)
    assert [held[what] for what in ("answers", best, german)] == [True, True, True]
    assert [broken[what] for what in ("answers", best, german)] == [False, False, False]
    assert held["start: must-nots"] is True
    assert held["facts"] is None


def test_evidence_of_questions_is_counted_by_turn(tmp_path: Path) -> None:
    """A question that names no turn, or one that isn't there, is left out; several may stand in one text."""
    asked = [("both", ["D1:1; D1:2"], 1), ("gone", ["D9:9"], 1), ("none", [], 4), ("one", ["D1:2"], 4)]
    sample = {
        "sample_id": "c",
        "qa": [{"question": ask, "evidence": rests, "category": kind} for ask, rests, kind in asked],
    }
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([sample]), encoding="utf-8")
    turns = [(1, Said(text, "talk", "c", "Ann", NINE, id)) for id, text in (("D1:1", "a"), ("D1:2", "b"))]
    found = list(locomo.questions(file, [("c", turns, [])]))
    assert [(one.ask, sorted(one.evidence)) for one in found] == [("both", ["D1:1", "D1:2"]), ("one", ["D1:2"])]
    hits = [locomo.Found(frozenset({"D1:2", "D1:7"}), 9), locomo.Found(frozenset({"D1:1"}), 9)]
    assert locomo.evidence(found, hits) == Count(1, 3)
    assert locomo.evidence(found, hits, 1) == Count(1, 2)
