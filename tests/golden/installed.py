"""What an install leaves in a database, by name: `installed.txt` is the list, and it is compared with real installs."""

from __future__ import annotations

from pathlib import Path

from tests.golden.agree import WRITE

from jochi.database.database import Database
from jochi.database.installed import pump_name, watch_name

FILE = Path(__file__).with_name("installed.txt")

_DECIDED = "curated_text"
"""Its properties are those that hold content by the policy."""
_OTHERS = "name STARTS WITH 'tests_' OR name CONTAINS '_liquibase_'"
"""What tests and tools of migrations make for themselves."""
_ON = "labelsOrTypes[0] + '(' + reduce(t = '', p IN properties | t + ' ' + p) + ' )' AS line"
_SCHEMA = (
    f"SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties WHERE NOT ({_OTHERS}) "
    f"RETURN 'constraint ' + name + ': ' + type + ' ' + {_ON}",
    "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, owningConstraint "
    f"WHERE type <> 'LOOKUP' AND owningConstraint IS NULL AND NOT ({_OTHERS}) "
    f"RETURN 'index ' + name + ': ' + type + ' ' + {_ON}",
)
_NODES = (
    "MATCH (j:JochiJob) RETURN 'job ' + j.name + ': ' + j.procedure AS line",
    "MATCH (p:JochiProcedure) RETURN 'procedure ' + p.name + ': ' + p.kind AS line",
    "MATCH (p:JochiPump) RETURN 'node JochiPump ' + p.role AS line",
    "MATCH (p:JochiPolicy) WHERE p.current RETURN 'node JochiPolicy, one that is current' AS line",
    "MATCH (m:__Neo4jMigration) RETURN 'node __Neo4jMigration ' + m.version AS line",
)


def installed(database: Database) -> list[str]:
    """The list, sorted: constraints, indexes, jobs, procedures, the engine's other nodes, and what is on APOC's list when armed."""
    rows = [row["line"] for text in (*_SCHEMA, *_NODES) for row in database.run(text, write=False)]
    lines = [line.partition("(")[0] if f" {_DECIDED}:" in line else line for line in rows]
    names = {pump_name(database.name): "jochi.pump.<database>", watch_name(database.name): "jochi.watch.<database>"}
    nodes = database.run("MATCH (p:JochiPump) RETURN p.name AS name", write=False)
    return sorted([*lines, *(f"repeat job {names[row['name']]}" for row in nodes)])


def expect_installed(database: Database) -> None:
    """Fails where an install left another list than `installed.txt`; with JOCHI_GOLDEN_WRITE it becomes that list."""
    found = installed(database)
    if WRITE:
        FILE.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
    wanted = FILE.read_text(encoding="utf-8").splitlines()
    new, missing = [line for line in found if line not in wanted], [line for line in wanted if line not in found]
    assert (new, missing) == ([], []), "`python -m tests.golden --write` writes the list anew"
