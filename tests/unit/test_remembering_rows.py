"""What Python makes of memories before they are sent."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest

from jochi.graph.catalogue import MOMENTS
from jochi.text.tokens import best_counter
from jochi.write.remembering import Link
from jochi.write.remembering.rows import row_of


def row(**given: Any) -> dict[str, Any]:
    made = row_of({"kind": "Belief", "id": "b", **given}, 0, best_counter())
    assert isinstance(made, dict), made
    return made


def test_a_link_may_stand_in_a_mapping() -> None:
    wanted = {"type": "EVIDENCE", "to": "turn", "properties": {"w": 1}, "direction": "out"}
    given = Link(type="EVIDENCE", to="turn", properties={"w": 1})
    assert row(relationships=(given,))["relationships"] == [wanted]
    assert row(relationships=[wanted])["relationships"] == [wanted]


@pytest.mark.parametrize("name", ["seen_at", "held_until", "valid_from", *sorted(MOMENTS)])
def test_text_of_a_moment_becomes_one(name: str) -> None:
    """JSON has no datetimes. What is no date stays text, and the procedure says so."""
    made = row(properties={name: "2026-01-01T00:00:00Z", "said": "2026-01-01T00:00:00Z"})["properties"]
    assert made == {name: datetime(2026, 1, 1, tzinfo=timezone.utc), "said": "2026-01-01T00:00:00Z"}
    assert row(properties={name: "soon"})["properties"] == {name: "soon"}


@pytest.mark.parametrize(("given", "plain"), [(np.int64(7), 7), (np.float32(0.5), 0.5), (np.bool_(True), True)])
def test_a_number_of_numpy_is_the_number_that_it_is(given: Any, plain: Any) -> None:
    made = row(properties={"n": given, "many": [given]})["properties"]
    assert (made["n"], type(made["n"]), made["many"]) == (plain, type(plain), [plain])


def test_an_array_of_numpy_is_no_property() -> None:
    refused: Any = row_of({"kind": "Belief", "properties": {"n": np.zeros(3)}}, 0, best_counter())
    assert refused.reason == "not_storable"
