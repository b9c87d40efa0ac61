"""The contract with neo4j-migrations, held against that tool itself (its own command line, from Maven Central)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import neo4j_migrations
from tests.conftest import TestServer
from tests.neo4j_migrations import Cli, cli_on

from jochi import Jochi
from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.errors import Refused
from jochi.schema import migrations
from jochi.schema.migrations import Outcome, State
from jochi.schema.migrations.files import read_folder
from jochi.schema.migrations.results import ApplyOutcome

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture(scope="session")
def java_command() -> list[str]:
    return neo4j_migrations.java_command()


@pytest.fixture
def cli(java_command: list[str], database: Database, empty_server: TestServer, folder: Path) -> Cli:
    """Runs a command of neo4j-migrations on the test's database and folder."""
    return cli_on(java_command, empty_server, folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped schema that a test may edit."""
    return Path(shutil.copytree(schema_folder(), tmp_path / "schema"))


def test_what_we_install_is_valid_to_them(cli: Cli, database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    validated = cli("validate")
    assert validated.returncode == 0, validated.stdout + validated.stderr
    info = cli("info")
    assert info.returncode == 0, info.stderr
    rows = [line for line in info.stdout.splitlines() if ".cypher" in line]
    files = read_folder(folder).files
    assert len(rows) == len(files)
    for file, row in zip(files, rows, strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert [cells[0], cells[1], cells[2]] == [file.version, file.description, "CYPHER"]
        assert cells[3].startswith("20")
        assert cells[5].startswith("PT")
        assert cells[6:] == ["APPLIED", file.source]
    migrated = cli("migrate")
    assert migrated.returncode == 0
    assert database.run("MATCH (m:__Neo4jMigration) RETURN count(m) AS n") == [{"n": len(files) + 1}]


def test_what_they_install_is_valid_to_us(cli: Cli, database: Database, folder: Path) -> None:
    assert cli("migrate").returncode == 0
    found = migrations.listing(database, folder)
    assert found.outcome is Outcome.VALID
    assert {row.state for row in found.migrations} == {State.APPLIED}
    assert all(row.applied_at is not None and row.milliseconds is not None for row in found.migrations)
    assert migrations.validate(database, folder).valid
    assert migrations.apply(database, folder).outcome is ApplyOutcome.NOTHING_TO_DO


def test_one_pending_file_is_seen_and_applied_by_both(cli: Cli, database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    (folder / "V0100__theirs.cypher").write_bytes(b"// by them\nMERGE (:A {x: 1});\n")
    assert cli("validate").returncode == 1
    assert migrations.validate(database, folder).outcome is Outcome.INCOMPLETE_DATABASE
    assert cli("migrate").returncode == 0
    assert migrations.validate(database, folder).valid
    (folder / "V0101__ours.cypher").write_bytes(b"MERGE (:A {x: 2});\r\n// by us\r\n")
    assert migrations.apply(database, folder).applied[0].version == "0101"
    assert cli("validate").returncode == 0


@pytest.mark.parametrize("installed_by", ["us", "them"])
def test_an_edited_file_is_seen_by_both(cli: Cli, database: Database, folder: Path, installed_by: str) -> None:
    if installed_by == "us":
        migrations.apply(database, folder)
    else:
        assert cli("migrate").returncode == 0
    path = folder / "V0002__engine.cypher"
    path.write_bytes(path.read_bytes() + b"// edited\n")
    assert cli("validate").returncode == 1
    assert migrations.validate(database, folder).outcome is Outcome.DIFFERENT_CONTENT


def test_a_removed_file_is_seen_by_both(cli: Cli, database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    (folder / "V0003__audit.cypher").unlink()
    assert cli("validate").returncode == 1
    assert migrations.validate(database, folder).outcome is Outcome.NEWER_DATABASE


def test_odd_content_has_the_same_checksum(cli: Cli, database: Database, folder: Path) -> None:
    odd = (
        "// a comment;\nMERGE (:Odd {t: 'no; split here'});\r\n\r\n// alone\n;\r"
        "\u00a0MERGE (:Odd {t: 'é名😀'})\u2028\n;\n\x0b\x1f MERGE (:Odd\n{t: '// no'}) ; \n\n;\n// at the end"
    )
    (folder / "V0100__odd.cypher").write_bytes(odd.encode())
    migrations.apply(database, folder)
    validated = cli("validate")
    assert validated.returncode == 0, validated.stdout + validated.stderr


def test_a_changed_repeatable_is_recorded_as_they_do(cli: Cli, database: Database, folder: Path) -> None:
    path = folder / "R0100__again.cypher"
    path.write_bytes(b"MERGE (:Again {v: 1});\n")
    migrations.apply(database, folder)
    path.write_bytes(b"MERGE (:Again {v: 2});\n")
    migrations.apply(database, folder)
    assert cli("validate").returncode == 0
    assert cli("migrate").returncode == 0
    assert database.run("MATCH ()-[r:REPEATED]->() RETURN count(r) AS n") == [{"n": 1}]
    path.write_bytes(b"MERGE (:Again {v: 3});\n")
    assert cli("migrate").returncode == 0
    assert migrations.listing(database, folder).migrations[-1].state is State.APPLIED
    assert migrations.apply(database, folder).outcome is ApplyOutcome.NOTHING_TO_DO


def test_while_we_hold_the_lock_they_stay_out(cli: Cli, database: Database, folder: Path) -> None:
    seen: list[subprocess.CompletedProcess[str]] = []

    def look(progress: migrations.Progress) -> None:
        if progress.step is migrations.Step.DONE and not seen:
            seen.append(cli("migrate"))

    migrations.apply(database, folder, on_progress=look)
    assert seen[0].returncode == 1
    assert "__Neo4jMigrationsLock" in seen[0].stdout + seen[0].stderr
    assert cli("validate").returncode == 0


def test_while_they_hold_the_lock_we_stay_out(database: Database, folder: Path) -> None:
    # Their node, as it is while they work: an id and the name for the default database.
    database.run("CREATE (:__Neo4jMigrationsLock {id: 'b7', name: 'John Doe'})")
    with pytest.raises(migrations.Locked, match="another tool"):
        migrations.apply(database, folder, wait_for_lock_seconds=0)
    assert database.run("MATCH (m:__Neo4jMigration) RETURN count(m) AS n") == [{"n": 0}]
    result = migrations.apply(database, folder, wait_for_lock_seconds=0, break_lock=True)
    assert "as ordered" in result.messages[0]


def test_after_we_remove_ourselves_they_start_from_the_beginning(cli: Cli, database: Database, folder: Path) -> None:
    assert cli("migrate").returncode == 0
    migrations.remove_chain(database, folder)
    assert database.run("SHOW CONSTRAINTS YIELD name") == []
    assert cli("validate").returncode == 1
    assert cli("migrate").returncode == 0
    assert migrations.validate(database, folder).valid


def damage(folder: Path) -> None:
    """One file edited, one gone, one slipped in; the last one stays, so that there is an end behind which nothing stands."""
    (folder / "V0002__engine.cypher").write_bytes((folder / "V0002__engine.cypher").read_bytes() + b"// edited\n")
    (folder / "V0003__audit.cypher").unlink()
    (folder / "V0001_5__late.cypher").write_bytes(b"MERGE (:Late);\n")


@pytest.mark.parametrize("installed_by", ["us", "them"])
def test_what_we_repaired_is_valid_to_them(cli: Cli, database: Database, folder: Path, installed_by: str) -> None:
    if installed_by == "us":
        migrations.apply(database, folder)
        damage(folder)
    else:
        # Without our mark on it, a record without a file could be anybody's.
        (folder / "V0003__audit.cypher").unlink()
        assert cli("migrate").returncode == 0
        (folder / "V0003__audit.cypher").write_bytes(b"MERGE (:Other);\n")
        damage(folder)
    assert cli("validate").returncode == 1
    migrations.repair(database, folder)
    validated = cli("validate")
    assert validated.returncode == 0, validated.stdout + validated.stderr
    assert database.run("MATCH (n:Late) RETURN n") == []
    assert migrations.validate(database, folder).valid
    (folder / "V0100__more.cypher").write_bytes(b"MERGE (:More);\n")
    assert cli("migrate").returncode == 0
    assert migrations.validate(database, folder).valid


def test_our_repair_and_theirs_come_to_the_same(cli: Cli, database: Database, folder: Path) -> None:
    def record() -> list[list[object]]:
        found = migrations.listing(database, folder)
        return [[row.version, row.database_checksum, row.state] for row in found.migrations]

    migrations.apply(database, folder)
    damage(folder)
    repaired = cli("repair")
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr
    theirs = record()
    assert cli("validate").returncode == 0
    assert migrations.repair(database, folder).steps == ()
    database.run("MATCH (m:__Neo4jMigration) DETACH DELETE m")
    shutil.rmtree(folder)
    shutil.copytree(schema_folder(), folder)
    migrations.apply(database, folder)
    damage(folder)
    migrations.repair(database, folder)
    assert record() == theirs


def test_a_line_recorded_twice_is_one_to_both_after_our_repair(cli: Cli, database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    database.run(
        "MATCH (a:__Neo4jMigration {version: '0001'}), (z:__Neo4jMigration {version: '0003'}) "
        "CREATE (z)-[:MIGRATED_TO {at: datetime(), in: duration('PT1S'), by: 'x', connectedAs: 'neo4j'}]->"
        "(d:__Neo4jMigration) SET d = properties(a)"
    )
    # Theirs says VALID to this before 4.1.
    assert migrations.validate(database, folder).outcome is Outcome.DUPLICATE_VERSION
    migrations.repair(database, folder)
    assert migrations.validate(database, folder).valid
    assert cli("validate").returncode == 0
    assert cli("migrate").returncode == 0


@pytest.fixture
def app(java_command: list[str], empty_server: TestServer, tmp_path: Path) -> Cli:
    """An application that runs neo4j-migrations on files of its own, with its defaults."""
    files = tmp_path / "app"
    files.mkdir()
    (files / "V0001__users.cypher").write_bytes(
        b"CREATE CONSTRAINT app_user IF NOT EXISTS FOR (u:User) REQUIRE u.id IS UNIQUE;\n"
    )
    (files / "V0002__teams.cypher").write_bytes(b"MERGE (:Team {id: 1});\n")
    return cli_on(java_command, empty_server, files)


@pytest.mark.slow
def test_beside_an_applications_chain_both_go_on(app: Cli, database: Database, tmp_path: Path) -> None:
    """Its tool, with defaults, before and after our install, upgrade, repair and uninstall."""
    team = tmp_path / "app" / "V0002__teams.cypher"

    def chain() -> list[dict[str, Any]]:
        return database.run(
            "MATCH (m:__Neo4jMigration) WHERE m.migrationTarget IS NULL OPTIONAL MATCH ()-[r]->(m) "
            "RETURN properties(m) AS m, properties(r) AS r ORDER BY m.version"
        )

    def it_works(step: int) -> None:
        before = chain()
        assert app("validate").returncode == 0
        assert chain() == before
        (tmp_path / "app" / f"V{step:04}__step.cypher").write_bytes(b"MERGE (:Team {id: %d});\n" % step)
        assert app("validate").returncode == 1
        migrated = app("migrate")
        assert migrated.returncode == 0, migrated.stdout + migrated.stderr
        assert app("validate").returncode == 0

    assert app("migrate").returncode == 0
    assert app("validate").returncode == 0
    jochi = Jochi(database.driver)
    with pytest.raises(Refused, match="--chain jochi"):
        jochi.install(arm=False)
    it_works(10)

    assert jochi.install(arm=False, chain="jochi").chain is migrations.ChainName.JOCHI
    it_works(20)
    assert migrations.validate(database).valid
    info = app("info")
    assert info.returncode == 0
    assert "curated_memories" not in info.stdout

    # An upgrade: a new file, and no option any more.
    newer = Path(shutil.copytree(schema_folder(), tmp_path / "newer"))
    (newer / "V0100__more.cypher").write_bytes(b"MERGE (:More);\n")
    assert jochi.install(arm=False).migrations_applied == []
    assert [done.version for done in migrations.apply(database, newer).applied] == ["0100"]
    it_works(30)
    (newer / "V0100__more.cypher").write_bytes(b"MERGE (:Other);\n")
    assert len(migrations.repair(database, newer).steps) == 1
    (newer / "V0100__more.cypher").unlink()
    assert len(migrations.repair(database, newer).steps) == 1
    it_works(40)

    before = chain()
    jochi.uninstall()
    assert chain() == before
    it_works(50)
    assert database.run("MATCH (m:__Neo4jMigration) WHERE m.migrationTarget IS NOT NULL RETURN m") == []
    team.write_bytes(b"MERGE (:Team {id: 2});\n")
    assert app("validate").returncode == 1


def test_with_our_own_chain_the_lock_still_keeps_them_out(app: Cli, database: Database) -> None:
    seen: list[int] = []

    def look(progress: migrations.Progress) -> None:
        if progress.step is migrations.Step.DONE and not seen:
            seen.append(app("migrate").returncode)

    migrations.apply(database, chain="jochi", on_progress=look)
    assert seen == [1]
    assert app("migrate").returncode == 0
    assert migrations.validate(database).valid


def test_their_clean_leaves_our_chain(app: Cli, database: Database) -> None:
    assert app("migrate").returncode == 0
    migrations.apply(database, chain="jochi")
    assert app("clean").returncode == 0
    assert migrations.validate(database).valid
    assert migrations.validate(database).chain is migrations.ChainName.JOCHI
