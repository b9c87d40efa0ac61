"""The files of `jochi bundle`, run by the programs that they are for: they leave what `jochi install` leaves."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError
from tests import liquibase, maven, neo4j_migrations
from tests.conftest import TestServer, disarm, wipe_everything
from tests.faults.support import within
from tests.golden.installed import expect_installed
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.database.database import Database
from jochi.database.engine import Engine
from jochi.database.installed import pump_name, watch_name
from jochi.database.server_facts import read_facts
from jochi.database.statements import schema_folder, statement
from jochi.install import bundle as bundles
from jochi.install.bundle import bundle, migration_files, plain_files, write
from jochi.install.changelog import changelog_files
from jochi.jobs.arming import armed_jobs
from jochi.policy import load_policy
from jochi.schema import migrations

pytestmark = [pytest.mark.server, pytest.mark.slow]

CYPHER_SHELL = "org.neo4j:cypher-shell:5.26.30"
_NODES = """
MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH 'Jochi' OR label STARTS WITH '__Neo4j')
RETURN labels(n) AS labels, properties(n) AS properties
"""
_SCHEMA = tuple(
    f"SHOW {what} WHERE NOT name CONTAINS '_liquibase_' RETURN *"
    for what in (
        "CONSTRAINTS YIELD name, type, labelsOrTypes, properties",
        "INDEXES YIELD name, type, labelsOrTypes, properties, options, state",
    )
)
_TIMES = {"installed_at", "waits_since", "last_tick", "next_start", "slot_start", "generation"}
_OF_ONE_WAY = {"checked_on"}
"""An install asks the server whether a text compiles; files can't."""

Shell = Callable[[Path], "subprocess.CompletedProcess[str]"]


def _left(database: Database) -> list[str]:
    """All that is in the database but memories, in an order of its own."""
    rows = [
        repr(
            (
                sorted(row["labels"]),
                sorted((k, v) for k, v in row["properties"].items() if k not in _TIMES | _OF_ONE_WAY),
            )
        )
        for row in database.run(_NODES, write=False)
    ]
    return sorted(rows + [repr(sorted(row.items())) for text in _SCHEMA for row in database.run(text, write=False)])


@pytest.fixture(scope="session")
def shell_command() -> list[str]:
    return [*maven.java_of(CYPHER_SHELL), "org.neo4j.shell.Main"]


