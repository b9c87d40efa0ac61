"""What the engine decides under the shipped policy is what the goldens say (tests/golden)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import LOCOMO
from tests.golden import look, store
from tests.golden.agree import agrees, decided, installed

from jochi import Jochi
from jochi.policy import LoadedPolicy, load_policy
from jochi.write import importing

pytestmark = [pytest.mark.server, pytest.mark.timeout(1800)]  # each body is planned


@pytest.mark.slow
def test_what_is_decided_about_the_store(install_once: Callable[[LoadedPolicy], Jochi]) -> None:
    agrees("default", decided(installed(load_policy(), install_once)))


@pytest.mark.exhaustive
def test_what_is_decided_about_locomo(tmp_path: Path, install_once: Callable[[LoadedPolicy], Jochi]) -> None:
    """Its texts stay where they are: of each memory there is a hash of what changed."""
    if not LOCOMO.is_file():
        pytest.skip(f"LoCoMo isn't at {LOCOMO}; its licence forbids shipping it")
    client = installed(load_policy(), install_once)
    file = tmp_path / "sample.json"
    file.write_text(json.dumps(json.loads(LOCOMO.read_text(encoding="utf-8"))[:1]), encoding="utf-8")
    importing.write(client.database, importing.records(file, now=store.BASE, on_bad=lambda bad: None), now=store.BASE)

    def facts() -> Iterator[look.Fact]:
        yield from look.plans(client)
        yield from look.lives(client, hashed=True)

    agrees("locomo", facts())
