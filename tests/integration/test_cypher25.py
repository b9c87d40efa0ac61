"""Every rendered body also runs as Cypher 25, on the newest server (DESIGN §6, §12). There is no APOC for it: bodies only.

A new procedure is rendered and EXPLAINed here by itself. What calls APOC is named by
hand in `CALLS_APOC`: a name too many or too few fails. To have a new call or job run, add it to
tests/story.py or tests/story_of_seeds.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests import story
from tests.conftest import PolicyWith
from tests.own_server import module_server
from tests.roles import UNSUPPORTED, all_statements, refusals

from jochi import Jochi, generate
from jochi.compile.rendering import render_all
from jochi.database.database import Database
from jochi.database.server_facts import read_facts
from jochi.database.statements import procedures_folder, statement
from jochi.install.install import as_doit_runs_it
from jochi.operate.rights import Rights
from jochi.policy import load_policy

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

VERSION = "2026.09.0"

CALLS_APOC = {
    ("intake/on_created", "body"),
    ("scheduler/arm", "body"),
    ("scheduler/isolate", "body"),
    ("scheduler/pump", "body"),
    ("scheduler/step", "body"),
    ("scheduler/watch", "body"),
}
"""Sections that can't be planned without APOC: the scheduler inside the database."""

CLIENTS_CALL_APOC = {
    "install/armed_jobs",
    "install/disarm",
    "install/repeat_jobs",
    "install/take_off_list",
    "server/apoc_version",
    "server/probe_sleep",
    "server/probe_submit",
    "server/ready_apoc",
    "server/rearm_line",
    "server/rearm_pinned_line",
    *(f"intake/{word}" for word in ("drop_trigger", "install_trigger", "loaded_triggers")),
    *(f"intake/{word}" for word in ("pause_trigger", "resume_trigger", "stored_triggers")),
}
"""Statements of clients of which the same holds."""

OF_ENTERPRISE = "server/privileges"
"""What Community Edition reads and doesn't do."""

CALL = re.compile(r"^(?!\s*//).*(\bCALL apoc\.|\bapoc\.[\w.]+\()", re.MULTILINE)


class _Language:
    """Puts the language in front of every statement that any session of the driver runs, and remembers the statements."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.ran: set[str] = set()

    def speak(self, patch: pytest.MonkeyPatch) -> None:
        for where in (neo4j.Session, neo4j.ManagedTransaction):
            original = where.run

            def run(this: Any, text: Any, *arguments: Any, original: Any = original, **more: Any) -> Any:
                self.ran.add(str(text))
                prefixed = text if str(text).startswith("CYPHER ") else self.prefix + str(text)
                return original(this, prefixed, *arguments, **more)

            patch.setattr(where, "run", run)


@pytest.fixture(scope="module")
def newest(request: pytest.FixtureRequest) -> Iterator[neo4j.Driver]:
    """A driver on an empty server of the newest version."""
    with module_server(request, "cypher25", version=VERSION) as local, local.running().driver() as driver:
        yield driver


@pytest.fixture
def fresh(newest: neo4j.Driver) -> Database:
    database = Database(newest)
    database.autocommit("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")
    return database


DERIVING = "".join(f"[derive.{name}]\nderiving = true\n" for name in load_policy().policy.derive)
"""What workers make of memories is off in the tests' policy."""

OTHER_CHOICES = """
[policy]
name = "other"
extends = "default"
[embedding]
enabled = false
[kinds.Belief]
unique_content = false
[kinds.Note]
embed = false
"""


def test_every_rendered_section_is_valid_cypher_25(fresh: Database, tmp_path: Path) -> None:
    """As doIt would run it, which is stricter than a driver; the story below runs it from a driver."""
    facts = read_facts(fresh)
    assert facts.version == VERSION
    (tmp_path / "other.toml").write_text(OTHER_CHOICES, encoding="utf-8")
    apoc: set[tuple[str, str]] = set()
    seen: set[str] = set()
    wrong: dict[str, str] = {}
    # What one policy leaves out the other has.
    for policy in (load_policy(), load_policy(tmp_path / "other.toml")):
        for procedure in render_all(policy.policy, facts).values():
            for section, text in procedure.sections.items():
                if CALL.search(text):
                    apoc.add((procedure.name, section))
                elif text not in seen:
                    seen.add(text)
                    body = as_doit_runs_it(text.removeprefix(facts.language_prefix))
                    try:
                        fresh.autocommit(f"CYPHER 25 EXPLAIN {body}")
                    except neo4j.exceptions.Neo4jError as error:
                        wrong[f"{procedure.name}, {section}, policy {policy.label}"] = error.message or str(error)
    assert wrong == {}
    assert apoc == CALLS_APOC


def test_every_statement_of_a_client_is_valid_cypher_25(fresh: Database) -> None:
    apoc = set()
    wrong: dict[str, str] = {}
    for path in sorted(procedures_folder().glob("*/*.cypher")):
        name = f"{path.parent.name}/{path.stem}"
        text = statement(name)
        if CALL.search(text):
            apoc.add(name)
            continue
        try:
            fresh.autocommit(f"CYPHER 25 EXPLAIN {text}")
        except neo4j.exceptions.Neo4jError as error:
            if name != OF_ENTERPRISE or error.code != UNSUPPORTED:  # it was read, and then refused
                wrong[name] = error.message or str(error)
    assert wrong == {}
    assert apoc == CLIENTS_CALL_APOC


def test_the_newest_server_can_read_the_statements_that_make_roles(newest: neo4j.Driver) -> None:
    statements = all_statements(Rights(load_policy().policy))
    assert refusals(newest, statements) == {UNSUPPORTED: set(statements)}
    assert refusals(newest, [f"CYPHER 25 {each}" for each in statements]).keys() == {UNSUPPORTED}


def test_a_body_of_cypher_5_alone_would_be_noticed(fresh: Database) -> None:
    """The check can fail: a relationship as a map is gone in Cypher 25."""
    text = "MATCH (n)-[r]->() SET n = r"
    fresh.autocommit(f"CYPHER 5 EXPLAIN {text}")
    with pytest.raises(neo4j.exceptions.ClientError):
        fresh.autocommit(f"CYPHER 25 EXPLAIN {text}")


# -- the same story on both servers ---------------------------------------------------------------------------------


@pytest.mark.timeout(2_400)
def test_the_same_story_gives_the_same_graph(
    fresh: Database, database: Database, policy_with: PolicyWith, tmp_path: Path
) -> None:
    """Install, import, plan, curate, explain, restore, purge …: as Cypher 25 there, as it is on the tests' own server."""
    policy = policy_with(DERIVING)
    made = tmp_path / "team.jsonl"
    generate.write_jsonl(made, generate.team(end=story.NOW, days=40, size=800))
    with pytest.MonkeyPatch.context() as patch:
        language = _Language("CYPHER 25\n")
        language.speak(patch)
        there = story.tell(Jochi(fresh.driver, policy=policy), made)
    facts = read_facts(fresh)
    calls = {
        name: procedure
        for name, procedure in render_all(policy.policy, facts).items()
        if procedure.kind in ("call", "job")
    }
    missing = {name for name, procedure in calls.items() if not set(procedure.sections.values()) <= language.ran}
    assert missing == set(), "add it to tests/story.py or tests/story_of_seeds.py"

    here = story.tell(Jochi(database.driver, policy=policy), made)
    assert list(there) == list(here)
    for chapter, found in here.items():
        assert there[chapter] == found, chapter
