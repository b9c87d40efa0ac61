"""Whatever takes a moment says what is wrong with one before it asks the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import neo4j
import pytest

from jochi import Jochi
from jochi.errors import UsageError
from jochi.forgetting import Request

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001
KEYS = ["default/a"]


@pytest.fixture
def client() -> Iterator[Jochi]:
    """Nothing listens where it would connect to."""
    with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1") as driver:
        yield Jochi(driver)


@pytest.mark.parametrize(("moment", "wrong"), [("x", "is no datetime: 'x'"), (NAIVE, "has no zone")])
@pytest.mark.parametrize(
    ("where", "name", "call"),
    [
        ("plan", "at", lambda client, at: client.plan(at)),
        ("explain", "at", lambda client, at: client.explain("a", at=at)),
        ("edges", "at", lambda client, at: client.edges(at)),
        ("score", "at", lambda client, at: client.score(KEYS, at=at)),
        ("salience", "at", lambda client, at: client.salience(KEYS, at=at)),
        ("edge_salience", "at", lambda client, at: client.edge_salience([], at=at)),
        ("history_of", "at", lambda client, at: client.history_of("default", "s", "a", at)),
        ("pruned", "since", lambda client, at: client.pruned(at)),
        ("recall", "since", lambda client, at: client.recall("tea", since=at)),
        ("touch", "now", lambda client, at: client.touch(KEYS, now=at)),
        ("reinforce", "now", lambda client, at: client.reinforce([], now=at)),
        ("remember", "now", lambda client, at: client.remember([], now=at)),
        ("supersede", "now", lambda client, at: client.supersede(KEYS, now=at)),
        ("exclude", "now", lambda client, at: client.exclude("p", KEYS, now=at)),
        ("apply_plan", "now", lambda client, at: client.apply_plan("p", now=at)),
        ("approve_run", "now", lambda client, at: client.approve_run("r", now=at)),
        ("restore", "now", lambda client, at: client.restore(KEYS, now=at)),
        ("undo", "now", lambda client, at: client.undo("r", now=at)),
        ("unmerge", "now", lambda client, at: client.unmerge(KEYS, now=at)),
        ("decompress", "now", lambda client, at: client.decompress(KEYS, now=at)),
        ("forget", "now", lambda client, at: client.forget(Request(("default/a",)), now=at)),
        ("run", "now", lambda client, at: client.run("curate_due", now=at)),
    ],
)
def test_a_moment_that_is_none(
    client: Jochi, where: str, name: str, call: Callable[[Jochi, Any], Any], moment: object, wrong: str
) -> None:
    with pytest.raises(UsageError) as raised:
        call(client, moment)
    assert (raised.value.where, raised.value.what.startswith(f"{name} {wrong}")) == (where, True), raised.value
    assert "tzinfo" in (raised.value.fix or "")
