"""The server goes away in the middle of an import. Needs the fixtures `database` and `empty_server` (uri, user, password)."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests.faults.cable import Cable

from jochi import generate
from jochi.database.database import Database
from jochi.schema import migrations
from jochi.write.importing import ImportInterrupted, Progress, import_files, reading
from jochi.write.importing.files import Source, open_source

pytestmark = pytest.mark.server

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("phase", "step"), [("memories", 1), ("memories", 3), ("relationships", 1), ("relationships", 3)]
)
def test_running_again_completes_and_doubles_nothing(
    database: Database,
    empty_server: Any,
    cable: Cable,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    phase: str,
    step: int,
) -> None:
    opened: list[Source] = []

    def noted(path: Path) -> Source:
        opened.append(open_source(path))
        return opened[-1]

    monkeypatch.setattr(reading, "open_source", noted)
    migrations.apply(database)
    database.run("MATCH (m) WHERE m:Curated OR m:Tombstone DETACH DELETE m")
    made = list(generate.team(end=NOW, days=5, size=900))
    links = {(record.key, link.type, link.to_key) for record in made for link in record.relationships}
    path = tmp_path / "team.jsonl"
    generate.write_jsonl(path, made)
    seen = 0

    def cut(progress: Progress) -> None:
        nonlocal seen
        seen += progress.phase == phase
        if seen == step:
            cable.cut()

    auth = None if empty_server.password is None else (empty_server.user, empty_server.password)
    uri = f"bolt://127.0.0.1:{cable.port}"
    with (
        neo4j.GraphDatabase.driver(uri, auth=auth, max_transaction_retry_time=0.5) as driver,
        pytest.raises(ImportInterrupted) as caught,
    ):
        import_files(Database(driver, database.name), [path], now=NOW, batch_size=100, on_progress=cut)

    # Now, and not when the traceback with its half-read iterators is collected.
    assert opened
    assert all(source.raw.closed for source in opened)
    told = caught.value
    assert told.exit_code == 4
    assert f"after {told.result.written:,} memories" in str(told)
    assert "run the same command again" in str(told.fix)
    stored = database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"]
    # What was acknowledged is there; of the batches in flight some may be, too.
    assert told.result.written <= stored <= len(made)
    assert (stored < len(made)) == (phase == "memories")

    result = import_files(database, [path], now=NOW)
    assert (result.bad_count, result.already_there, result.written) == (0, stored, len(made) - stored)
    assert database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"] == len(made)
    rows = database.run("MATCH (a:Curated)-[r]->(b:Curated) RETURN a.key AS a, type(r) AS t, b.key AS b")
    assert len(rows) == len(links)
    assert {(row["a"], row["t"], row["b"]) for row in rows} == links
