"""A server that goes away in the middle, and a database that takes no writes.

Needs the fixtures `database`, `empty_server` (uri, user, password) and `read_only_database` (a `Database` on a server started
with `server.databases.default_to_read_only=true`, without any migration in it).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import neo4j
import pytest
from tests.faults.cable import Cable

from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.errors import ConnectionFailed, NotWritable
from jochi.schema import migrations
from jochi.schema.migrations import Outcome, Step
from jochi.schema.migrations.files import read_folder
from jochi.schema.migrations.lock import read_lock

pytestmark = pytest.mark.server


@pytest.fixture
def over_cable(database: Database, empty_server: Any, cable: Cable) -> Iterator[Database]:
    auth = None if empty_server.password is None else (empty_server.user, empty_server.password)
    driver = neo4j.GraphDatabase.driver(f"bolt://127.0.0.1:{cable.port}", auth=auth, max_transaction_retry_time=0.5)
    with driver:
        yield Database(driver, database.name)


@pytest.mark.parametrize("step", [Step.LOCKED, Step.RUNNING, Step.DONE, Step.RECORDED])
def test_the_server_goes_away_and_the_next_run_finishes(
    database: Database, over_cable: Database, cable: Cable, step: Step
) -> None:
    def cut(progress: migrations.Progress) -> None:
        if progress.step is step:
            cable.cut()

    with pytest.raises(ConnectionFailed) as caught:
        migrations.apply(over_cable, on_progress=cut)
    assert caught.value.exit_code == 4
    assert caught.value.fix is not None
    if step in (Step.RUNNING, Step.DONE):
        assert "V0001__curated_memories.cypher" in str(caught.value)
        assert "run the same command again" in caught.value.fix
    assert read_lock(database) is not None

    result = migrations.apply(database, wait_for_lock_seconds=0)
    assert "took over the lock" in result.messages[0]
    assert migrations.validate(database).valid
    assert read_lock(database) is None
    rows = database.run("MATCH ()-[:MIGRATED_TO]->(m) RETURN m.version AS v ORDER BY v")
    assert [row["v"] for row in rows] == [file.version for file in read_folder(schema_folder()).files]


def test_a_read_only_database_is_said_and_can_be_read(read_only_database: Database) -> None:
    assert migrations.listing(read_only_database).outcome is Outcome.INCOMPLETE_DATABASE
    assert migrations.validate(read_only_database).outcome is Outcome.INCOMPLETE_DATABASE
    for work in (migrations.apply, migrations.remove_chain):
        with pytest.raises(NotWritable, match="this server may not write: the database is read-only") as caught:
            work(read_only_database)
        assert "server.databases" in str(caught.value)
        assert caught.value.exit_code == 4
