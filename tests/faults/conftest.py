"""Fixtures of the fault tests: the engine armed or ready to be run from outside, without a new install each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.faults.cable import Cable

from jochi import Jochi

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are slow: `make faults` runs them, `make test` doesn't."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def engine(jochi: Jochi) -> Iterator[Jochi]:
    """The shared engine, whose jobs, procedures and pump a test may change: they are put back after it."""
    jobs = jochi.database.run("MATCH (j:JochiJob) RETURN j.name AS name, properties(j) AS values")
    texts = jochi.database.run("MATCH (x:JochiProcedure) RETURN x.name AS name, properties(x) AS values")
    yield jochi
    jochi.database.run(
        "MATCH (p:JochiPump) SET p.armed = false"
    )  # or a tick in flight arms what is cancelled beside it
    jochi.database.autocommit(
        "UNWIND ['jochi.pump.neo4j', 'jochi.watch.neo4j'] AS n CALL apoc.periodic.cancel(n) YIELD name RETURN count(*)"
    )
    for label, rows in (("JochiJob", jobs), ("JochiProcedure", texts)):
        jochi.database.run(
            f"OPTIONAL MATCH (n:{label}) WHERE NOT n.name IN [r IN $rows | r.name] DELETE n "
            f"WITH count(*) AS done UNWIND $rows AS r MERGE (n:{label} {{name: r.name}}) SET n = r.values",
            {"rows": rows},
        )
    jochi.engine.refresh()


@pytest.fixture
def arm(engine: Jochi) -> Callable[[], None]:
    """Lets the database run its jobs by itself from now on."""

    def now() -> None:
        engine.database.run(
            "MATCH (p:JochiPump) SET p.armed = true, p.last_tick = datetime.realtime(), p.rearmed_at = null"
        )
        assert engine.ensure_jobs() == [engine.engine.pump, engine.engine.watch]

    return now


@pytest.fixture
def alone(engine: Jochi) -> Callable[[str], None]:
    """Switches every job off but one, so that a test sees what it does."""

    def only(job: str) -> None:
        engine.database.run("MATCH (j:JochiJob) SET j.enabled = j.name = $job", {"job": job})

    return only


@pytest.fixture
def cable(empty_server: Any) -> Iterator[Cable]:
    address = urlsplit(empty_server.uri)
    made = Cable(address.hostname or "localhost", address.port or 7687)
    yield made
    made.cut()
