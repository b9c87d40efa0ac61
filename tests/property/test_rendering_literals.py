"""Whatever a policy says stays a value: literals are sent to the server and come back as they were (DESIGN §6)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jochi.compile.quoting import literal
from jochi.database.database import Database

pytestmark = pytest.mark.server

TEXTS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], max_codepoint=0xFFFF), st.sampled_from("'\"\\`\n\r\t\0${}/*u0027😀")
    ),
    max_size=30,
)


@given(texts=st.lists(TEXTS, min_size=1, max_size=40))
@example(
    ["\\u0027 RETURN 1 //", "\\\\u0027", "'", "\\'", "\\", "//", "/*", "$now", "\x00", "\u2028", "\ufeff", "\ud7ff"]
)
@example(["\U000e0001", "\U0010fffd", "😀"])
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_text_comes_back_as_it_was(database: Database, texts: list[str]) -> None:
    assert database.run(f"RETURN {literal(texts)} AS texts", write=False) == [{"texts": texts}]


@given(
    numbers=st.lists(
        st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
    )
)
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_number_comes_back_as_it_was(database: Database, numbers: list[float]) -> None:
    assert database.run(f"RETURN {literal(numbers)} AS numbers", write=False) == [{"numbers": numbers}]


def test_a_duration_comes_back_in_seconds(database: Database) -> None:
    row = database.run(f"RETURN {literal(timedelta(days=40, seconds=5))} AS d", write=False)[0]
    assert (row["d"].days, row["d"].seconds) == (0, 40 * 86400 + 5)