@pytest.fixture
def shell(shell_command: list[str], empty_server: TestServer, database: Database) -> Shell:
    """Runs a file with cypher-shell; the password goes by environment."""

    def run(file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*shell_command, "-a", empty_server.uri, "-d", database.name, "--format", "plain", "-f", str(file)],
            env={**os.environ, "NEO4J_USERNAME": empty_server.user, "NEO4J_PASSWORD": empty_server.password or "none"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def _run(shell: Shell, folder: Path, *numbers: str) -> None:
    for number in numbers:
        (file,) = folder.glob(f"{number}_*.cypher")
        done = shell(file)
        assert done.returncode == 0, f"{file.name}: {done.stderr or done.stdout}"


_MEMORIES = """
CREATE (:Curated:MemoryEntry {key: 's/MemoryEntry/1', scope: 's', id: '1', content: 'It stays.', tier: 'hot',
  created_at: datetime('2026-01-01T00:00:00Z'), next_due: datetime('2027-01-01T00:00:00Z')})
CREATE (:Tombstone {key: 's/MemoryEntry/2', scope: 's', id: '2', content: 'It comes back.', tombstone: true,
  tombstone_labels: ['Curated', 'MemoryEntry'], created_at: datetime('2026-01-01T00:00:00Z'),
  deleted_at: datetime('2026-02-01T00:00:00Z')})
"""
_ALL = """
MATCH (n) WHERE NOT n:__LiquibaseChangeLog|__LiquibaseTag|__LiquibaseLabel
RETURN labels(n) AS labels, properties(n) AS properties ORDER BY n.id
"""


def _as_jochi_leaves_it(client: Jochi) -> tuple[Any, Any]:
    """What an install leaves, and an uninstall with memories; the database is empty again."""
    database = client.database
    client.install(arm=False)
    installed = _left(database)
    database.run(_MEMORIES)
    client.uninstall()
    uninstalled = database.run(_ALL, write=False), _left(database)
    wipe_everything(database)
    return installed, uninstalled


def test_files_leave_what_install_and_uninstall_leave(shell: Shell, database: Database, tmp_path: Path) -> None:
    policy = load_policy()
    client = Jochi(database.driver, database.name, policy=policy)
    installed, uninstalled = _as_jochi_leaves_it(client)

    write(tmp_path, plain_files(bundle(policy, read_facts(database), database.name)))
    _run(shell, tmp_path, "01", "02")
    assert _left(database) == installed
    expect_installed(database)
    preview = client.preview_install()
    assert not preview.changes, preview
    assert migrations.validate(database).valid
    client.install(arm=False)
    assert _left(database) == installed
    _run(shell, tmp_path, "02")
    assert _left(database) == installed
    assert armed_jobs(Engine(database)) == []
    _run(shell, tmp_path, "03")
    assert armed_jobs(Engine(database)) == [pump_name(database.name), watch_name(database.name)]

    disarm(database)
    database.run(_MEMORIES)
    while (done := shell(tmp_path / "80_uninstall.cypher")).returncode != 0:
        assert "Still running" in done.stderr  # a run that had begun: it ends after its batch
    _run(shell, tmp_path, "80", "81", "82")
    assert (database.run(_ALL, write=False), _left(database)) == uninstalled
    assert armed_jobs(Engine(database)) == []


def test_without_apoc_is_without_it_whatever_the_server_has(empty_server: TestServer, tmp_path: Path) -> None:
    given = {"JOCHI_URI": empty_server.uri, "JOCHI_USER": empty_server.user, "JOCHI_PASSWORD": empty_server.password}
    done = CliRunner().invoke(app, ["bundle", str(tmp_path), "--for", "server", "--no-apoc"], env=given)
    assert done.exit_code == 0, done.output
    files = {path.name for path in tmp_path.iterdir()}
    assert ("02_engine.cypher" in files, "03_arm.cypher" in files) == (True, False)


def test_an_uninstall_does_not_end_before_its_last_page(database: Database) -> None:
    """Whatever of the engine's is left, one node of any label, it says so and deletes nothing."""
    text = statement("install/delete_engine_page")
    database.run("CREATE (:JochiBudget {scope: 'a'}), (:JochiBudget {scope: 'b'})")
    assert database.run(text, {"limit": 1, "none_left": False}) == [{"deleted": 1}]
    with pytest.raises(ClientError, match="Nodes of the engine are left"):
        database.run(text, {"limit": 1, "none_left": True})
    assert database.run(text, {"limit": 9, "none_left": False}) == [{"deleted": 1}]
    assert database.run(text, {"limit": 1, "none_left": True}) == [{"deleted": 0}]


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("(:JochiPump {name: 'jochi.pump.' + $database, version: '0.1.0'})", "Jochi 0.1.0 is installed here"),
        ("(:JochiJob {name: 'x', run_open: true, lease_until: datetime() + duration('PT1H')})", "Still running: x"),
        ("(:__Neo4jMigrationsLock {id: 'other', name: 'John Doe'})", "already exists"),
    ],
)
def test_a_file_that_does_not_fit_says_why(
    shell: Shell, database: Database, tmp_path: Path, node: str, words: str
) -> None:
    database.run("CREATE CONSTRAINT tests_lock IF NOT EXISTS FOR (l:__Neo4jMigrationsLock) REQUIRE l.name IS UNIQUE")
    database.run(f"CREATE {node}", {"database": database.name})
    write(tmp_path, plain_files(bundle(load_policy(), read_facts(database), database.name)))
    done = shell(tmp_path / "02_engine.cypher")
    assert done.returncode != 0
    assert words in done.stderr + done.stdout
    assert database.run("MATCH (n:JochiProcedure) RETURN count(n) AS n") == [{"n": 0}]


def test_neo4j_migrations_leaves_the_same(database: Database, empty_server: TestServer, tmp_path: Path) -> None:
    policy = load_policy()
    client = Jochi(database.driver, database.name, policy=policy)
    folder = tmp_path / "migrations"
    write(folder, migration_files(bundle(policy, read_facts(database), database.name)))
    for file in schema_folder().iterdir():
        assert (folder / file.name).read_bytes() == file.read_bytes()
    cli = neo4j_migrations.cli_on(neo4j_migrations.java_command(), empty_server, folder, seconds=500)
    for _again in range(2):
        done = cli("migrate")
        assert done.returncode == 0, done.stdout + done.stderr
    assert cli("validate").returncode == 0
    expect_installed(database)
    assert armed_jobs(Engine(database)) == [pump_name(database.name), watch_name(database.name)]
    assert migrations.validate(database).valid
    assert not client.preview_install().changes


