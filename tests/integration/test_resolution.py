"""Who may be who: names that are alike are flagged, and a person decides (seed 002, Entity Resolution;
docs/reference/extraction.md). That each is found by the other: tests/property/test_names_found.py."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PolicyWith, say_go
from tests.duplicate_pairs import at_cosine
from tests.integration.test_extraction import put, run, thing, work

from jochi import Jochi
from jochi.database.database import in_one_map
from jochi.forgetting import VARIABLE
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive.extract import ExtractionOutput
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue
from jochi_workers.resolve import ResolveHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)


@pytest.fixture(scope="session")
def resolving(policy_with: PolicyWith) -> Any:
    return policy_with("[derive.extract]\nderiving = true\n[duplicates]\nkinds = ['Person']\nflags = 3")


@pytest.fixture
def client(install_once: Any, resolving: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(resolving)
    say_go(ready)
    return ready


Name = tuple[str, str]
"""Id and name."""


def row(id: str, name: str, kind: str, scope: str) -> dict[str, Any]:
    return {"kind": kind, "id": id, "scope": scope, "content": name, "properties": {"name": name}}


def known(client: Jochi, names: Iterable[Name], kind: str = "Person", scope: str = "default", **said: Any) -> None:
    """People (or other things) of these names, and all is resolved."""
    client.remember([row(*name, kind, scope) | said for name in names], now=NOW, on_refused="raise")
    resolve(client)


def resolve(client: Jochi) -> int:
    worker = Worker(client.engine, [PrepareHandler(Estimate()), ResolveHandler()])
    worker.run(once=True)
    assert not worker.progress["resolve"].failed
    return worker.progress["resolve"].done


def pairs(client: Jochi, scope: str | None = None) -> dict[tuple[str, str], str]:
    """By both keys without the scope the reason, of those that wait for a person, else the decision."""
    text = (
        "MATCH (a:Curated)-[r:SIMILAR_TO]->(b:Curated) WHERE $scope IS NULL OR a.scope = $scope "
        "RETURN a.id AS one, b.id AS other, coalesce(r.decision, r.reasons[0]) AS why, r.merge_due IS NOT NULL AS due"
    )
    found = run(client, text, scope=scope)
    assert not [row for row in found if row["due"] and row["why"] != "approved"], "merged by itself"
    return {(row["one"], row["other"]): row["why"].removeprefix("name:") for row in found}


ALIKE = [
    ("distance", "Person", "Katherine Jones", "Katharine Jones"),
    ("distance", "Entity", "Bundesverfassungsgericht", "Bunvesverfassungsgerihct"),
    ("distance", "Entity", "Zuckerberg", "Zukkerburg"),
    ("distance", "Entity", "Wolkenkuckucksheimer", "Woolkenkuckuckshoimar"),
    ("distance", "Concept", "Notepad++ Plugins", "Notepad++ Plagins"),
    ("distance", "Concept", "Machine Learning", "Machinelearning"),
    ("part", "Person", "Maria Lopez", "Maria Elena Lopez"),
    ("script", "Person", "Анна Кузнецова", "Anna Kuznetsova"),
    ("script", "Entity", "Cité Zoé", "Cite Zoe"),
    ("same", "Person", "Dr. Anna Ross", "Anna Ross"),
    ("same", "Person", 'AND OR "NOT" (a:b)~2^3 [x TO y] \\ /re/ +- && || ! {z} *?', "and or not a:b 2 3 x to y re z"),
    (None, "Person", "Anna Ross", "Hanna Ross"),
    (None, "Person", "Ivan Petrov", "Peter Quill"),
    (None, "Entity", "North Station", "South Station"),
    (None, "Concept", "+++", "---"),
]


def test_names_that_are_alike_are_flagged_in_their_scope_and_kind_alone(client: Jochi) -> None:
    for letter in "ab":
        rows = []
        for number, (_, kind, one, other) in enumerate(ALIKE):
            # The same names elsewhere, and as another kind, are others.
            rows += [row("a", one, kind, f"s{number}"), row("a", one, kind, f"t{number}")] if letter == "a" else []
            odd = "Concept" if kind != "Concept" else "Entity"
            rows += [row("b", other, kind, f"s{number}"), row("c", other, odd, f"s{number}")] if letter == "b" else []
        client.remember(rows, now=NOW, on_refused="raise")
        resolve(client)
    expected = {f"s{number}": why for number, (why, *_) in enumerate(ALIKE) if why}
    text = "MATCH (a)-[r:SIMILAR_TO]->(b) RETURN a.scope AS scope, collect([a.id, b.id, r.reasons, r.verdict]) AS said"
    found = {row["scope"]: row["said"] for row in run(client, text)}
    assert found == {scope: [["a", "b", [f"name:{why}"], "flag"]] for scope, why in expected.items()}
    assert resolve(client) == 0  # nothing is looked at again by itself
    [listed] = client.duplicates(scope="s0").pairs
    assert (listed.left, listed.right, listed.verdict) == ("s0/a", "s0/b", "flag")
    assert 0.9 < listed.score < 1.0


def test_a_name_of_many_words_that_many_are_like_is_compared(client: Jochi) -> None:
    """Each fuzzy word is up to fifty for Lucene, which refuses more than 1,024 of them."""
    letters = "abcdefghijklmnopqrstuvwxyzабвгдежзиклмнопрстуфхцчшщыэюя"
    words = [f"word{each}" for each in letters]
    known(client, [(f"n{n}", " ".join(words[n : n + 32])) for n in range(0, 24, 3)], "Concept")
    [row] = Queue(client.engine, "resolve").peek("default/n0").rows
    assert "default/n21" in {each["key"] for each in row["candidates"]}


def test_a_name_that_has_changed_is_compared_anew(client: Jochi) -> None:
    known(client, [("a", "Katherine Jones"), ("b", "Katharine Jones"), ("c", "Roberta Novak")])
    assert pairs(client) == {("a", "b"): "distance"}
    run(client, "MATCH (m {id: 'b'}) SET m.content = 'Robertta Novak', m.name = 'Robertta Novak', m.prepare_due = $now")
    resolve(client)
    assert pairs(client) == {("b", "c"): "distance"}


@pytest.mark.parametrize(("cosine", "flagged"), [(0.76, True), (0.74, False)])
def test_names_of_one_meaning_are_flagged_above_the_seeds_cosine(client: Jochi, cosine: float, flagged: bool) -> None:
    embedding = client.policy.policy.embedding

    def vector(cosine: float) -> dict[str, Any]:
        return {"embedding": at_cosine(cosine, embedding.dimensions), "embedding_model": embedding.model}

    known(client, [("a", "Big Apple")], "Entity", **vector(1.0))
    known(client, [("b", "New York")], "Entity", **vector(cosine))
    known(client, [("b", "New York")], "Entity", scope="other", **vector(cosine))
    assert pairs(client) == ({("a", "b"): "meaning"} if flagged else {})


def test_a_first_name_waits_until_one_person_alone_has_it(client: Jochi) -> None:
    known(client, [("anna", "Anna")])
    assert pairs(client) == {}
    known(client, [("smith", "Anna Smith")])
    assert pairs(client) == {("anna", "smith"): "part"}
    known(client, [("jones", "Anna Jones")])
    assert pairs(client) == {}  # taken back: it may be either
    known(client, [("bo", "Bo Smith"), ("bo1", "Bo")])
    assert pairs(client) == {("bo", "bo1"): "part"}
    client.decide_duplicates([("default/bo", "default/bo1")], "rejected", by="test")
    run(client, "MATCH (m:Person) SET m.resolve_due = $now")
    resolve(client)
    assert pairs(client) == {("bo", "bo1"): "rejected"}
    # Nor with the next one who alone has it.
    run(client, "MATCH (m:Curated {id: 'bo'}) REMOVE m:Curated:Person SET m:Tombstone, m.tombstone = true")
    known(client, [("bo2", "Bo Jones")])
    assert pairs(client) == {}


@pytest.mark.parametrize("cosine", [0.99, pytest.param(0.9, marks=pytest.mark.exhaustive), 0.1])
def test_only_a_person_decides_and_it_stays(client: Jochi, cosine: float) -> None:
    """Also where near duplicates among people are looked for."""
    embedding = client.policy.policy.embedding
    said = {"embedding_model": embedding.model}
    known(client, [("a", "Katherine Jones")], embedding=at_cosine(1.0, embedding.dimensions), **said)
    known(client, [("b", "Katharine Jones")], embedding=at_cosine(cosine, embedding.dimensions), **said)
    for decision in (None, "rejected"):
        if decision:
            client.decide_duplicates([("default/a", "default/b")], decision, by="test")
        run(client, "MATCH (m:Person) SET m.resolve_due = $now, m.similar_due = $now")
        run_job(client.engine, "find_duplicates", now=datetime.now(timezone.utc), drain=True)
        assert resolve(client) == 2
        run_job(client.engine, "merge_duplicates", now=datetime.now(timezone.utc), drain=True)
        assert pairs(client) == {("a", "b"): decision or "distance"}


SOURCES = {
    "boat": "Katherine Jones built a boat. Katherine Jones sold the boat. Katherine Jones bought a sail.",
    "bread": "Katharine Jones bakes bread. Katharine Jones burned the bread. Katharine Jones likes rye.",
    "tea": "{name} drinks tea. {name} grows tea. {name} pours tea.",
}


def told(text: str) -> ExtractionOutput:
    name = " ".join(text.split()[:2])
    return ExtractionOutput(things=(thing(name, *(f"{each.strip()}." for each in text.split(".") if each)),))


def test_a_pair_that_a_person_approves_is_one_from_then_on(client: Jochi) -> None:
    """Merged with all that hangs on it, counted right, found by its other name, and two again by unmerge."""

    def read(*words: str, name: str = "") -> dict[str, Any]:
        texts = {word: text.format(name=name) for word, text in SOURCES.items()}
        for day, word in enumerate(words):
            put(client, word, day=day, text=texts[word])
        work(client, {word: told(text) for word, text in texts.items()})
        resolve(client)
        text = (
            "MATCH (p:Curated:Person) RETURN p.id AS id, p.source_count AS sources, p.distinct_source_days AS days, "
            "COUNT { (p)-[:HAS_NOTE]->(:Note) } AS notes, COUNT { (p)-[:RELATED_TO]->() } AS related"
        )
        return {row.pop("id"): tuple(row.values()) for row in run(client, text)}

    a, b = "person:katherine-jones", "person:katharine-jones"
    assert read("boat", "bread") == {a: (1, 1, 3, 0), b: (1, 1, 3, 0)}
    assert pairs(client) == {(b, a): "distance"}
    run_job(client.engine, "merge_duplicates", now=datetime.now(timezone.utc), drain=True)
    place = (
        "MATCH (p:Person {id: $id}) CREATE (p)-[:RELATED_TO {relationship_type: 'at'}]->"
        "(:Curated:Entity {key: 'default/x', scope: 'default', id: 'x'})"
    )
    run(client, place, id=b)
    [decided] = client.decide_duplicates([(f"default/{a}", f"default/{b}")], "approved", by="test")
    assert decided.outcome == "approved"
    later = datetime.now(timezone.utc) + timedelta(days=2)  # the grace of what is new holds here, too
    merged = run_job(client.engine, "merge_duplicates", now=later, drain=True)
    assert sum(batch.changed for batch in merged) == 1, merged
    [survivor] = run(client, "MATCH (p:Curated:Person) RETURN p.id AS id")
    gone = b if survivor["id"] == a else a
    run_job(client.engine, "count_mentions", now=later, drain=True)
    assert read() == {survivor["id"]: (2, 2, 6, 1)}
    # A text that knows it by its other name tells of it.
    assert read("tea", name={a: "Katherine Jones", b: "Katharine Jones"}[gone]) == {survivor["id"]: (3, 2, 9, 1)}
    [back] = client.unmerge([f"default/{gone}"])
    assert back.outcome == "unmerged"
    run_job(client.engine, "count_mentions", now=later, drain=True)
    found = read()
    assert {found[a][0], found[b][0]} == {1, 2}
    assert found[b][3] + found[a][3] == 1
    assert found[b][3] == 1
    assert pairs(client) == {(b, a): "rejected"}


@pytest.mark.slow
def test_a_thousand_of_one_first_name_stay_bounded(client: Jochi) -> None:
    letters = "bcdfghjklmnpqrstvwxz"
    names = [f"Anna {x}a{y}e{z}u" for x in letters for y in letters for z in letters][:1000]
    known(client, [(f"p{n}", name) for n, name in enumerate(names)], scope="many")
    known(client, [("anna", "Anna")], scope="many")
    [most] = run(client, "MATCH (p:Person) RETURN max(COUNT { (p)-[:SIMILAR_TO]-() }) AS n, count(p) AS people")
    assert most["people"] == 1001
    assert most["n"] == 3
    assert not [pair for pair in pairs(client) if "anna" in pair]
    [row] = Queue(client.engine, "resolve").peek("many/anna").rows
    assert len(row["full_names"]) == 2
    run(client, "MATCH (p:Person {id: 'p7'}) SET p.resolve_due = $now")
    batch = Queue(client.engine, "resolve").lease()
    [row] = batch.rows
    assert 20 <= len(row["candidates"]) <= 23
    works = [{"id": "resolve/many/p7", "key": "many/p7"}]
    result = {
        **{name: row[name] for name in ("key", "content", "terms")},
        **ResolveHandler().handle([row]).done[0].values,
    }
    with client.database.driver.session() as session:
        for step, asked in {
            "want": {"limit": 10},
            "inputs": {"works": works, "most_characters": 99},
            "store": {"token": batch.token, "results": [result]},
        }.items():
            given = in_one_map({"now": NOW, "derivation": "resolve", **asked})
            text = client.engine.text("derive/want" if step == "want" else f"derive/resolve/{step}")
            profile = session.run("PROFILE " + text, given).consume().profile
            scans, hits = _scans_and_hits(profile)
            assert not scans, step
            assert hits < 3_000, (step, hits)


def _scans_and_hits(plan: Any) -> tuple[set[str], int]:
    operator, hits = plan["operatorType"], plan.get("dbHits", 0)
    scans = (
        {operator}
        if any(scan in operator for scan in ("AllNodesScan", "LabelScan", "TypeScan", "IndexScan"))
        else set()
    )
    for child in plan.get("children", []):
        more, further = _scans_and_hits(child)
        scans, hits = scans | more, hits + further
    return scans, hits
