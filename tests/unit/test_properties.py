"""The catalogue of properties is whole: no statement writes what isn't in it, and what stands elsewhere says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.test_rendering_templates import SERVER

from jochi.compile.rendering import render_all, render_for_label
from jochi.compile.writes import writes_on_nodes
from jochi.database.statements import procedures_folder
from jochi.graph import catalogue
from jochi.graph.catalogue import MEMORY, OF_EDGES, OF_MERGES, OF_PAIRS, is_moment, named
from jochi.policy import LoadedPolicy, load_policy
from jochi.policy.rules import TIERS

ROOT = Path(__file__).parents[2]
POLICIES = [load_policy(), load_policy(ROOT / "tests" / "policy.toml")]
NAMES = {each.name for each in MEMORY}
OF_THE_DEMO = {"demo_tier"}
"""The demonstration holds back tiers of memories that it has made itself."""


def texts(policy: LoadedPolicy) -> Iterator[tuple[str, str]]:
    """Every text that is ever run, by its name."""
    for name, procedure in render_all(policy.policy, SERVER).items():
        yield name, procedure.text
    for path in sorted(procedures_folder().glob("*/*.cypher")):
        yield path.stem, path.read_text()
    for path in sorted(procedures_folder().glob("*/*.label.j2")):
        name = f"{path.parent.name}/{path.name.removesuffix('.label.j2')}"
        yield name, render_for_label(name, "Ticket", properties=["no"], unique=True, required=True, type="STRING")


@pytest.mark.parametrize("policy", POLICIES, ids=["shipped", "tests"])
def test_no_statement_writes_a_property_that_is_not_in_the_catalogue(policy: LoadedPolicy) -> None:
    contents = set(policy.policy.content_names())
    known = NAMES | {*OF_EDGES, *OF_PAIRS, *OF_MERGES} | contents | OF_THE_DEMO
    written = {name: writes_on_nodes(text) for name, text in texts(policy)}
    assert {name: found - known for name, found in written.items() if found - known} == {}
    # And what the engine says that it writes it does write, by name: what isn't there was read past.
    by_value = {"tombstone", "needs_consolidation", "derived_marks"}  # `SET m[flag] = …`, `SET m += r.properties`
    assert {each.name for each in MEMORY if each.owner} - set().union(*written.values()) <= by_value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MATCH (m:Curated) SET m.odd = 1, m.tier = 'HOT'", {"odd", "tier"}),
        ("MATCH (m) REMOVE m.odd, m:Curated", {"odd"}),
        ("MERGE (m:Curated {key: $key}) ON CREATE SET m.odd = {a: 1}.a", {"key", "odd"}),
        ("CREATE (:Curated:Note {odd: {a: 1}.a, even: [x IN [1] | x]})", {"odd", "even"}),
        ("MATCH (m:Curated) SET m += {odd: CASE WHEN m:Note THEN 1 END, even: 2}", {"odd", "even"}),
        ("MATCH (m:Curated) WITH m, {odd: 1} AS changes SET m += changes", {"odd"}),
        (
            "MATCH (m:Curated) FOREACH (x IN CASE WHEN any(a IN [1] WHERE a > 0) THEN [m] ELSE [] END | SET x.odd = 1)",
            {"odd"},
        ),
        ("MATCH (m:Curated)-[r:LIKES]->(:JochiSlot) UNWIND [{m: m}] AS row WITH row.m AS x SET x.odd = 1", {"odd"}),
        ("MATCH (a)-[x:LIKES]->(b) SET x.fine = 1 WITH a AS x SET x.odd = 1", {"odd"}),
        ("CREATE (j:JochiJob {fine: 1}) SET j.fine = 'SET m.odd = 1' // SET m.odd = 2", set()),
        (
            "MATCH (j:JochiJob) FOREACH (x IN CASE WHEN [n IN [1] | n] = [] THEN [j] ELSE [] END | SET x.fine = 1)",
            set(),
        ),
        ("MATCH (a)-[r:LIKES*1..1]->(b) SET r.fine = 1", set()),
        ("WITH COLLECT { MATCH (j:JochiJob) RETURN j } AS all_of FOREACH (x IN all_of | SET x.fine = 1)", set()),
        ("WITH COLLECT { MATCH (j:Note) RETURN j } AS all_of FOREACH (x IN all_of | SET x.odd = 1)", {"odd"}),
    ],
)
def test_writes_are_read_from_a_text(text: str, found: set[str]) -> None:
    assert writes_on_nodes(text) == found


def test_a_newborn_has_in_cypher_what_it_has_in_python() -> None:
    text = render_all(POLICIES[0].policy, SERVER)["enrol/write"].text
    assert set(re.findall(r"^ +(\w+): ", text.split("SET m += {")[1].split("\n  }")[0], re.MULTILINE)) == set(
        named(mark="newborn")
    )


def test_what_is_indexed_of_memories_is_in_the_catalogue() -> None:
    made = "\n".join(path.read_text() for path in (ROOT / "schema").glob("*.cypher"))
    indexed = set(re.findall(r"\b[mt]\.(\w+)", made))
    assert indexed
    assert indexed <= NAMES


def test_each_name_is_there_once_and_of_a_type_that_its_name_says() -> None:
    assert len(NAMES) == len(MEMORY)
    assert {each.name for each in MEMORY if each.type == "moment" and each.owner is None} - {"superseded_at"} == {
        each.name for each in MEMORY if each.owner is None and is_moment(each.name)
    } - {"superseded_at"}
    assert catalogue.CHOICES["tier"] == TIERS
