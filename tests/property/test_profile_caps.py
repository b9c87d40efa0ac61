"""A profile never has more lines or tokens than it may, whatever the facts hold, and what the offline form makes is accepted."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation

PROFILE = derivation("profile")
PLAIN = ["Ann likes tea.", "ann  likes tea.", "Ann likes\ntea.", "Sie trinkt keinen Kaffee.", "She has 3 dogs."]
FACTS = st.lists(st.sampled_from(PLAIN) | st.text(max_size=60), max_size=12)


def row(facts: list[str], lines: int, tokens: int) -> dict[str, Any]:
    inputs = [{"key": f"s/{n}", "content": fact} for n, fact in enumerate(facts)]
    return {"inputs": inputs, "lines": lines, "most_tokens": tokens}


@given(facts=FACTS, lines=st.integers(1, 6), tokens=st.integers(1, 40))
def test_the_caps_hold_and_the_newest_come_first(facts: list[str], lines: int, tokens: int) -> None:
    asked = row(facts, lines, tokens)
    made = PROFILE.offline(asked, Estimate())
    assert len(made.splitlines()) <= lines
    assert Estimate().count(made) <= tokens or not made
    said = made.split("\n") if made else []
    whole = [" ".join(fact.split()) for fact in facts]
    assert [whole.index(line) for line in said] == sorted(whole.index(line) for line in said), "in their order"
    assert len({line.casefold() for line in said}) == len(said)
    if made and set(facts) <= set(PLAIN):
        assert PROFILE.faults(asked, made, Estimate()) == ()
    # One more line than it may have is refused, whoever made it.
    much = row(["Ann likes tea."] * (lines + 1), lines, 10**6)
    assert "too many lines" in PROFILE.faults(much, "\n".join(["Ann likes tea."] * (lines + 1)), Estimate())
    assert PROFILE.faults(much, "\n".join(["Ann likes tea."] * lines), Estimate()) == ()


def test_nothing_is_said_that_no_fact_says() -> None:
    asked = row(["Ann likes tea.", "Ann never works on Fridays."], 10, 100)
    assert PROFILE.faults(asked, "Ann likes tea.\nAnn never works on Mondays.", Estimate())
    assert PROFILE.faults(asked, "Ann has 3 dogs.", Estimate())
