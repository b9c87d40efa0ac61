"""Whether what the engine decides is what a golden says; with JOCHI_GOLDEN_WRITE it becomes what the golden says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from tests.golden import files, look, store
from tests.oracle import graph

from jochi import Jochi
from jochi.policy import LoadedPolicy

WRITE = bool(os.environ.get("JOCHI_GOLDEN_WRITE"))


def installed(policy: LoadedPolicy, install_once: Callable[[LoadedPolicy], Jochi]) -> Jochi:
    """The engine with a policy, and the go to act by it."""
    client = install_once(policy)
    graph.clear(client.database)
    client.apply()
    return client


def decided(client: Jochi, *, looks: bool = True, whole: bool = True) -> Iterator[look.Fact]:
    """All about the fixed store. ``looks``: what plans and explanations say besides; ``whole``: rule by rule."""
    keys = store.build(client)
    if looks:
        yield from look.plans(client)
        yield from look.explanations(client, keys, whole=whole)
        yield from look.budgets(client)
    yield from look.lives(client)
    yield from look.records(client)


def agrees(name: str, facts: Iterator[look.Fact]) -> None:
    """Fails with the first differences."""
    found = files.named(facts)
    if WRITE:
        files.write(name, found)
    if different := files.differences(files.read(name, frozenset(what for what, _, _ in found)), found):
        pytest.fail(f"{name}: {different}", pytrace=False)
