"""`repair` on a live server: the record is made to fit the files, and no file is run. Needs the fixture `database`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jochi.cli import migrations as commands
from jochi.database.database import Database
from jochi.errors import Refused, UsageError
from jochi.schema import migrations
from jochi.schema.migrations import Locked, Outcome, RepairAction, RepairOutcome, Step
from jochi.schema.migrations.chain import read_chain

pytestmark = pytest.mark.server

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=timezone.utc)
LATER = datetime(2026, 4, 1, tzinfo=timezone.utc)
A = RepairAction


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four small migrations; each leaves a node that says it ran."""
    made = tmp_path / "files"
    made.mkdir()
    for number in (10, 20, 30, 40):
        write(made, number)
    return made


def write(folder: Path, number: int, text: str = "", prefix: str = "V") -> None:
    (folder / f"{prefix}{number:04}__n{number}.cypher").write_text(f"CREATE (:Ran {{n: {number}}});\n{text}")


def ran(database: Database) -> list[int]:
    return [row["n"] for row in database.run("MATCH (r:Ran) RETURN r.n AS n ORDER BY n")]


def versions(database: Database, target: str | None = None) -> list[str]:
    found = read_chain(database, target)
    assert found.broken is None
    assert found.nodes == len(found.applied) + 1
    return [entry.version for entry in found.applied]


def steps(result: migrations.RepairResult) -> list[tuple[RepairAction, str]]:
    return [(step.action, step.version) for step in result.steps]


def everything(database: Database) -> list[Any]:
    return database.run(
        "MATCH (m:__Neo4jMigration) OPTIONAL MATCH (m)-[r]->(o) "
        "RETURN m.version AS v, properties(m) AS m, properties(r) AS r, o.version AS o ORDER BY v, o"
    )


def repaired(database: Database, folder: Path, *expected: tuple[RepairAction, str]) -> migrations.RepairResult:
    """Plans, sees that planning wrote nothing, repairs, and sees that the record fits and no file ran."""
    before, done = everything(database), ran(database)
    plan = migrations.planned_repair(database, folder)
    assert (plan.outcome, steps(plan)) == (RepairOutcome.PLANNED, list(expected))
    assert everything(database) == before
    result = migrations.repair(database, folder, agreed=plan, now=lambda: LATER)
    assert (result.outcome, result.steps, result.pending) == (RepairOutcome.REPAIRED, plan.steps, plan.pending)
    assert ran(database) == done
    assert migrations.validate(database, folder).outcome is (
        Outcome.INCOMPLETE_DATABASE if result.pending else Outcome.VALID
    )
    assert migrations.repair(database, folder).outcome is RepairOutcome.NOTHING_TO_DO
    assert database.run("MATCH (l:__Neo4jMigrationsLock) RETURN l") == []
    return result


def test_a_changed_file(database: Database, folder: Path) -> None:
    migrations.apply(database, folder, now=lambda: NOW)
    write(folder, 20, "// edited\n")
    result = repaired(database, folder, (A.REWRITE, "0020"))
    before, after = result.steps[0].detail.removeprefix("checksum ").split(" becomes ")
    assert before != after
    entry = read_chain(database).applied[1]
    assert (entry.checksum, entry.at) == (after, NOW)


def test_a_missing_file_in_the_middle_and_at_the_end(database: Database, folder: Path) -> None:
    migrations.apply(database, folder, now=lambda: NOW)
    (folder / "V0020__n20.cypher").unlink()
    (folder / "V0040__n40.cypher").unlink()
    repaired(database, folder, (A.REMOVE, "0020"), (A.REMOVE, "0040"))
    assert versions(database) == ["0010", "0030"]
    assert [entry.at for entry in read_chain(database).applied] == [NOW, NOW]


def test_files_before_the_last_applied_one_are_recorded_and_the_rest_stays_pending(
    database: Database, folder: Path
) -> None:
    migrations.apply(database, folder, now=lambda: NOW)
    for number in (5, 25, 26, 50):
        write(folder, number)
    result = repaired(database, folder, (A.INSERT, "0005"), (A.INSERT, "0025"), (A.INSERT, "0026"))
    assert result.pending == ("V0050__n50.cypher",)
    found = {entry.version: entry for entry in read_chain(database).applied}
    assert list(found) == ["0005", "0010", "0020", "0025", "0026", "0030", "0040"]
    assert [found[v].at for v in ("0005", "0010", "0025", "0030")] == [LATER, NOW, LATER, NOW]
    assert found["0025"].milliseconds == 0
    assert [done.version for done in migrations.apply(database, folder).applied] == ["0050"]
    assert ran(database) == [10, 20, 30, 40, 50]


