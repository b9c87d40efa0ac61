"""Of a conversation a summary says nothing twice and nothing that only greets or thanks, and its keywords are no speakers."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import combinations
from pathlib import Path

import pytest

from jochi.text.tokens import Estimate
from jochi.toml import tomllib
from jochi.write.ingesting.source import Message
from jochi.write.ingesting.writer import line_of
from jochi_workers.derive import derivation
from jochi_workers.derive.compress.extractive import ExtractiveSummariser
from jochi_workers.derive.extract.key_terms import key_terms
from jochi_workers.guard.judge import judge
from jochi_workers.language.sentences import sentences

CHATS = Path(__file__).parents[1] / "memory_files" / "chats"
COUNTER = Estimate()
LEVELS = derivation("levels")
FORMS = ("ingested", "imported")


def turns(name: str) -> list[Message]:
    rows = map(json.loads, (CHATS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
    return [Message(None, datetime.fromisoformat(row["at"]), row["name"], row["content"], "") for row in rows]


def text_of(messages: list[Message], form: str) -> str:
    if form == "ingested":
        return "\n".join(map(line_of, messages))
    return "\n".join(f"{one.sender}: {' '.join(one.text.split())}" for one in messages)


def level(text: str, level: str, share: float, whole: str | None = None) -> str:
    row = {
        "level": level,
        "whole": whole,
        "inputs": [{"content": text}],
        "most_tokens": int(COUNTER.count(text) * share),
    }
    made = LEVELS.offline(row, COUNTER)
    assert LEVELS.faults(row, made, COUNTER) == ()
    return str(made)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["work_en", "familie_de"])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_chats(name: str, form: str, share: float) -> None:
    spoken = turns(name)
    text = text_of(spoken, form)
    summary = level(text, "summary", share)
    assert COUNTER.count(summary) > COUNTER.count(text) * share * 0.7
    told = [one.text for one in sentences(summary)]
    assert not [pair for pair in combinations(told, 2) if judge(*pair, cosine=1.0).verdict == "merge"]
    expected = tomllib.loads((CHATS / f"{name}.expected.toml").read_text(encoding="utf-8"))
    noise = {one.text for row in expected["noise"] for one in sentences(spoken[row["turn"] - 1].text)}
    greetings = {one for one in told for word in ("Viele Grüße", "Guten Morgen", "Good morning", "Hi ") if word in one}
    assert not greetings
    if share == 0.1:
        assert not noise & {*told}
    # Who says it stands before each line, also where a message goes on in further lines.
    assert all(one.speaker in {message.sender for message in spoken} for one in sentences(summary))
    speakers = {message.sender for message in spoken}
    for found in (level(summary, "keywords", 0.3, text).split(", "), key_terms(text)):
        assert found
        assert not speakers & {*found}


AGAIN = "The invoices are sent on the first of each month."


@pytest.mark.parametrize(
    "others",
    [
        (AGAIN,),
        (AGAIN.lower().rstrip("."),),
        (f"Noted: {AGAIN}",),
        ("Thanks, Agent!", "Bye, Kim!", "OK", "Best regards, Kim"),
    ],
)
def test_one_sentence_many_times(others: tuple[str, ...]) -> None:
    text = "\n".join([f"Kim: {AGAIN}", *(f"{who}: {one}" for who in ("Agent", "Kim") for one in others)] * 5)
    summary = ExtractiveSummariser(COUNTER).summarise(text, 60, keep=False).text
    assert summary.lower().count("invoices") == 1
    assert summary.count("\n") == 0
    assert level(summary, "keywords", 0.9) in ("invoices", "invoices, month")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The copy freeze moves to 10 March.", "The copy freeze moves to 17 March."),
        ("We deploy on Fridays until the launch.", "We don't deploy on Fridays until the launch."),
    ],
)
def test_what_differs_in_a_value_is_said(one: str, other: str) -> None:
    summary = ExtractiveSummariser(COUNTER).summarise(f"{one}\n{other}\n{one}", 60, keep=False).text
    assert summary.splitlines() == [one, other]


def test_a_text_of_nothing_else_has_a_summary() -> None:
    text = "Kim: Thanks, bye!\nAgent: Bye, Kim!\n" * 5
    assert ExtractiveSummariser(COUNTER).summarise(text, 12, keep=False).text
