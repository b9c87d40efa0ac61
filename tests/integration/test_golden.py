"""What the engine decides about a fixed store is what the goldens say (tests/golden)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import LOCOMO, SHIPPED, PolicyWith
from tests.golden import files, look, store
from tests.oracle import graph

from jochi import Jochi
from jochi.policy import LoadedPolicy, load_policy
from jochi.write import importing

pytestmark = [pytest.mark.server, pytest.mark.timeout(1800)]  # five installs, where each body is planned

WRITE = bool(os.environ.get("JOCHI_GOLDEN_WRITE"))
VARIANTS = {
    "relative": '[value]\nprofile = "relative"',
    "rules_alone": "[value]\nover_ttl = false",
    "destructive_only": '[audit]\nlevel = "destructive"',
}
"""The tests' policy, and what each adds."""


def installed(policy: LoadedPolicy, install_once: Callable[[LoadedPolicy], Jochi]) -> Jochi:
    """The engine with a policy, and the go to act by it."""
    client = install_once(policy)
    graph.clear(client.database)
    client.apply()
    return client


def agrees(name: str, facts: Iterator[look.Fact]) -> None:
    found = files.named(facts)
    if WRITE:
        files.write(name, found)
    if different := files.differences(files.read(name, frozenset(what for what, _, _ in found)), found):
        pytest.fail(f"{name}: {different}", pytrace=False)


@pytest.mark.parametrize("name", [pytest.param("default", marks=SHIPPED), "tests", *VARIANTS])
def test_what_is_decided_about_the_store(
    name: str, policy_with: PolicyWith, install_once: Callable[[LoadedPolicy], Jochi]
) -> None:
    policy = load_policy() if name == "default" else policy_with(VARIANTS.get(name, ""))
    client = installed(policy, install_once)
    keys = store.build(client)

    def facts() -> Iterator[look.Fact]:
        if name != "destructive_only":
            yield from look.plans(client)
            yield from look.explanations(client, keys, whole=name not in VARIANTS)
            yield from look.budgets(client)
        yield from look.lives(client)
        yield from look.records(client)

    agrees(name, facts())


@SHIPPED
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