@pytest.mark.exhaustive
def test_changed_missing_and_inserted_at_once(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    write(folder, 30, "// edited\n")
    (folder / "V0020__n20.cypher").unlink()
    write(folder, 15)
    (folder / "V0040__n40.cypher").unlink()
    write(folder, 35)
    result = repaired(database, folder, (A.REMOVE, "0020"), (A.REMOVE, "0040"), (A.INSERT, "0015"), (A.REWRITE, "0030"))
    # Nothing known is applied behind 0030 any more, so the file after it is for `apply`.
    assert result.pending == ("V0035__n35.cypher",)
    assert versions(database) == ["0010", "0015", "0030"]


@pytest.mark.exhaustive
def test_all_files_renamed_leaves_an_empty_chain(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    for number in (10, 20, 30, 40):
        (folder / f"V{number:04}__n{number}.cypher").unlink()
    write(folder, 11)
    repaired(database, folder, *((A.REMOVE, f"00{n}") for n in (10, 20, 30, 40)))
    assert versions(database) == []
    assert [done.version for done in migrations.apply(database, folder).applied] == ["0011"]


def test_a_repeatable_file(database: Database, folder: Path) -> None:
    write(folder, 50, prefix="R")
    migrations.apply(database, folder)
    write(folder, 50, "// changed\n", prefix="R")
    # No damage: it runs again.
    assert migrations.repair(database, folder).outcome is RepairOutcome.NOTHING_TO_DO
    assert len(migrations.apply(database, folder).applied) == 1
    (folder / "R0050__n50.cypher").unlink()
    write(folder, 50, "// once\n")
    result = repaired(database, folder, (A.REWRITE, "0050"))
    assert "not repeatable now" in result.steps[0].detail
    assert database.run("MATCH ()-[r:REPEATED]->() RETURN r") == []


COPY_OF_10 = "CREATE (d:__Neo4jMigration) SET d = properties(a)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        # Two tools without a common lock: the whole line once more, behind the first or beside it.
        (
            f"MATCH (a:__Neo4jMigration {{version: '0010'}}), (z:__Neo4jMigration {{version: '0040'}}) {COPY_OF_10} "
            "CREATE (z)-[:MIGRATED_TO {at: datetime('2026-05-01T00:00Z'), in: duration('PT1S'), by: 'x'}]->(d)",
            [(A.REMOVE_DUPLICATE, "0010")],
        ),
        (
            f"MATCH (b:__Neo4jMigration {{version: 'BASELINE'}})-[r]->(a) {COPY_OF_10} "
            "CREATE (b)-[s:MIGRATED_TO]->(d) SET s = properties(r), s.at = s.at + duration('PT1H')",
            [(A.REMOVE_DUPLICATE, "0010")],
        ),
        ("CREATE (:__Neo4jMigration {version: 'BASELINE'})", [(A.REMOVE_DUPLICATE, "BASELINE")]),
        ("MATCH (b:__Neo4jMigration {version: 'BASELINE'}) DETACH DELETE b", [(A.INSERT, "BASELINE")]),
        ("MATCH ()-[r:MIGRATED_TO]->({version: '0020'}) DELETE r", [(A.RELINK, "0020")]),
        (
            "MATCH (a:__Neo4jMigration {version: '0010'}), (c:__Neo4jMigration {version: '0030'}) CREATE (a)-[:MIGRATED_TO]->(c)",
            [(A.RELINK, "0030")],
        ),
        (
            "MATCH (a:__Neo4jMigration {version: '0010'}), (c:__Neo4jMigration {version: '0030'}) CREATE (c)-[:MIGRATED_TO]->(a)",
            [(A.RELINK, "0010")],
        ),
    ],
    ids=["twice behind", "twice beside", "two roots", "no root", "loose", "fork", "circle"],
)
def test_duplicates_and_broken_lines(
    database: Database, folder: Path, damage: str, expected: list[tuple[RepairAction, str]]
) -> None:
    migrations.apply(database, folder, now=lambda: NOW)
    database.run(damage)
    assert migrations.validate(database, folder).outcome in (Outcome.UNDEFINED, Outcome.DUPLICATE_VERSION)
    repaired(database, folder, *expected)
    assert versions(database) == ["0010", "0020", "0030", "0040"]
    # When 0010 was applied stood on the relationship from the root, if that is gone.
    assert read_chain(database).applied[0].at == (LATER if expected == [(A.INSERT, "BASELINE")] else NOW)


