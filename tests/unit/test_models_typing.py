"""The types that app code sees, by mypy --strict."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[2]


@pytest.mark.exhaustive
def test_a_type_checker_knows_the_models_and_the_asynchronous_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    out, errors, code = api.run(["--strict", "tests/typing/models.py", "tests/typing/client.py"])
    assert code == 0, out + errors
