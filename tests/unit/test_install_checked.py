"""Which texts an install has the server EXPLAIN: those that nobody had it do before (DESIGN §6)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.checked import LOOKED_THROUGH, POLICIES, VERSIONS, WITHOUT_APOC, facts_of, languages, schema, sections, texts

from jochi.compile.rendering import render_all
from jochi.database.server_facts import ServerFacts
from jochi.errors import JochiError
from jochi.install.checked import FILE, Checked, known_to_compile
from jochi.install.install import as_doit_runs_it, can_be_explained
from jochi.localserver.versions import NEO4J

FACTS = facts_of(NEO4J)
NEWEST = replace(facts_of(VERSIONS[-1]), apoc="2026.09.0")


def test_what_is_shipped_was_checked() -> None:
    wanted, checked = {version: texts(facts_of(version)).keys() for version in VERSIONS}, Checked.read()
    lacks = {
        version: len(of - {text for text, on in checked.passed.items() if version in on})
        for version, of in wanted.items()
    }
    assert not any(lacks.values()), f"a template or a shipped policy changed: `python -m tests.checked --all` ({lacks})"
    assert checked.passed.keys() == set().union(*wanted.values())
    assert {version: tried.languages for version, tried in checked.tried.items()} == {
        version: languages(facts_of(version)) for version in VERSIONS
    }


def test_nothing_that_is_installed_scans_what_grows() -> None:
    """By the plans that a server made of it in a store that is full: of each text, as long as it and the schema stay the same."""
    told = json.loads(LOOKED_THROUGH.read_text())
    now = {"schema": schema(), "texts": sorted(sections(FACTS))}
    assert now == told, "a template, the schema or the tests' policy changed: `python -m tests.checked`"


def test_the_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "checked.json"
    Checked.read().write(file)
    assert file.read_text() == FILE.read_text()


class Asked:
    """In a database's place: keeps what it is to EXPLAIN."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def autocommit(self, text: str) -> None:
        self.texts.append(text.removeprefix("EXPLAIN "))


@pytest.mark.parametrize(
    ("facts", "known"),
    [
        (FACTS, True),
        (replace(FACTS, apoc=None, callable=WITHOUT_APOC), True),
        (facts_of(VERSIONS[-1]), True),
        (replace(facts_of(VERSIONS[-1]), default_language="CYPHER_25"), True),
        (replace(FACTS, default_language="CYPHER_25"), False),
        (replace(FACTS, version="5.26.9999"), False),
    ],
)
def test_only_a_text_or_a_version_of_ones_own_is_checked_again(
    facts: ServerFacts, known: bool, without_explain: Any
) -> None:
    procedures = render_all(POLICIES[0].policy, facts)
    changed = {**procedures, "curate/plan": replace(procedures["curate/plan"], sections={"body": "// changed"})}
    database: Any = Asked()
    without_explain(database, changed, facts)
    if known:
        assert database.texts == ["// changed"]
    else:
        assert len(database.texts) > 150
        assert known_to_compile(facts) == frozenset()


@pytest.mark.parametrize("facts", [replace(FACTS, apoc="5.26.30"), NEWEST], ids=["5.26", "newest"])
def test_of_another_apoc_each_of_its_procedures_is_tried(facts: ServerFacts, without_explain: Any) -> None:
    """Its procedures could take or give something else: the shortest texts that call them all are checked again, no more."""
    procedures = render_all(POLICIES[0].policy, facts)
    database: Any = Asked()
    without_explain(database, procedures, facts)
    everything = "".join(text for each in procedures.values() for text in each.sections.values())
    called = {name for name in facts.callable if name.startswith("apoc.") and f"{name}(" in everything}
    assert len(called) > 6
    assert {name for name in called if any(f"{name}(" in text for text in database.texts)} == called
    assert len(database.texts) < 9
    assert sum(map(len, database.texts)) < 40_000


class Failing(Asked):
    """Refuses one statement, and keeps what is marked as passed."""

    def __init__(self, refused: str) -> None:
        super().__init__()
        self.refused = refused

    def autocommit(self, text: str) -> None:
        super().autocommit(text)
        if self.refused in text:
            from neo4j.exceptions import ClientError

            raise ClientError("no such function")


def test_what_has_passed_is_told_as_it_goes(without_explain: Any) -> None:
    """Whole procedures, each once; those after the one that fails aren't among them."""
    procedures = render_all(POLICIES[0].policy, FACTS)
    facts = replace(FACTS, version="5.26.9999")
    passed: list[str] = []
    counts: list[tuple[int, int]] = []

    def on_passed(procedures: list[Any], done: int, of: int) -> None:
        passed.extend(each.name for each in procedures)
        counts.append((done, of))

    without_explain(database := Asked(), procedures, facts, on_passed)  # type: ignore[arg-type]
    assert len(passed) == len({*passed}) > len(procedures) - 10
    assert counts == sorted(counts)
    assert counts[-1][0] <= counts[-1][1] == len(database.texts)
    passed.clear()
    one = next(name for name in sorted(procedures)[100:] if "body" in procedures[name].sections)
    with pytest.raises(JochiError, match=f"procedure {one}"):
        without_explain(Failing(as_doit_runs_it(procedures[one].sections["body"])), procedures, facts, on_passed)
    assert 80 < len(passed) <= sorted(procedures).index(one)


def test_what_calls_what_is_not_there_was_not_checked() -> None:
    text = "CALL apoc.cypher.doIt('RETURN 1', {}) YIELD value RETURN value"
    assert can_be_explained(text, FACTS)
    assert not can_be_explained(text, replace(FACTS, callable=frozenset()))