def test_of_duplicates_the_one_with_the_files_checksum_stays(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    database.run(
        "MATCH (b:__Neo4jMigration {version: 'BASELINE'})-[r]->(a) "
        f"{COPY_OF_10} SET a.checksum = '1', d.mark = 'right' CREATE (b)-[s:MIGRATED_TO]->(d) SET s = properties(r)"
    )
    repaired(database, folder, (A.REMOVE_DUPLICATE, "0010"))
    assert database.run("MATCH (m:__Neo4jMigration {version: '0010'}) RETURN m.mark AS mark") == [{"mark": "right"}]


def test_nothing_to_do_and_an_empty_chain(database: Database, folder: Path) -> None:
    result = migrations.repair(database, folder)
    assert (result.outcome, len(result.pending)) == (RepairOutcome.NOTHING_TO_DO, 4)
    assert database.run("MATCH (n) RETURN n") == []
    migrations.apply(database, folder)
    before = everything(database)
    assert migrations.repair(database, folder).outcome is RepairOutcome.NOTHING_TO_DO
    assert everything(database) == before
    with pytest.raises(UsageError, match="no such folder"):
        migrations.repair(database, folder / "gone")
    (folder / "empty").mkdir()
    with pytest.raises(UsageError, match="no migration in this folder"):
        migrations.repair(database, folder / "empty")


def test_what_is_not_ours_is_refused(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    write(folder, 30, "// edited\n")
    record = "MATCH (m:__Neo4jMigration {source: 'V0020__n20.cypher'}) "
    [row] = database.run(record + "RETURN elementId(m) AS id, properties(m) AS was")
    for damage, why in (
        ("SET m.package = null, m.source = 'V0020__users.cypher', m.checksum = '1'", "not Jochi's"),
        ("SET m.version = '0021', m.packageVersion = '999.0.0'", "a newer jochi"),
        ("SET m.type = 'DELETE'", "Flyway"),
        ("SET m.flyway_failed = true", "Flyway"),
    ):
        database.run(record + damage)
        before = everything(database)
        for verb in (migrations.planned_repair, migrations.repair):
            with pytest.raises(Refused, match=why):
                verb(database, folder)
        assert everything(database) == before
        database.run("MATCH (m) WHERE elementId(m) = $id SET m = $was", row)


def test_a_record_of_this_or_an_older_jochi_without_a_file_goes(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    database.run("MATCH (m:__Neo4jMigration {version: '0020'}) SET m.packageVersion = '0.0.1'")
    (folder / "V0020__n20.cypher").unlink()
    (folder / "V0030__n30.cypher").unlink()
    repaired(database, folder, (A.REMOVE, "0020"), (A.REMOVE, "0030"))


def test_only_the_chain_of_jochi_is_repaired_beside_a_foreign_one(database: Database, folder: Path) -> None:
    database.run(
        "CREATE (:__Neo4jMigration {version: 'BASELINE'})-[:MIGRATED_TO]->(:__Neo4jMigration {version: '0020', "
        "source: 'V0020__users.cypher', checksum: '1'})"
    )
    foreign = (
        "MATCH (m:__Neo4jMigration) WHERE m.migrationTarget IS NULL "
        "RETURN m.version, m.checksum, elementId(m) AS id ORDER BY id"
    )
    before = database.run(foreign)
    migrations.apply(database, folder, chain="jochi")
    write(folder, 20, "// edited\n")
    (folder / "V0010__n10.cypher").unlink()
    write(folder, 15)
    repaired(database, folder, (A.REMOVE, "0010"), (A.INSERT, "0015"), (A.REWRITE, "0020"))
    assert versions(database, "jochi") == ["0015", "0020", "0030", "0040"]
    assert database.run(foreign) == before


def test_another_state_than_the_agreed_one_changes_nothing(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    write(folder, 20, "// edited\n")
    plan = migrations.planned_repair(database, folder)
    write(folder, 20, "// edited again\n")
    before = everything(database)
    with pytest.raises(Refused, match="not as it was when"):
        migrations.repair(database, folder, agreed=plan)
    assert everything(database) == before
    assert database.run("MATCH (l:__Neo4jMigrationsLock) RETURN l") == []


def test_a_failure_in_the_middle_and_a_stolen_lock_leave_all_as_it_was(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    write(folder, 20, "// edited\n")
    (folder / "V0010__n10.cypher").unlink()
    before = everything(database)

    def fail(progress: migrations.Progress) -> None:
        if progress.step is Step.RUNNING:
            raise RuntimeError("cut")

    def steal(progress: migrations.Progress) -> None:
        if progress.step is Step.LOCKED:
            database.run("MATCH (l:__Neo4jMigrationsLock) SET l.id = 'somebody else'")

    with pytest.raises(RuntimeError, match="cut"):
        migrations.repair(database, folder, on_progress=fail)
    assert everything(database) == before
    with pytest.raises(Locked, match="taken away"):
        migrations.repair(database, folder, on_progress=steal)
    assert everything(database) == before
    # What is left is a lock of this process that it no longer holds, which is taken over.
    assert "took over the lock" in migrations.repair(database, folder, wait_for_lock_seconds=0).messages[0]
    assert migrations.validate(database, folder).valid


@pytest.fixture
def run(database: Database, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs one command on the test's database."""

    @contextmanager
    def connected(context: object) -> Iterator[Database]:
        yield database

    monkeypatch.setattr(commands, "connect", connected)
    return lambda *arguments, **more: CliRunner().invoke(commands.app, list(arguments), **more)


def test_the_command_shows_its_plan_and_asks(run: Any, database: Database) -> None:
    file = "V0001__curated_memories.cypher"
    assert "nothing to repair" in run("repair").stdout
    migrations.apply(database)
    assert "nothing to repair" in run("repair").stdout
    database.run("MATCH (m:__Neo4jMigration {version: '0001'}) SET m.checksum = '1'")
    before = everything(database)
    dry = run("repair", "--dry-run")
    assert dry.exit_code == 0
    assert f"rewrite {file} (0001): checksum 1 becomes " in dry.stdout
    assert "no file is run" in dry.stdout
    assert json.loads(run("repair", "--dry-run", "--json").stdout)["outcome"] == "PLANNED"
    no = run("repair", input="n\n")
    assert isinstance(no.exception, Refused)
    assert "rewrite" in no.stdout
    assert everything(database) == before
    yes = run("repair", input="y\n")
    assert (yes.exit_code, yes.stdout.splitlines()[-1]) == (0, f"repaired (database {database.name})")
    assert migrations.validate(database).valid
    database.run("MATCH (m:__Neo4jMigration {version: '0001'}) SET m.checksum = '1'")
    found = json.loads(run("repair", "--yes", "--json").stdout)
    assert (found["outcome"], [step["action"] for step in found["steps"]]) == ("REPAIRED", ["REWRITE"])


@pytest.mark.exhaustive
def test_the_option_chain_and_its_variable(run: Any, database: Database) -> None:
    database.run("CREATE (:__Neo4jMigration {version: 'BASELINE'})-[:MIGRATED_TO]->(:__Neo4jMigration {version: '7'})")
    refused = run("apply")
    assert isinstance(refused.exception, Refused)
    assert "--chain jochi" in str(refused.exception)
    assert run("apply", env={"JOCHI_CHAIN": "jochi"}).exit_code == 0
    assert run("validate").stdout == f"VALID (database {database.name}, chain jochi)\n"
    assert json.loads(run("ls", "--json").stdout)["chain"] == "jochi"
    assert "chain jochi" in run("repair", "--chain", "jochi").stdout
    assert run("apply", "--chain", "other").exit_code == 2
    assert isinstance(run("ls", "--chain", "default").exception, Refused)
