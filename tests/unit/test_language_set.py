"""The statements of the set written by hand: worse figures fail here, and so does any other sentence that is misread."""

from __future__ import annotations

from tests.language_set.measure import compared, examples, figures

ALL = examples()
MISREAD = {
    "The cook, the waiter and the owner smoke.",
    "Ann sings, and Bob plays the piano.",
    "The shop where Mia works closed.",
    "Rex, the old dog, sleeps.",
    "I think the shop is closed.",
    "The dog was found and brought home.",
    "Sounds great, I'm so happy for you.",
    "Yeah, my sister plays the drums and sings in a choir.",
    "Nina, a young doctor, bought a house near the lake.",
    "Emma prefers tea, and she doesn't like milk in it.",
}
"""What the model parses otherwise."""


def test_precision_and_recall() -> None:
    found = figures(ALL)
    assert found.expected > 240
    assert found.precision >= 0.96
    assert found.recall >= 0.94


def test_no_other_sentence_is_misread() -> None:
    """But for one: a processor that adds up in another order may tip what stood on the edge."""
    found = {example.text for example, too_much, missing in compared(ALL) if too_much or missing}
    assert len(found - MISREAD) <= 1, found - MISREAD
