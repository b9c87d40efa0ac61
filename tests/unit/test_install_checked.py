"""Which texts an install has the server EXPLAIN: those that nobody had it do before (DESIGN §6)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.checked import LOOKED_THROUGH, POLICIES, schema, sections, texts

from jochi.compile.rendering import render_all
from jochi.database.server_facts import ServerFacts
from jochi.install.checked import checked_file, known_to_compile
from jochi.install.install import can_be_explained
from jochi.localserver.versions import NEO4J

TOLD = json.loads(checked_file(NEO4J).read_text())
FACTS = ServerFacts(
    TOLD["version"], "community", TOLD["apoc"], frozenset(TOLD["callable"]), "CYPHER_5", 5.0, False, True
)


def test_what_is_shipped_was_checked() -> None:
    assert texts(FACTS) == TOLD["texts"], "a template or a shipped policy changed: `python -m tests.checked`"


def test_nothing_that_is_installed_scans_what_grows() -> None:
    """By the plans that a server made of it in a store that is full: of each text, as long as it and the schema stay the same."""
    told = json.loads(LOOKED_THROUGH.read_text())
    now = {"schema": schema(), "texts": sorted(sections(FACTS))}
    assert now == told, "a template, the schema or the tests' policy changed: `python -m tests.checked`"


class Asked:
    """In a database's place: keeps what it is to EXPLAIN."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def autocommit(self, text: str) -> None:
        self.texts.append(text)


@pytest.mark.parametrize(
    ("facts", "asked"),
    [
        (FACTS, ["// changed"]),
        (replace(FACTS, apoc="5.26.18"), None),
        (replace(FACTS, version="5.26.29"), None),
        (replace(FACTS, version="2026.09.0"), None),
    ],
)
def test_only_a_text_or_a_version_of_ones_own_is_checked_again(
    facts: ServerFacts, asked: list[str] | None, without_explain: Any
) -> None:
    procedures = render_all(POLICIES[0].policy, FACTS)
    one = procedures["curate/plan"]
    changed = {**procedures, "curate/plan": replace(one, sections={"body": "// changed"})}
    database: Any = Asked()
    without_explain(database, changed, facts)
    if asked is not None:
        assert [text.removeprefix("EXPLAIN ") for text in database.texts] == asked
    else:
        assert len(database.texts) > 200
        assert known_to_compile(facts) == frozenset()


def test_what_calls_what_is_not_there_was_not_checked() -> None:
    text = "CALL apoc.cypher.doIt('RETURN 1', {}) YIELD value RETURN value"
    assert can_be_explained(text, FACTS)
    assert not can_be_explained(text, replace(FACTS, callable=frozenset()))
