"""Where Jochi runs: what Aura lacks isn't called there, and is told from other servers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from jochi.compile.rendering import render_all
from jochi.database.server_facts import NEEDED_FOR_JOBS, NEEDED_FOR_PIN, ServerFacts, is_aura
from jochi.database.statements import procedures_folder
from jochi.jobs.rearm import rearm_line
from jochi.operate import checks_server as server
from jochi.operate.check import Level
from jochi.policy import load_policy
from jochi.toml import beside

AURA = beside(str(Path(__file__).parent), "aura_apoc.toml")
HAS = {f"{namespace}.{name}" for namespace, names in AURA.items() for name in names}

FACTS = ServerFacts(
    version="5.27-aura",
    edition="enterprise",
    apoc="5.27.0",
    callable=frozenset((*NEEDED_FOR_JOBS, NEEDED_FOR_PIN, "dbms.queryJmx")),
    default_language="CYPHER_25",
    lock_timeout=None,
    read_only=False,
    writer=True,
    aura=True,
)

_CALLED = re.compile(r"\bapoc(?:\.\w+)+(?=\()")
_TRIGGERS = re.compile(r"^intake/\w*trigger")
"""The statements that install triggers: nobody else calls apoc.trigger.*"""


def called(text: str) -> set[str]:
    """Procedures and functions of APOC in a text, without those of its comments."""
    return set(_CALLED.findall(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)))


def test_all_of_apoc_that_is_called_is_there_on_aura() -> None:
    bodies = {name: "\n".join(each.sections.values()) for name, each in render_all(load_policy().policy, FACTS).items()}
    folder: Path = procedures_folder()
    statements = {
        str(file.relative_to(folder).with_suffix("")): file.read_text(encoding="utf-8")
        for file in folder.rglob("*.cypher")
    }
    texts = {**bodies, **{name: text for name, text in statements.items() if not _TRIGGERS.match(name)}}
    everything = set[str]().union(*map(called, texts.values()))
    assert {"apoc.cypher.doIt", "apoc.periodic.repeat", "apoc.util.sha256"} <= everything, "they are found at all"
    assert {name: called(text) - HAS for name, text in texts.items() if called(text) - HAS} == {}
    assert set(NEEDED_FOR_JOBS) | {NEEDED_FOR_PIN} <= HAS
    assert called(rearm_line()) <= HAS


@pytest.mark.parametrize(
    ("version", "addresses", "expected"),
    [
        ("5.27-aura", ["10.0.0.1:7687"], True),
        ("2026.03.1", ["abcd1234.databases.neo4j.io:7687"], True),
        ("2026.03.1", [None, "p-abcd1234-0001.production-orch-0000.neo4j.io:7687"], True),
        ("5.26.30", ["localhost:7687", None], False),
        ("5.26.30", ["graph.neo4j.io.example.org:7687"], False),
        ("5.26.30", [], False),
    ],
)
def test_aura_is_told_from_other_servers(version: str, addresses: list[str | None], expected: bool) -> None:
    assert is_aura(version, addresses) is expected


def test_on_aura_the_language_of_the_jobs_is_said() -> None:
    """It calls itself 5.27 whatever it is."""
    assert FACTS.language_prefix == "CYPHER 5\n"
    assert replace(FACTS, version="5.26.30", aura=False).language_prefix == ""


def test_on_aura_nothing_is_asked_for_that_nobody_can_set() -> None:
    checks = [
        server.check_apoc(replace(FACTS, apoc="5.26.1"), armed=True),
        server.check_callable(replace(FACTS, callable=frozenset())),
        server.check_threads(1),
        server.check_threads(None, "not tried"),
        server.check_lock_timeout(0),
        server.check_lock_timeout(None),
        server.check_transaction_timeout(None, {}),
        server.check_language("CYPHER_25", "", ()),
    ]
    for check in checks:
        assert check.level is not Level.OK
        there = server.as_on_aura(check)
        assert there.level in (Level.WARN, Level.UNKNOWN), check
        assert not re.search(r"\.conf|restart the server|plugins|allowlist|set db\.", there.fix or ""), there
    version = server.check_version(replace(FACTS, version="5.20-aura"))
    assert server.as_on_aura(version) == version