@pytest.fixture
def change(empty_server: TestServer, database: Database) -> liquibase.Cli:
    """Runs a command of Liquibase on a folder."""
    if read_facts(database).release[0] >= liquibase.KNOWS_BELOW:
        pytest.skip("this version of liquibase-neo4j knows no server whose version is a year")
    return liquibase.cli_on(liquibase.java_command(), empty_server, database.name)


def _succeeds(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout
    return done.stdout


_RAN = """
MATCH (c:__LiquibaseChangeSet)-[ran:IN_CHANGELOG]->() RETURN c.id AS id, c.execType AS how ORDER BY ran.orderExecuted
"""
_COUNTS = """
RETURN COUNT { (:MemoryEntry) } AS memories,
  COUNT { (n:Curated|JochiProcedure|JochiPolicy|JochiJob|JochiPump|__Neo4jMigration) } AS engine
"""


def test_liquibase_leaves_the_same(change: liquibase.Cli, database: Database, tmp_path: Path) -> None:
    policy = load_policy()
    client = Jochi(database.driver, database.name, policy=policy)
    installed, uninstalled = _as_jochi_leaves_it(client)

    write(tmp_path, changelog_files(bundle(policy, read_facts(database), database.name)))
    for ran in (7, 0):
        assert f"Run:                          {ran}\n" in _succeeds(change(tmp_path, "update", "--label-filter=!arm"))
        assert _left(database) == installed
    expect_installed(database)
    assert not client.preview_install().changes
    assert migrations.validate(database).valid
    assert armed_jobs(Engine(database)) == []
    assert "1 changeset has not been applied" in _succeeds(change(tmp_path, "status"))
    _succeeds(change(tmp_path, "update"))
    assert armed_jobs(Engine(database)) == [pump_name(database.name), watch_name(database.name)]
    assert "is up to date" in _succeeds(change(tmp_path, "status"))

    disarm(database)
    database.run(_MEMORIES)
    while (done := change(tmp_path, "rollback", "--tag=before-jochi")).returncode != 0:
        assert "Still running" in done.stdout  # a run that had begun: it ends after its batch
    assert (database.run(_ALL, write=False), _left(database)) == uninstalled
    assert armed_jobs(Engine(database)) == []
    _succeeds(change(tmp_path, "update", "--label-filter=!arm"))
    expect_installed(database)


def test_liquibase_takes_another_policy_refuses_another_version_and_uninstalls_in_pages(
    change: liquibase.Cli, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "_PAGE", 100)

    def made(name: str, more: str) -> Path:
        file = tmp_path / f"{name}.toml"
        file.write_text(f"{load_policy().text}\n# {more}\n", encoding="utf-8")
        write(tmp_path / name, changelog_files(bundle(load_policy(file), read_facts(database), database.name)))
        return tmp_path / name

    first, other = made("first", "one"), made("other", "${user.home} ${a} ]]> it's -- /* `&amp;` \\ ;")
    _succeeds(change(first, "update"))
    _succeeds(change(other, "update"))
    stays = ["tag", "bookkeeping", *(file.stem for file in sorted(schema_folder().iterdir())), "indexes"]
    ran = [(name, "EXECUTED") for name in stays] + [("engine", "RERAN"), ("arm", "RERAN")]
    assert [(row["id"], row["how"]) for row in database.run(_RAN, write=False)] == ran
    texts = database.run("MATCH (p:JochiPolicy {current: true}) RETURN p.text AS text", write=False)
    assert texts == [{"text": (tmp_path / "other.toml").read_text(encoding="utf-8")}]

    # The jobs are armed: a tick may be under way, and its run changes what is left.
    disarm(database)
    database.run("MATCH (p:JochiPump) SET p.enabled = false")
    within(60, lambda: not database.run("MATCH (j:JochiJob) WHERE j.run_open RETURN j.name"), "all runs end")
    left = _left(database)
    database.run("MATCH (p:JochiPump) SET p.version = '0.1.0' + p.version")
    done = change(first, "update")
    assert done.returncode != 0
    assert "is installed here: `jochi install` upgrades it" in done.stdout
    database.run("MATCH (p:JochiPump) SET p.version = substring(p.version, 5)")
    assert _left(database) == left

    database.run(
        "UNWIND range(1, 150) AS i CREATE (:Curated:MemoryEntry {key: 's/MemoryEntry/' + i, scope: 's', id: i})"
    )
    said = ""
    while (done := change(other, "rollback", "--tag=before-jochi")).returncode != 0:
        assert "Run this file again" in done.stdout
        said += done.stdout
    assert "50 memories are left" in said
    assert database.run(_COUNTS, write=False) == [{"memories": 150, "engine": 0}]
