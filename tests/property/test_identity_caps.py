"""A reflection out of many never has more tokens than it may, and what the offline form makes is accepted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation

IDENTITY = derivation("identity")
PLAIN = [
    "I plan before I write.",
    "Tests come first.\nI learned it twice.",
    "Ich frage früher nach.",
    "I had 3 failures.",
]


@given(said=st.lists(st.sampled_from(PLAIN) | st.text(max_size=80), min_size=1, max_size=12), tokens=st.integers(1, 40))
def test_the_cap_holds_and_nothing_is_made_up(said: list[str], tokens: int) -> None:
    asked = {"inputs": [{"key": f"s/{n}", "content": text} for n, text in enumerate(said)], "most_tokens": tokens}
    made = IDENTITY.offline(asked, Estimate())
    assert Estimate().count(made) <= tokens or not made
    if made and set(said) <= set(PLAIN):
        assert not {"made up number", "made up name", "made up words", "too long"} & set(
            IDENTITY.faults(asked, made, Estimate())
        )
    assert IDENTITY.faults(asked, "I met Zebulon Quark 4711 times.", Estimate())
