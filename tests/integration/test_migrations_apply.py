"""`apply`, `listing`, `validate` and `remove_chain` on a live server. Needs the fixture `database`."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.tally import examples

from jochi.database.database import Database
from jochi.database.statements import schema_folder
from jochi.errors import Refused, UsageError
from jochi.schema import migrations
from jochi.schema.migrations import ChainName, MigrationFailed, Outcome, State, Step
from jochi.schema.migrations.files import read_folder
from jochi.schema.migrations.results import ApplyOutcome
from jochi.schema.migrations.schema_objects import created_by

pytestmark = pytest.mark.server

VERSIONS = ("0001", "0002", "0003")
"""Of `folder`."""
NOW = datetime(2026, 3, 4, 5, 6, 7, 890000, tzinfo=timezone.utc)
BOOKKEEPING = {
    "unique_version___Neo4jMigration",
    "__Neo4jMigrationsLock__has_unique_id",
    "__Neo4jMigrationsLock__has_unique_name",
    "repeated_at__Neo4jMigration",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three small files, named as those that are shipped."""
    made = tmp_path / "schema"
    for version, name in zip(VERSIONS, ("curated_memories", "engine", "audit"), strict=True):
        write(made, f"V{version}__{name}.cypher", f"CREATE INDEX {name} IF NOT EXISTS\nFOR (m:Mine) ON (m.{name});\n")
    return made


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(text.encode())
    return folder


def names(database: Database) -> set[str]:
    rows = database.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name")
    return {row["name"] for row in rows} | {row["name"] for row in database.run("SHOW CONSTRAINTS YIELD name")}


def chain(database: Database) -> list[dict[str, Any]]:
    return database.run(
        "MATCH path = (:__Neo4jMigration {version: 'BASELINE'})-[:MIGRATED_TO*]->(m) "
        "WITH m, last(relationships(path)) AS r ORDER BY length(path) "
        "RETURN properties(m) AS node, properties(r) AS record"
    )


def count(database: Database, label: str) -> int:
    return int(database.run(f"MATCH (n:{label}) RETURN count(n) AS n")[0]["n"])


def test_a_fresh_database_gets_every_object_and_the_chain_and_gives_them_back(database: Database) -> None:
    database.run("CREATE INDEX app_index FOR (u:User) ON (u.name)")
    database.run("CREATE (:User {name: 'a'})")
    steps: list[tuple[Step, str | None]] = []
    result = migrations.apply(database, on_progress=lambda p: steps.append((p.step, p.source)), now=lambda: NOW)

    files = read_folder(schema_folder()).files
    assert result.outcome is ApplyOutcome.APPLIED
    assert [done.version for done in result.applied] == [file.version for file in files]
    assert names(database) == {o.name for o in created_by(*files)} | BOOKKEEPING | {"app_index"}
    recorded = chain(database)
    assert [row["node"] for row in recorded] == [
        {
            "version": file.version,
            "description": file.description,
            "type": "CYPHER",
            "repeatable": False,
            "source": file.source,
            "checksum": file.checksum,
            "package": "jochi",
            "packageVersion": row["node"]["packageVersion"],
        }
        for file, row in zip(files, recorded, strict=True)
    ]
    for row in recorded:
        record = row["record"]
        assert set(record) == {"at", "in", "by", "connectedAs"}
        assert record["at"].to_native() == NOW
        assert record["at"].utcoffset() == timedelta(0)
        assert (record["in"].months, record["in"].days) == (0, 0)
    assert count(database, "__Neo4jMigration") == len(files) + 1
    assert count(database, "__Neo4jMigrationsLock") == 0
    assert steps[0] == (Step.LOCKED, None)
    assert steps[1:4] == [(step, files[0].source) for step in (Step.RUNNING, Step.DONE, Step.RECORDED)]

    removed = migrations.remove_chain(database)
    assert names(database) == {"app_index"}
    assert database.run("MATCH (n) RETURN labels(n) AS labels", {}) == [{"labels": ["User"]}]
    assert set(removed.constraints) | set(removed.indexes) >= {"curated_key", "curated_next_due", "curation_audit_run"}
    assert removed.kept == ()
    again = migrations.remove_chain(database)
    assert (again.chain_nodes, again.indexes, names(database)) == (0, (), {"app_index"})


