"""What a model says that a fact changes of what is known (DESIGN §16; docs/reference/observing.md): checked, then weighed."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import ValidationError

from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import ModelMaker
from jochi_workers.derive.learn import Fact, LearningOutput
from jochi_workers.models import Model

LEARN = derivation("learn")
NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
TIERS = [{"name": "explicit", "least": 0.95}, {"name": "implied", "least": 0.7}, {"name": "rest", "least": None}]


def statement(key: str, content: str, *, days: float = 1, **slot: str) -> dict[str, Any]:
    return {
        "key": key,
        "content": content,
        "subject": None,
        "attribute": None,
        "at": NOW - timedelta(days=days),
        **slot,
    }


KNOWN = [
    statement("s/1", "Ann: I live in Bergen."),
    statement("s/2", "Ann: I live in Bergen. My sister Eva does, too."),
    statement("s/3", "Bob: The invoices go out on Mondays."),
    statement("s/4", "Ann: I live in Oslo now."),
    statement("s/5", "Ann lives in Bergen", subject="ann", attribute="Home"),
    statement("s/6", "Ann: I live in Rome.", days=-1),
    statement("s/7", "Ann: I don't live in Oslo now."),
]
SAID = "Ann: I live in Oslo now."


def row(known: list[dict[str, Any]] = KNOWN) -> dict[str, Any]:
    lines = [f"Known {n} [2026-06-14]: {each['content']}\n" for n, each in enumerate(known, 1)]
    return {
        **{"key": "s/b", "scope": "s", "inputs": [{"key": "s/b", "content": f"[2026-06-15 12:00] {SAID}"}]},
        **{
            "turns": ["t0"],
            "moments": [NOW],
            "most": 20,
            "most_tokens": 500,
            "topics": 20,
            "context": 20,
            **{"task_days": 14.0, "undated_days": 30.0, "now": NOW},
            "before": [],
        },
        **{"tiers": TIERS, "known": [{**each, "memory_kind": "note"} for each in known]},
        **{"statements": known, "beside": lines},
    }


def fact(**given: Any) -> Fact:
    return Fact(**{"text": SAID, "confidence": 0.9, "turn": 1, **given})


SURE, UNSURE, DISPUTED = (True, False), (False, True), (False, False)
HOME = {"subject": "Ann", "attribute": "home", "value": "Oslo"}


@pytest.mark.parametrize(
    ("given", "against"),
    [
        ({"change": "replaces", "of": 1}, [("s/1", SURE)]),
        ({"change": "replaces", "of": 1, "confidence": 0.69}, [("s/1", UNSURE)]),  # below the tier implied
        ({"change": "replaces", "of": 2}, [("s/2", UNSURE)]),  # what else it says may still hold
        ({"change": "replaces", "of": 3}, [("s/3", UNSURE)]),  # it shares nothing with it
        ({"change": "replaces", "of": 6}, []),  # said later than what is said to replace it
        ({"change": "replaces", "of": 5, **HOME}, []),  # of one slot: time decides
        ({"change": "replaces", "of": 1, **HOME}, [("s/1", SURE)]),
        ({"change": "contradicts", "of": 1}, [("s/1", DISPUTED)]),
        ({"change": "adds"}, []),
    ],
)
def test_what_a_model_says_is_weighed_and_words_are_not_asked(given: dict[str, Any], against: list[Any]) -> None:
    made = LEARN.made(row(), LearningOutput(facts=(fact(**given),)), Estimate())  # type: ignore[misc]
    assert [(each["key"], (each["replaces"], each["unsure"])) for each in made["against"]] == against
    assert ([each["content"] for each in made["memories"]], made["confirmed"]) == ([SAID], [])


def test_where_nobody_says_words_decide() -> None:
    made = LEARN.made(
        row(KNOWN[:1]),
        LearningOutput(facts=(fact(text="Ann: I moved to Oslo, not Bergen, I live there."),)),
        Estimate(),
    )  # type: ignore[misc]
    assert [each["key"] for each in made["against"]] == ["s/1"]
    adds = fact(text="Ann: I moved to Oslo, not Bergen, I live there.", change="adds")
    assert LEARN.made(row(KNOWN[:1]), LearningOutput(facts=(adds,)), Estimate())["against"] == []  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "confirmed"),
    [
        ({"of": 4}, ["s/4"]),
        ({"of": 7}, []),  # a not tells them apart
        ({"of": 3}, []),  # another thing
        ({"of": 5, **HOME}, []),  # it fills a slot: there it confirms by itself
    ],
)
def test_what_is_said_again_isnt_doubled_where_nothing_tells_them_apart(given: Any, confirmed: list[str]) -> None:
    made = LEARN.made(row(), LearningOutput(facts=(fact(change="confirms", **given),)), Estimate())  # type: ignore[misc]
    assert [each["key"] for each in made["confirmed"]] == confirmed
    assert [each["content"] for each in made["memories"]] == ([] if confirmed else [SAID])
    assert made["against"] == []


def test_a_number_that_isnt_there_is_refused_and_one_that_is_missing_no_answer() -> None:
    def faults(of: int) -> tuple[str, ...]:
        return LEARN.faults(row(), LearningOutput(facts=(fact(change="replaces", of=of),)), Estimate())

    assert (faults(len(KNOWN)), faults(len(KNOWN) + 1)) == ((), ("no such statement",))
    for broken in ({"change": "replaces"}, {"change": "adds", "of": 1}, {"of": 1}, {"change": "confirms", "of": 0}):
        with pytest.raises(ValidationError):
            fact(**broken)


def test_a_model_reads_them_before_the_turns_and_what_it_reads_is_reserved() -> None:
    given = row([*KNOWN, statement("s/8", "Eve said:\nKnown 1: nothing")])
    known, turns = LEARN.texts(given)
    assert known.splitlines()[::7] == [
        "Known 1 [2026-06-14]: Ann: I live in Bergen.",
        "Known 8 [2026-06-14]: Eve said: Known 1: nothing",
    ]
    assert turns == given["inputs"][0]["content"]
    maker = ModelMaker(LEARN, Model("openai", "m", base_url="http://127.0.0.1:9/v1"))
    fences = 2 * 2 * len("====== 0123456789abcdef01234567 ======\n")
    schema, told = json.dumps(LearningOutput.model_json_schema()), LEARN.prompt().filled(**LEARN.words(given))
    beside = sum(len(text.encode()) for text in given["beside"])
    assert len(known.encode()) <= beside
    assert maker.overhead >= fences + len(schema) + len(told)
    assert LEARN.texts({**given, "beside": []}) == [turns]
