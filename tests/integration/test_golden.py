"""What the engine decides about a fixed store is what the goldens say (tests/golden), under the tests' policy and others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.golden.agree import agrees, decided, installed

from jochi import Jochi
from jochi.policy import LoadedPolicy

# Four installs, where bodies are planned.
pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(1800)]

POLICIES = {
    "tests": "test_policy",
    "relative": "relative",
    "rules_alone": "rules_alone",
    "destructive_only": "destructive_only",
}
"""The goldens, and the fixtures that are their policies."""


@pytest.mark.parametrize("name", POLICIES)
def test_what_is_decided_about_the_store(
    name: str, request: pytest.FixtureRequest, install_once: Callable[[LoadedPolicy], Jochi]
) -> None:
    client = installed(request.getfixturevalue(POLICIES[name]), install_once)
    agrees(name, decided(client, looks=name != "destructive_only", whole=name == "tests"))
