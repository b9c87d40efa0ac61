"""What a text holds: worse figures on the labelled contexts fail here, and so does any other one that is misread."""

from __future__ import annotations

import pytest
from tests.content_types.measure import compared, examples

from jochi_workers.language import read
from jochi_workers.language.content_types import LEAST_SHARE, contains_pii, content_type

MISREAD = {
    "In the end the team chose Rust, since memory leaks had cost us weeks.",
    "I figured out how the heating works: the valve has to be open first.",
    "Reading aloud helps him remember names.",
    "Adding an index cut the query from nine seconds to forty milliseconds.",
}
"""92 of 96 are right; of those that were held back 46 of 48."""

CHAT = "The sun was out."


def test_accuracy() -> None:
    """With a margin: a processor that adds up in another order may tip what stood on the edge."""
    told = compared(examples())
    assert len(told) == 96
    wrong = {one.text for one, taken in told if one.type != taken}
    assert len(wrong - MISREAD) <= 2, wrong - MISREAD
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
        ("You don't have to send it.", "chitchat"),
        ("I love your garden.", "chitchat"),
        ("Ich trinke sehr gern Tee, und ich mag keinen Kaffee.", None),
        ("", None),
    ],
)
def test_what_decides(text: str, type: str | None) -> None:
    assert 1 / 7 < LEAST_SHARE < 1 / 6
    assert content_type(read(text)) == type


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
