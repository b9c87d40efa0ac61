"""The sentence-transformers provider with the real library and a model of yours; the unit tests have a stand-in for both.

JOCHI_TEST_SENTENCE_MODEL names a folder that holds a model for English. Nothing is downloaded.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from jochi_workers.embeddings import ProviderUnusable, provider

FOLDER = "JOCHI_TEST_SENTENCE_MODEL"


@pytest.fixture
def folder() -> Path:
    pytest.importorskip("sentence_transformers")
    given = os.environ.get(FOLDER)
    if given is None:
        pytest.skip(f"{FOLDER} names no model's folder")
    return Path(given)


@pytest.mark.filterwarnings("default")  # torch's own affairs
def test_a_real_model_tells_near_from_far(folder: Path) -> None:
    made = provider("sentence-transformers", model=str(folder), device="cpu")
    assert made.model == folder.resolve().name
    results = made.embed(["She likes tea.", "She is fond of tea.", "The rocket exploded.", ""])
    tea, fond, rocket, _empty = (result.vector for result in results)
    assert {len(result.vector) for result in results} == {made.dimensions}
    assert all(math.isclose(math.hypot(*vector), 1, rel_tol=1e-6) for vector in (tea, fond, rocket))

    def cosine(vector: list[float]) -> float:
        return sum(a * b for a, b in zip(tea, vector, strict=True))

    assert cosine(fond) > cosine(rocket) + 0.2
    assert cosine(made.embed(["She likes tea."])[0].vector) == pytest.approx(1, abs=1e-5)
    long = made.embed(["tea " * 20_000])[0]
    assert long.truncated
    made.close()
    with pytest.raises(ProviderUnusable, match="closed"):
        made.embed(["tea"])
