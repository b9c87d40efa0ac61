"""What people say they will do: 60 sentences that are commitments, 60 that aren't (tests/commitments), and two chats.

The sentences were written before the rules; a third, `unseen.tsv`, was set aside while these were made. Of each: yes or no, its
language, the day by which ('-': none), as said on Tuesday, 9 June 2026.
"""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from pathlib import Path

import pytest

from jochi.toml import tomllib
from jochi_workers.derive.extract.messages import Message
from jochi_workers.derive.learn.commitments import commitment, commitments
from jochi_workers.language.due import due_day

FILES = Path(__file__).parents[1]
CHATS = FILES / "memory_files" / "chats"
SAID = datetime(2026, 6, 9, 10, tzinfo=timezone.utc)


def examples(name: str) -> list[list[str]]:
    lines = (FILES / "commitments" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


@pytest.mark.parametrize(("name", "missed"), [("seen", 0), ("unseen", 1)])
def test_commitments_are_told_from_what_only_sounds_like_them(name: str, missed: int) -> None:
    found = [(*row, commitment(row[3], row[1], SAID)) for row in examples(name)]
    assert [row[3] for row in found if row[0] == "no" and row[4]] == []
    assert len([row[3] for row in found if row[0] == "yes" and not row[4]]) <= missed
    assert [(row[3], row[2]) for row in found if row[4] and str(row[4].due or "-") != row[2]] == []


@pytest.mark.parametrize(("name", "language", "least"), [("work_en", "en", 7), ("familie_de", "de", 6)])
def test_commitments_of_a_chat_are_found_with_their_day_and_nothing_else(name: str, language: str, least: int) -> None:
    key = tomllib.loads((CHATS / f"{name}.expected.toml").read_text(encoding="utf-8"))["commitment"]
    wanted = {(one["turn"], one["who"], one["due"]) for one in key}
    turns = [json.loads(line) for line in (CHATS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    said = [Message(turn["name"], turn["content"]) for turn in turns]
    moments = [datetime.fromisoformat(turn["at"]) for turn in turns]
    found = {(one.turn, one.speaker, str(one.due or "")) for one in commitments(said, moments, language)}
    assert found <= wanted
    assert len(found) >= least


@pytest.mark.parametrize(
    ("sentence", "language", "day"),
    [
        ("by 9 June", "en", "2026-06-09"),
        ("by 8 June", "en", "2027-06-08"),
        ("by the 31st", "en", "2026-07-31"),
        ("by the end of the week", "en", "2026-06-14"),
        ("by next Sunday", "en", "2026-06-21"),
        ("next week", "en", "2026-06-21"),
        ("Wednesday, 18 June", "en", "2026-06-18"),
        ("last Friday", "en", None),
        ("every Friday", "en", None),
        ("since yesterday", "en", None),
        ("bis zum 29.2.", "de", "2028-02-29"),
        ("am 31.", "de", "2026-07-31"),
        ("bis Ende der Woche", "de", "2026-06-14"),
        ("ab Freitag", "de", None),
        ("jeden Freitag", "de", None),
        ("avant vendredi", "fr", None),
    ],
)
def test_the_day_by_which_is_one_that_comes(sentence: str, language: str, day: str | None) -> None:
    assert due_day(sentence, language, SAID) == (day and date.fromisoformat(day))


def test_an_assistant_commits_itself_only_to_later_days_and_nobody_by_what_is_pasted() -> None:
    said = ["I'll check the log.", "I'll check the log today.", "I'll check the log tomorrow."]
    for speaker, turns in (("assistant", [3]), ("Ann", [1, 2, 3]), ("", [])):
        told = [Message(speaker, text) for text in said]
        assert [one.turn for one in commitments(told, [SAID] * 3, "en")] == turns


@pytest.mark.parametrize(
    ("language", "unsure", "sure"),
    [
        ("en", "If I have time I'll send it tomorrow.", "I'll send it tomorrow."),
        ("en", "I guess I'll write the report by Friday.", "I'll write the report by Friday."),
        ("en", "She says I'll get you the keys on Monday.", "I'll get you the keys on Monday."),
        ("en", "And I'll call her tomorrow?", "And I'll call her tomorrow."),
        ("en", 'The sign read "I\'ll fix it tomorrow".', "I'll fix it tomorrow."),
        ("en", "I'll send it, and I may call on Monday.", "I'll send it by 5 May."),
        ("de", "Falls Zeit ist, schicke ich es morgen.", "Dann schicke ich es morgen."),
        ("de", "Vielleicht bringe ich es am Montag zurück.", "Ich bringe es am Montag zurück."),
        ("de", "Ich schicke es morgen nicht.", "Ich schicke es morgen."),
        ("en", "I'll send it tomorrow" + " and on" * 100, "I'll send it tomorrow and on and on."),
    ],
)
def test_what_is_not_sure_is_no_task(language: str, unsure: str, sure: str) -> None:
    assert commitment(unsure, language, SAID) is None
    assert commitment(sure, language, SAID) is not None
