"""One conversation of the set through the product: told, learned, asked (docs/reference/agent-set.md)."""

from __future__ import annotations

import pytest
from tests.agent_set.conversation import load
from tests.agent_set.product import Product
from tests.agent_set.score import ANSWERS, FACTS, KEPT_OUT, MUSTS, sums

from jochi import Jochi
from jochi_workers import embeddings

pytestmark = pytest.mark.server

FLOORS = {ANSWERS: 0.5, FACTS: 0.5, KEPT_OUT: 0.7, MUSTS: 0.7}
"""Far below what is reached: this says that the way through the product works, `make agent-set` how well."""


@pytest.mark.exhaustive
def test_a_conversation_is_told_learned_and_asked(applied: Jochi) -> None:
    conversations = load(only=["01"])
    model = embeddings.provider("minilm")
    try:
        remembered = Product(applied, model).remembered(conversations)
    finally:
        model.close()
    found = sums(zip(conversations, remembered, strict=True), len)
    below = {measure: found[measure] for measure, floor in FLOORS.items() if (found[measure].share or 0) < floor}
    assert below == {}
    assert remembered[0].entries