def test_a_second_apply_finds_nothing_to_do_and_writes_nothing(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    before = chain(database)
    assert migrations.apply(database, folder).outcome is ApplyOutcome.NOTHING_TO_DO
    assert chain(database) == before


def test_the_listing_reads_only_and_shows_each_state(database: Database, folder: Path) -> None:
    found = migrations.listing(database, folder)
    assert {row.state for row in found.migrations} == {State.PENDING}
    assert found.outcome is Outcome.INCOMPLETE_DATABASE
    assert names(database) == set()
    assert count(database, "__Neo4jMigration") == 0

    migrations.apply(database, folder, now=lambda: NOW)
    write(folder, "V0002__engine.cypher", "RETURN 1;\n")
    write(folder, "V9999__last.cypher", "RETURN 1;\n")
    (folder / "V0003__audit.cypher").unlink()
    found = migrations.listing(database, folder)
    states = {row.version: row.state for row in found.migrations}
    assert states["0001"] is State.APPLIED
    assert states["0002"] is State.CHANGED
    assert states["0003"] is State.UNKNOWN
    assert states["9999"] is State.PENDING
    first = found.migrations[0]
    assert (first.applied_at, first.package, first.database_checksum) == (NOW, "jochi", first.file_checksum)


def test_a_new_file_is_applied_behind_the_others(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    write(folder, "V9998__a.cypher", "MERGE (:A {x: 1});\n")
    write(folder, "V9999__b.cypher", "MERGE (:A {x: 2});\n// done\n")
    result = migrations.apply(database, folder)
    assert [(done.version, done.statements) for done in result.applied] == [("9998", 1), ("9999", 1)]
    assert [row["node"]["version"] for row in chain(database)][-2:] == ["9998", "9999"]
    assert count(database, "A") == 2
    assert migrations.validate(database, folder).valid


def test_an_edited_file_is_refused_and_nothing_runs(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    with (folder / "V0001__curated_memories.cypher").open("ab") as file:
        file.write(b"// a comment counts\n")
    write(folder, "V9999__never.cypher", "MERGE (:Never);\n")
    found = migrations.validate(database, folder)
    assert found.outcome is Outcome.DIFFERENT_CONTENT
    with pytest.raises(Refused, match="edited after it was applied") as caught:
        migrations.apply(database, folder)
    assert "V0001__curated_memories.cypher" in str(caught.value)
    assert caught.value.exit_code == 5
    assert count(database, "Never") == 0
    assert count(database, "__Neo4jMigrationsLock") == 0


LONG = "x" * 40_000

ODD: list[tuple[str, str, str | None]] = [
    # What another has made before, the migration, and what is said (None: it is applied).
    ("CREATE (:App {t: $long}); CREATE INDEX app_t FOR (a:App) ON (a.t)", "INDEX mine", None),
    ("CREATE INDEX mine FOR (a:App) ON (a.t)", "INDEX mine", "the name mine is taken: it is on App(t)"),
    ("CREATE FULLTEXT INDEX theirs FOR (m:Mine) ON EACH [m.t]", "FULLTEXT INDEX mine", "the index theirs stands in"),
    ("CREATE INDEX theirs FOR (m:Mine) ON (m.t)", "INDEX mine", None),
    ("CREATE CONSTRAINT theirs FOR (m:Mine) REQUIRE m.t IS UNIQUE", "CONSTRAINT mine", None),
    (
        "CREATE (:Mine {t: $long}); CREATE INDEX mine FOR (m:Mine) ON (m.t)",
        "INDEX mine",
        "can't be built: Property value",
    ),
    ("CREATE (:Mine {t: 1}); CREATE (:Mine {t: 1})", "CONSTRAINT mine", "have the label `Mine` and property `t`"),
]
FORMS = {
    "INDEX mine": "CREATE INDEX mine IF NOT EXISTS FOR (m:Mine) ON (m.t);\n",
    "FULLTEXT INDEX mine": "CREATE FULLTEXT INDEX mine IF NOT EXISTS FOR (m:Mine) ON EACH [m.t];\n",
    "CONSTRAINT mine": "CREATE CONSTRAINT mine IF NOT EXISTS FOR (m:Mine) REQUIRE m.t IS UNIQUE;\n",
}


def test_what_others_made_in_its_place_is_named_and_goes_on_once_it_is_gone(database: Database, tmp_path: Path) -> None:
    for number, (before, form, said) in enumerate(ODD[:: examples(2, 1)]):
        folder = write(tmp_path / str(number), f"V{number + 1}__a.cypher", FORMS[form])
        for text in before.split("; "):
            database.autocommit(text, {"long": LONG})
        database.autocommit("MATCH (n:__Neo4jMigration) DETACH DELETE n")
        if said is not None:
            with pytest.raises(MigrationFailed) as caught:
                migrations.apply(database, folder)
            assert said in str(caught.value), before
            assert "\tat " not in str(caught.value)
            assert caught.value.fix
            assert count(database, "__Neo4jMigrationsLock") == 0
            # What is in the way is taken away, and one that couldn't be built is not: the next run builds it again.
            for name in ("theirs", *([] if "can't be built" in said else ["mine"])):
                database.autocommit(f"DROP INDEX {name} IF EXISTS")
            database.run("MATCH (n:App|Mine) DELETE n")
        assert migrations.apply(database, folder).outcome is ApplyOutcome.APPLIED, before
        state = database.run(
            "SHOW INDEXES YIELD name, state, labelsOrTypes WHERE name IN ['mine', 'theirs'] AND labelsOrTypes = ['Mine'] "
            "RETURN state"
        )
        assert state == [{"state": "ONLINE"}], before
        migrations.remove_chain(database, folder)
        left = {"app_t", "theirs"} & names(database)
        assert left == ({"app_t"} if "app_t" in before else {"theirs"} if said is None else set()), before
        for name in left:
            drop = "CONSTRAINT" if "CONSTRAINT theirs" in before else "INDEX"
            database.autocommit(f"DROP {drop} {name}")
        database.run("MATCH (n:App|Mine) DELETE n")


def test_a_byte_order_mark_is_named(folder: Path) -> None:
    path = folder / "V0001__curated_memories.cypher"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    with pytest.raises(UsageError, match="byte order mark"):
        read_folder(folder)


@pytest.mark.slow
def test_windows_line_ends_are_named_as_the_cause(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    path = folder / "V0001__curated_memories.cypher"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (message,) = migrations.validate(database, folder).messages
    assert "only its line ends differ" in message


@pytest.mark.slow
def test_blank_space_around_statements_changes_nothing(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    path = folder / "V0001__curated_memories.cypher"
    path.write_bytes(b"\n\n" + path.read_bytes().replace(b";\n", b"\n ;\n\n") + b"\n")
    assert migrations.validate(database, folder).valid


def test_a_foreign_chain_is_refused_with_the_reason(database: Database, tmp_path: Path) -> None:
    database.run(
        "CREATE (:__Neo4jMigration {version: 'BASELINE'})-[:MIGRATED_TO {at: datetime(), by: 'app'}]->"
        "(:__Neo4jMigration {version: '0001', source: 'V0001__users.cypher', type: 'CYPHER', checksum: '1'})"
    )
    found = migrations.listing(database)
    assert found.outcome is Outcome.FOREIGN_CHAIN
    with pytest.raises(Refused, match=r"V0001__users\.cypher") as caught:
        migrations.apply(database)
    assert "not Jochi's" in str(caught.value)
    assert names(database) == set()
    kept = migrations.remove_chain(database)
    assert kept.chain_nodes == 0
    assert any("not Jochi's" in reason for reason in kept.kept)
    assert count(database, "__Neo4jMigration") == 2


@pytest.mark.slow
def test_a_chain_of_another_target_is_no_hindrance(database: Database) -> None:
    database.run(
        "CREATE (:__Neo4jMigration {version: 'BASELINE', migrationTarget: 'app'})-[:MIGRATED_TO]->"
        "(:__Neo4jMigration {version: '0001', migrationTarget: 'app', source: 'V0001__users.cypher', checksum: '1'})"
    )
    migrations.apply(database)
    assert migrations.validate(database).valid
    result = migrations.remove_chain(database)
    assert count(database, "__Neo4jMigration") == 2
    assert names(database) == BOOKKEEPING
    assert any("another chain" in reason for reason in result.kept)


def foreign_chain(database: Database, target: str | None = None) -> None:
    database.run(
        "CREATE (b:__Neo4jMigration {version: 'BASELINE'})-[:MIGRATED_TO]->"
        "(m:__Neo4jMigration {version: '7', source: 'V7__users.cypher', type: 'CYPHER', checksum: '1'}) "
        "SET b.migrationTarget = $target, m.migrationTarget = $target",
        {"target": target},
    )


def targets(database: Database) -> dict[str | None, int]:
    rows = database.run("MATCH (m:__Neo4jMigration) RETURN m.migrationTarget AS target, count(*) AS n")
    return {row["target"]: row["n"] for row in rows}


@pytest.mark.slow
def test_a_chain_of_our_own_stands_beside_a_foreign_one_and_is_found_by_itself(
    database: Database, folder: Path
) -> None:
    foreign_chain(database)
    with pytest.raises(Refused, match="--chain jochi"):
        migrations.apply(database, folder)
    assert migrations.apply(database, folder, chain="jochi").chain is ChainName.JOCHI
    whole = {None: 2, "jochi": len(VERSIONS) + 1}
    assert targets(database) == whole
    # From here on without the option, and never a second chain.
    assert migrations.validate(database, folder).valid
    assert migrations.listing(database, folder).chain is ChainName.JOCHI
    assert migrations.apply(database, folder).chain is ChainName.JOCHI
    with pytest.raises(Refused, match="leave --chain"):
        migrations.apply(database, folder, chain="default")
    assert targets(database) == whole
    write(folder, "V0100__more.cypher", "MERGE (:More);\n")
    assert [done.version for done in migrations.apply(database, folder).applied] == ["0100"]
    assert targets(database) == {None: 2, "jochi": len(VERSIONS) + 2}
    result = migrations.remove_chain(database, folder)
    assert (result.chain, result.chain_nodes) == (ChainName.JOCHI, len(VERSIONS) + 2)
    assert targets(database) == {None: 2}


def test_where_the_default_chain_is_ours_no_second_one_is_made(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    for verb in (migrations.apply, migrations.validate, migrations.repair, migrations.remove_chain):
        with pytest.raises(Refused, match="would double them"):
            verb(database, folder, chain="jochi")
    assert targets(database) == {None: len(VERSIONS) + 1}
    with pytest.raises(UsageError, match="no chain 'mine'"):
        migrations.apply(database, folder, chain="mine")


@pytest.mark.slow
def test_a_chain_of_our_own_may_come_before_the_applications(database: Database) -> None:
    migrations.apply(database, chain="jochi")
    foreign_chain(database)
    assert migrations.validate(database).valid
    migrations.remove_chain(database)
    assert targets(database) == {None: 2}


@pytest.mark.slow
def test_a_chain_named_jochi_that_is_not_ours_is_refused(database: Database) -> None:
    foreign_chain(database, "jochi")
    with pytest.raises(Refused, match="Use another database"):
        migrations.apply(database, chain="jochi")
    migrations.apply(database)
    assert migrations.validate(database).chain is ChainName.DEFAULT


@pytest.mark.slow
def test_two_chains_of_ours_are_refused(database: Database) -> None:
    migrations.apply(database)
    database.run(
        "MATCH (m:__Neo4jMigration {version: '0001'}) CREATE (:__Neo4jMigration {version: 'BASELINE', "
        "migrationTarget: 'jochi'})-[:MIGRATED_TO]->(c:__Neo4jMigration) SET c = properties(m), c.migrationTarget = 'jochi'"
    )
    with pytest.raises(Refused, match="in two chains"):
        migrations.apply(database)


@pytest.mark.slow
def test_a_newer_jochi_is_told_from_a_foreign_chain(database: Database, tmp_path: Path) -> None:
    shipped = Path(shutil.copytree(schema_folder(), tmp_path / "shipped"))
    migrations.apply(database, write(shipped, "V9999__future.cypher", "RETURN 1;\n"))
    assert migrations.validate(database).outcome is Outcome.NEWER_DATABASE
    with pytest.raises(Refused, match="newer jochi"):
        migrations.apply(database)
    with pytest.raises(Refused, match="newer jochi"):
        migrations.remove_chain(database)
    assert count(database, "__Neo4jMigrationsLock") == 0


def test_a_file_that_slips_in_before_applied_ones_is_refused(database: Database, folder: Path) -> None:
    migrations.apply(database, folder)
    write(folder, "V0002_1__late.cypher", "RETURN 1;\n")
    found = migrations.validate(database, folder)
    assert found.outcome is Outcome.DIFFERENT_CONTENT
    assert "V0002_1__late.cypher" in found.messages[0]
    with pytest.raises(Refused, match="order does not fit"):
        migrations.apply(database, folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "outcome"),
    [
        ("CREATE (:__Neo4jMigration {version: 'BASELINE'})", Outcome.UNDEFINED),
        ("MATCH ()-[r:MIGRATED_TO]->({version: '0002'}) DELETE r", Outcome.UNDEFINED),
        (
            "MATCH (a:__Neo4jMigration {version: '0001'}), (c:__Neo4jMigration {version: '0003'}) "
            "CREATE (a)-[:MIGRATED_TO]->(c)",
            Outcome.UNDEFINED,
        ),
        (
            "MATCH (a:__Neo4jMigration {version: '0001'}), (c:__Neo4jMigration {version: '0003'}) "
            "CREATE (c)-[:MIGRATED_TO]->(a)",
            Outcome.UNDEFINED,
        ),
        (
            "MATCH (a:__Neo4jMigration {version: '0001'}), (c:__Neo4jMigration {version: '0003'}) "
            "CREATE (c)-[:MIGRATED_TO]->(d:__Neo4jMigration) SET d = properties(a)",
            Outcome.DUPLICATE_VERSION,
        ),
    ],
)
def test_a_broken_chain_is_refused(database: Database, damage: str, outcome: Outcome) -> None:
    migrations.apply(database)
    database.run(damage)
    assert migrations.validate(database).outcome is outcome
    assert migrations.listing(database).messages
    with pytest.raises(Refused):
        migrations.apply(database)


def test_a_failing_statement_keeps_the_files_before_it(database: Database, tmp_path: Path) -> None:
    folder = write(tmp_path / "m", "V1__good.cypher", "MERGE (:Good);\n")
    write(folder, "V2__bad.cypher", "MERGE (:Half);\nMERGE (:Half {x: 1 / 0});\n")
    write(folder, "V3__never.cypher", "MERGE (:Never);\n")
    with pytest.raises(MigrationFailed, match="by zero") as caught:
        migrations.apply(database, folder)
    assert caught.value.where == f"{folder / 'V2__bad.cypher'}, statement 2 of 2"
    assert [row["node"]["version"] for row in chain(database)] == ["1"]
    assert (count(database, "Half"), count(database, "Never")) == (0, 0)
    assert count(database, "__Neo4jMigrationsLock") == 0

    write(folder, "V2__bad.cypher", "MERGE (:Half);\n")
    assert [done.version for done in migrations.apply(database, folder).applied] == ["2", "3"]


def test_a_name_that_the_database_uses_otherwise_is_said(database: Database) -> None:
    database.run("CREATE INDEX theirs FOR (m:Curated) ON (m.key)")
    with pytest.raises(MigrationFailed, match="Curated") as caught:
        migrations.apply(database)
    assert caught.value.where is not None
    assert "V0001__curated_memories.cypher, statement 1 of" in caught.value.where


def test_a_file_with_in_transactions_runs_statement_by_statement(database: Database, tmp_path: Path) -> None:
    text = "UNWIND range(1, 3) AS i\nCALL (i) { MERGE (:Batch {i: i}) } IN TRANSACTIONS OF 1 ROWS;\nMERGE (:After);\n"
    migrations.apply(database, write(tmp_path / "m", "V1__a.cypher", text))
    assert (count(database, "Batch"), count(database, "After")) == (3, 1)


def test_placeholders_are_filled_and_do_not_touch_the_checksum(database: Database, tmp_path: Path) -> None:
    folder = write(tmp_path / "m", "V1__a.cypher", "MERGE (:Before);\n")
    write(folder, "V2__b.cypher", "MERGE (:${nm:label} {x: 1});\n")
    with pytest.raises(UsageError, match="label"):
        migrations.apply(database, folder)
    assert count(database, "Before") == 0
    migrations.apply(database, folder, placeholders={"label": "Filled"})
    assert count(database, "Filled") == 1
    assert migrations.validate(database, folder).valid


def test_a_repeatable_migration_runs_again_when_it_changes(database: Database, tmp_path: Path) -> None:
    folder = write(tmp_path / "m", "R1__again.cypher", "CREATE (:Again {v: 1});\n")
    migrations.apply(database, folder)
    migrations.apply(database, folder)
    assert count(database, "Again") == 1
    write(folder, "R1__again.cypher", "CREATE (:Again {v: 2});\n")
    assert migrations.validate(database, folder).valid
    assert migrations.listing(database, folder).migrations[0].state is State.CHANGED
    migrations.apply(database, folder)
    migrations.apply(database, folder)
    assert count(database, "Again") == 2
    assert database.run("MATCH (m)-[r:REPEATED]->(m) RETURN m.version AS v, r.checksum AS c") == [
        {"v": "1", "c": migrations.listing(database, folder).migrations[0].file_checksum}
    ]
    assert migrations.listing(database, folder).migrations[0].state is State.APPLIED


def test_warnings_travel_with_every_answer(database: Database, folder: Path) -> None:
    write(folder, "V0004__a-b.cypher", "RETURN 1;\n")
    assert "hyphen" in migrations.listing(database, folder).warnings[0]
    assert "hyphen" in migrations.validate(database, folder).warnings[0]
    assert "hyphen" in migrations.apply(database, folder).warnings[0]


@pytest.mark.parametrize(("label", "key"), [("User", "run"), ("CurationAudit", "name")])
def test_remove_leaves_an_object_of_the_same_name_on_something_else(database: Database, label: str, key: str) -> None:
    database.run(f"CREATE INDEX curation_audit_run FOR (u:{label}) ON (u.{key})")
    result = migrations.remove_chain(database)
    assert names(database) == {"curation_audit_run"}
    assert f"{label}({key})" in result.kept[0]


@pytest.mark.slow
def test_remove_finishes_what_was_cut_off_after_the_chain(database: Database) -> None:
    migrations.apply(database)
    database.run("MATCH (m:__Neo4jMigration) DETACH DELETE m")
    assert "curated_key" in migrations.remove_chain(database).constraints
    assert names(database) == set()
