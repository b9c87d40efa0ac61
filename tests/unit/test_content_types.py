"""What a text holds: worse figures on the labelled contexts fail here, and so does any other one that is misread."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.content_types.measure import by_keyword, compared, examples, messages, tallied

from jochi_workers.language import read, read_all
from jochi_workers.language.content_types import LEAST_SHARE, contains_pii, content_type

MISREAD = {
    "I figured out how the heating works: the valve has to be open first.",
    "Reading aloud helps him remember names.",
}
UNKNOWN = {
    "In the end the team chose Rust, since memory leaks had cost us weeks.",
    "Adding an index cut the query from nine seconds to forty milliseconds.",
    "The train was late, but I got a seat.",
    "My brother came by on Sunday. We talked for hours.",
}
"""90 of 96 are right, 4 unknown; of those that were held back 45 of 48 are right."""

WORK = [
    line
    for line in (Path(__file__).parents[1] / "content_types" / "work.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
CHATS = Path(__file__).parents[1] / "memory_files" / "chats"
CHAT = "The sun was out."


def test_accuracy() -> None:
    """With a margin: a processor that adds up in another order may tip what stood on the edge."""
    told = compared(examples())
    assert len(told) == 96
    wrong = {one.text for one, taken in told if taken not in (one.type, None)}
    unknown = {one.text for one, taken in told if taken is None}
    assert len(wrong - MISREAD) <= 2, wrong - MISREAD
    assert len(unknown - UNKNOWN) <= 2, unknown - UNKNOWN
    held_back = [one.type == taken for one, taken in told if one.held_back]
    assert sum(held_back) >= 0.9 * len(held_back)


@pytest.mark.parametrize(
    ("text", "type"),
    [
        # The most sentences decide, and where two types are as many: task, preference, insight.
        ("I love tea. I hate coffee. Buy milk.", "preference"),
        ("I love tea. Buy milk.", "task"),
        ("It failed due to rust. I love tea.", "preference"),
        # On both sides of the least share: one of six sentences, of seven.
        ("I love tea. " + f"{CHAT} " * 5, "preference"),
        ("I love tea. " + f"{CHAT} " * 6, "chitchat"),
        # Asked, denied or said of somebody else's it isn't so.
        ("Do you love tea?", "chitchat"),
        ("You don't have to send it.", None),
        ("I love your garden.", "chitchat"),
        ("Ich trinke sehr gern Tee, und ich mag keinen Kaffee.", None),
        ("", None),
    ],
)
def test_what_decides(text: str, type: str | None) -> None:
    assert 1 / 7 < LEAST_SHARE < 1 / 6
    assert content_type(read(text)) == type


def test_what_is_of_work_is_no_chitchat() -> None:
    """Incident reviews, minutes, descriptions of systems: what no rule knows is unknown."""
    rows = (CHATS / "work_en.jsonl").read_text(encoding="utf-8").splitlines()
    chat = "\n".join("{name}: {content}".format(**json.loads(row)) for row in rows)
    assert len(WORK) == 18
    told = [content_type(reading) for reading in read_all([*WORK, chat])]
    assert told.count("chitchat") == 0
    assert told.count(None) >= 17


@pytest.mark.parametrize(("english", "right"), [(True, 33), (False, 36)])
def test_messages_of_teams_and_families_are_unknown_rather_than_wrong(english: bool, right: int) -> None:
    """34 in English, and 105 in German, French and Spanish, where all that holds a type is unknown."""
    chosen = [one for one in messages() if (one.language == "en") == english]
    told = tallied(chosen, [content_type(reading) for reading in read_all(one.text for one in chosen)])
    assert told.wrong <= 0.05 * len(chosen)
    assert told.right >= right - 1
    assert tallied(chosen, [by_keyword(one.text) for one in chosen]).wrong > 0.4 * len(chosen)


def test_without_the_model_only_reactions_and_questions_are_chitchat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jochi_workers.language.content_types.relevance", lambda _sentences: None)
    assert content_type(read("Good morning! How are you? Thanks a lot. The tower is red.")) == "chitchat"
    assert content_type(read("Good morning! The tower is red. It has nine stairs.")) is None


@pytest.mark.parametrize(
    ("text", "personal"),
    [
        ("The harbour was quiet and the tower was painted again.", False),
        ("My friend Maria Keller painted the tower again.", False),
        ("Write to keeper@example.com about the tower.", True),
        ("Please pay it to DE89 3704 0044 0532 0130 00 this week.", True),
        # Places, and addresses of machines and of the web, are nobody's; nor is a name alone.
        ("The tower in Berlin has its own page at https://example.com and the server 10.0.0.7.", False),
        # Not all could be read: what was found counts, what wasn't is unknown.
        ("Der Hafen war ruhig und der Turm wurde noch einmal gestrichen.", None),
        ("Der Hafen war ruhig, und die Adresse war keeper@example.com, glaube ich.", True),
    ],
)
def test_what_is_personal(text: str, personal: bool | None) -> None:
    assert contains_pii(read(text)) is personal
