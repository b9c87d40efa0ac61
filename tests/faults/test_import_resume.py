"""An import that was cut off goes on where it stopped: nothing doubled, nothing lost, honest counts.

Needs the fixtures `database` and `server` (uri, user, password).
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests.conftest import LOCOMO
from tests.faults.cable import Cable
from tests.faults.support import within

from jochi import generate, migrations
from jochi.database import Database
from jochi.importing import (
    KNOWN_KINDS,
    ImportInterrupted,
    ImportResult,
    MemoryRecord,
    Progress,
    checkpoint_folder,
    import_files,
)
from jochi.importing.checkpoint import open_checkpoint

pytestmark = pytest.mark.server

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
COUNT = "MATCH (m:Curated) RETURN count(m) AS n"


class Cut(Exception):
    """What ends a run in these tests, as Ctrl-C would."""


@pytest.fixture
def ready(database: Database) -> Database:
    migrations.apply(database)
    return database


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "imports"


def team(tmp_path: Path, size: int, name: str = "team.jsonl") -> tuple[Path, list[MemoryRecord]]:
    made = list(generate.team(end=NOW, days=5, size=size))
    path = tmp_path / name
    generate.write_jsonl(path, made)
    return path, made


def expect_all(database: Database, made: list[MemoryRecord]) -> None:
    rows = database.run("MATCH (m:Curated) RETURN m.key AS key")
    assert len(rows) == len(made)
    assert {row["key"] for row in rows} == {record.key for record in made}
    links = {(record.key, link.type, link.to_key) for record in made for link in record.relationships}
    rows = database.run("MATCH (a:Curated)-[r]->(b:Curated) RETURN a.key AS a, type(r) AS t, b.key AS b")
    assert len(rows) == len(links)
    assert {(row["a"], row["t"], row["b"]) for row in rows} == links


def cut_at(step: int, phase: str = "memories") -> Callable[[Progress], None]:
    seen = 0

    def on_progress(progress: Progress) -> None:
        nonlocal seen
        seen += progress.phase == phase
        if progress.phase == phase and seen == step:
            raise Cut

    return on_progress


def run(database: Database, paths: list[Path], folder: Path, step: int = 0, **more: Any) -> ImportResult:
    on_progress = cut_at(step, more.pop("phase", "memories"))
    options = {"now": NOW, "batch_size": 100, "checkpoints": folder, **more}
    return import_files(database, paths, on_progress=on_progress, **options)


def interrupted(database: Database, paths: list[Path], folder: Path, step: int, **more: Any) -> None:
    with pytest.raises(Cut):
        run(database, paths, folder, step, **more)


def left(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()] if folder.exists() else []


def dealt(result: ImportResult) -> int:
    return result.written + result.already_there + result.pruned_before


# -- killed, cut ---------------------------------------------------------------------------------------------------


_RUN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from jochi.cli import main; main()"
"""As from a terminal: whoever runs the tests in the background has Ctrl-C ignored, and a child process inherits that."""


def command(server: Any, home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, "import", "--json", *arguments],
        env={
            **os.environ,
            "JOCHI_HOME": str(home),
            "JOCHI_URI": server.uri,
            "JOCHI_USER": server.user,
            "JOCHI_PASSWORD": server.password,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("packed", "looks_for", "signals"),
    [
        (False, "MATCH (m:Curated) WITH count(m) AS n RETURN n > $some AS yes", signal.SIGKILL),
        (True, "MATCH (m:Curated) WITH count(m) AS n RETURN n > $some AS yes", signal.SIGKILL),
        (False, "MATCH (:Curated)-[r]->() WITH count(r) AS n RETURN n > 300 AS yes", signal.SIGKILL),
        (False, "MATCH (m:Curated) WITH count(m) AS n RETURN n > $some AS yes", signal.SIGINT),
    ],
    ids=["memories", "packed", "relationships", "ctrl-c"],
)
def test_a_killed_command_goes_on(
    ready: Database, server: Any, tmp_path: Path, packed: bool, looks_for: str, signals: signal.Signals
) -> None:
    path, made = team(tmp_path, 8_000)
    if packed:
        path = tmp_path / "team.jsonl.gz"
        with gzip.open(path, "wb") as file:
            file.write((tmp_path / "team.jsonl").read_bytes())
    arguments = (str(path), "--batch-size", "50")
    process = command(server, tmp_path / "home", *arguments)
    within(60, lambda: ready.run(looks_for, {"some": len(made) // 3})[0]["yes"], "the import")
    process.send_signal(signals)
    process.communicate(timeout=60)
    assert process.returncode == -9 if signals is signal.SIGKILL else process.returncode != 0
    stored = ready.run(COUNT)[0]["n"]
    assert len(left(tmp_path / "home" / "imports")) >= 1

    again = command(server, tmp_path / "home", *arguments)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    found = json.loads(out)
    earlier = found["earlier"]
    # All that was acknowledged is not sent again; of the two batches in flight some may be.
    assert 0 <= stored - earlier["written"] <= 100
    assert earlier["written"] + found["already_there"] + found["written"] == len(made)
    assert found["already_there"] == stored - earlier["written"]
    assert "goes on after" in found["messages"][0]
    links = found["relationships"], earlier["relationships"]
    assert sum(each["written"] + each["already_there"] for each in links) == sum(
        len({(link.type, link.to_key) for link in record.relationships}) for record in made
    )
    expect_all(ready, made)
    assert left(tmp_path / "home" / "imports") == []


@pytest.mark.parametrize(("phase", "step"), [("memories", 3), ("relationships", 2)])
def test_when_the_server_goes_away_the_next_run_goes_on(
    ready: Database, server: Any, cable: Cable, tmp_path: Path, folder: Path, phase: str, step: int
) -> None:
    path, made = team(tmp_path, 900)
    seen = 0

    def cut(progress: Progress) -> None:
        nonlocal seen
        seen += progress.phase == phase
        if seen == step:
            cable.cut()

    uri = f"bolt://127.0.0.1:{cable.port}"
    with (
        neo4j.GraphDatabase.driver(uri, auth=(server.user, server.password), max_transaction_retry_time=0.5) as driver,
        pytest.raises(ImportInterrupted, match="interrupted after") as caught,
    ):
        import_files(Database(driver), [path], now=NOW, batch_size=100, checkpoints=folder, on_progress=cut)
    told = caught.value
    assert "it goes on where it stopped" in str(told.fix)
    result = run(ready, [path], folder)
    assert result.earlier is not None
    assert result.earlier.written == told.result.written > 0
    assert result.earlier.relationships == told.result.relationships
    assert dealt(result) == len(made) - told.result.written
    expect_all(ready, made)
    assert left(folder) == []


# -- what goes on, and what begins anew ------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_cut_off_again_and_again(ready: Database, tmp_path: Path, folder: Path, packed: bool) -> None:
    path, made = team(tmp_path, 700)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    for step in (1, 2, 1):
        interrupted(ready, [path], folder, step)
    interrupted(ready, [path], folder, 2, phase="relationships")
    result = run(ready, [path], folder)
    assert dealt(result) == 0
    assert result.earlier is not None
    assert result.earlier.memories == len(made)
    assert result.earlier.relationships.written >= 200
    assert result.messages == [f"goes on after {len(made):,} memories that an earlier run has dealt with"]
    expect_all(ready, made)
    assert left(folder) == []
    assert run(ready, [path], folder).messages == []


def lines(path: Path, *items: dict[str, Any] | str) -> Path:
    path.write_text("".join(f"{i if isinstance(i, str) else json.dumps(i)}\n" for i in items), encoding="utf-8")
    return path


def note(id: str, *to: str) -> dict[str, Any]:
    return {"kind": "Note", "id": id, "relationships": [{"type": "PART_OF", "to": other} for other in to]}


def two_files(tmp_path: Path) -> list[Path]:
    """Bad lines before, between and behind memories; ids that come twice; relationships across the files."""
    one = lines(
        tmp_path / "one.jsonl", "\ufeffnonsense", *(note(f"a{i}", f"b{i}") for i in range(10)), note("a3"), "{}"
    )
    two = lines(
        tmp_path / "two.jsonl",
        *(note(f"b{i}", f"a{i}", "nowhere") for i in range(5)),
        "more nonsense",
        note("a3", "b1"),
        *(note(f"b{i}", f"a{i}") for i in range(4, 10)),
        "the end",
    )
    return [one, two]


@pytest.mark.parametrize("step", range(1, 8))
def test_two_files_come_to_the_same_wherever_they_are_cut(
    ready: Database, tmp_path: Path, folder: Path, step: int
) -> None:
    paths = two_files(tmp_path)
    errors, expected_errors = tmp_path / "errors.txt", tmp_path / "expected.txt"
    expected = import_files(ready, paths, now=NOW, batch_size=3, errors=expected_errors)
    graph = "MATCH (m:Curated) OPTIONAL MATCH (m)-[r]->(o) RETURN m.key AS k, type(r) AS t, o.key AS o ORDER BY k, o"
    whole = ready.run(graph)
    ready.run("MATCH (m:Curated) DETACH DELETE m")

    interrupted(ready, paths, folder, step, batch_size=3)
    result = run(ready, paths, folder, batch_size=3, errors=errors)
    assert result.earlier is not None
    assert result.earlier.memories > 0
    assert dealt(result) + result.earlier.memories == dealt(expected)
    assert result.bad_lines == expected.bad_lines
    assert (result.bad_count, result.exit_code) == (expected.bad_count, 3)
    assert errors.read_text() == expected_errors.read_text()
    assert any("already that of line" in bad.reason for bad in result.bad_lines)
    assert ready.run(graph) == whole
    assert left(folder) == []


def test_a_file_that_is_a_single_batch_and_trailing_bad_lines(ready: Database, tmp_path: Path, folder: Path) -> None:
    path = lines(tmp_path / "x.jsonl", note("a", "b"), note("b"), "bad", "worse")
    interrupted(ready, [path], folder, 1, phase="relationships")
    result = run(ready, [path], folder)
    assert (dealt(result), result.bad_count, result.exit_code) == (0, 2, 3)
    assert result.relationships.already_there + result.relationships.written == 0
    assert result.earlier is not None
    assert result.earlier.relationships.written == 1


def test_properties_of_relationships_that_waited_keep_their_types(
    ready: Database, tmp_path: Path, folder: Path
) -> None:
    properties = {"seen_at": "2026-01-02T03:04:05+01:00", "w": 1.0, "n": 2, "l": ["a"], "at": "x", "ok": True}
    link = {"type": "PART_OF", "to": "b", "properties": properties}
    path = lines(
        tmp_path / "x.jsonl", note("a") | {"relationships": [link]}, *(note(f"b{i}") for i in range(5)), note("b")
    )
    interrupted(ready, [path], folder, 1, batch_size=2)
    run(ready, [path], folder)
    stored = ready.run("MATCH ()-[r:PART_OF]->() RETURN properties(r) AS p")[0]["p"]
    assert stored.pop("seen_at").to_native() == datetime.fromisoformat(properties.pop("seen_at"))  # type: ignore[arg-type]
    assert stored == properties
    assert [type(stored[name]) for name in ("w", "n", "ok")] == [float, int, bool]


def change_size(path: Path, database: Database) -> None:
    with path.open("a") as file:
        file.write(json.dumps(note("more")) + "\n")


def change_time(path: Path, database: Database) -> None:
    os.utime(path, (1, 1))


def change_head(path: Path, database: Database) -> None:
    before = path.stat()
    text = path.read_text()
    path.write_text(text.replace('"a', '"x', 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def wipe(path: Path, database: Database) -> None:
    database.run("MATCH (m:Curated) DETACH DELETE m")


def lose_some(path: Path, database: Database) -> None:
    """An older backup: the last batches are not in it."""
    database.run("MATCH (m:Curated) WHERE m.id IN ['a4', 'a5', 'a6', 'a7'] DETACH DELETE m")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (change_size, "has changed since"),
        (change_time, "has changed since"),
        (change_head, "has changed since"),
        (wipe, "no longer holds"),
        (lose_some, "no longer holds"),
    ],
)
def test_what_changed_meanwhile_is_noticed(
    ready: Database, tmp_path: Path, folder: Path, change: Callable[[Path, Database], None], why: str
) -> None:
    path = lines(tmp_path / "x.jsonl", *(note(f"a{i}", f"a{i + 1}") for i in range(10)), note("a10"))
    interrupted(ready, [path], folder, 3, batch_size=2)
    change(path, ready)
    result = run(ready, [path], folder, batch_size=2)
    assert why in result.messages[0]
    assert "starts from the beginning" in result.messages[0]
    assert result.earlier is None
    lacking = {f"default/a{i}" for i in range(11)} - {
        row["k"] for row in ready.run("MATCH (m:Curated) RETURN m.key AS k")
    }
    assert lacking <= {"default/a0"} if change is change_head else lacking == set()
    assert ready.run("MATCH ()-[r:PART_OF]->() RETURN count(r) AS n")[0]["n"] >= 10
    assert left(folder) == []


def test_other_kinds_and_no_resume_begin_anew(ready: Database, tmp_path: Path, folder: Path) -> None:
    path = lines(tmp_path / "x.jsonl", *(note(f"a{i}") for i in range(10)))
    interrupted(ready, [path], folder, 2, batch_size=2)
    interrupted(ready, [path], folder, 2, batch_size=2, kinds=KNOWN_KINDS | {"Mine"})
    result = run(ready, [path], folder, batch_size=2, resume=False)
    assert (result.messages, result.earlier, dealt(result)) == ([], None, 10)
    assert left(folder) == []
    interrupted(ready, [path], folder, 2, batch_size=2)
    result = run(ready, [path], folder, kinds=KNOWN_KINDS | {"Mine"})
    assert "kinds have changed" in result.messages[0]
    assert dealt(result) == 10


def test_a_memory_that_was_pruned_meanwhile_is_no_loss(ready: Database, tmp_path: Path, folder: Path) -> None:
    path = lines(tmp_path / "x.jsonl", *(note(f"a{i}") for i in range(10)))
    interrupted(ready, [path], folder, 2, batch_size=2)
    ready.run("MATCH (m:Curated) REMOVE m:Curated:Note SET m:Tombstone")
    result = run(ready, [path], folder)
    assert result.earlier is not None
    assert result.earlier.written == 4
    assert dealt(result) == 6


def test_a_strict_import_keeps_no_checkpoint(ready: Database, tmp_path: Path, folder: Path) -> None:
    path = lines(tmp_path / "x.jsonl", *(note(f"a{i}") for i in range(10)))
    interrupted(ready, [path], folder, 2, batch_size=2, strict=True)
    assert left(folder) == []
    assert dealt(run(ready, [path], folder, strict=True)) == 10


def test_two_at_once_on_the_same_files(ready: Database, tmp_path: Path, folder: Path) -> None:
    path = lines(tmp_path / "x.jsonl", *(note(f"a{i}", "a0") for i in range(10)))
    with contextlib.closing(open_checkpoint(folder, ready, [path], kinds=KNOWN_KINDS, resume=True)):
        result = run(ready, [path], folder)
        assert "another process imports these files" in result.messages[0]
        assert dealt(result) == 10
        assert len(left(folder)) >= 1
    assert run(ready, [path], folder).messages == []


def test_a_checkpoint_that_is_no_database_or_can_not_be_written(ready: Database, tmp_path: Path, folder: Path) -> None:
    path = lines(tmp_path / "x.jsonl", *(note(f"a{i}") for i in range(10)))
    interrupted(ready, [path], folder, 2, batch_size=2)
    for file in folder.iterdir():
        file.write_bytes(b"nonsense" * 1000)
    result = run(ready, [path], folder)
    assert (result.earlier, dealt(result)) == (None, 10)
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    result = run(ready, [path], blocked)
    assert "can't be written" in result.messages[0]
    assert dealt(result) == 10


def test_checkpoints_are_private_and_those_nobody_came_back_for_go(
    ready: Database, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lines(tmp_path / "x.jsonl", *(note(f"a{i}") for i in range(10)))
    interrupted(ready, [path], folder, 2, batch_size=2)
    assert {file.stat().st_mode & 0o077 for file in [folder, *folder.iterdir()]} == {0}
    old = folder / "old.sqlite"
    young = folder / "young.sqlite"
    for file, days in ((old, 31), (young, 29)):
        file.write_bytes(b"")
        os.utime(file, (time.time() - days * 86_400,) * 2)
    run(ready, [path], folder)
    assert left(folder) == ["young.sqlite"]
    monkeypatch.setenv("JOCHI_HOME", str(tmp_path / "home"))
    assert checkpoint_folder() == tmp_path / "home" / "imports"


@pytest.mark.skipif(not LOCOMO.exists(), reason="LoCoMo isn't there")
def test_locomo_goes_on_too(ready: Database, tmp_path: Path, folder: Path) -> None:
    samples = json.loads(LOCOMO.read_text(encoding="utf-8"))[:2]
    samples[0]["observation"]["nonsense"] = 1
    next(iter(samples[0]["observation"]["session_1_observation"].values()))[0][1] = "no turn"
    samples[1]["conversation"]["session_1_date_time"] = "never"
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    expected = import_files(ready, [path], now=NOW)
    graph = "MATCH (m:Curated) RETURN count(m) AS n, COUNT { MATCH (:Curated)-[r]->(:Curated) } AS r"
    whole = ready.run(graph)
    assert (expected.bad_count > 1, bool(expected.notes)) == (True, True)
    ready.run("MATCH (m:Curated) DETACH DELETE m")
    for step in (2, 3):
        interrupted(ready, [path], folder, step, batch_size=200)
    result = run(ready, [path], folder)
    assert result.earlier is not None
    assert dealt(result) + result.earlier.memories == dealt(expected)
    assert (result.bad_lines, result.notes) == (expected.bad_lines, expected.notes)
    assert ready.run(graph) == whole
