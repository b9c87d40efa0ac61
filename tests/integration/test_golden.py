"""What the engine decides about a fixed store is what the goldens say (tests/golden), under the tests' policy and others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.conftest import PolicyWith
from tests.golden.agree import agrees, decided, installed

from jochi import Jochi
from jochi.policy import LoadedPolicy

pytestmark = [pytest.mark.server, pytest.mark.timeout(1800)]  # four installs, where bodies are planned

VARIANTS = {
    "tests": "",
    "relative": '[value]\nprofile = "relative"',
    "rules_alone": "[value]\nover_ttl = false",
    "destructive_only": '[audit]\nlevel = "destructive"',
}
"""What each adds to the tests' policy."""


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_decided_about_the_store(
    name: str, policy_with: PolicyWith, install_once: Callable[[LoadedPolicy], Jochi]
) -> None:
    client = installed(policy_with(VARIANTS[name]), install_once)
    agrees(name, decided(client, looks=name != "destructive_only", whole=name == "tests"))
