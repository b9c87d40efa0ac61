"""People, concepts and entities of sources in the graph (seed 002, Phase 2; docs/reference/extraction.md). What is found in a
text: tests/unit/test_extract.py."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.all_derivations import DERIVING
from tests.conftest import PolicyWith, say_go

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers import queue
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.extract import ExtractionOutput, Relation, Subpoint, Thing
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.handler import Row
from jochi_workers.models import Reply
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
EXTRACT = derivation("extract")


class Told(OfflineMaker):
    """Finds in each source what it is told to, by a word of its text."""

    def __init__(self, found: Mapping[str, ExtractionOutput]) -> None:
        super().__init__(EXTRACT, Estimate())
        self.found = found

    def make(self, row: Row) -> Reply[Any]:
        text = row["inputs"][0]["content"]
        return Reply(next((found for word, found in self.found.items() if word in text), ExtractionOutput()), 0, 0)


@pytest.fixture(scope="session")
def extracting(policy_with: PolicyWith) -> Any:
    return policy_with(DERIVING)


@pytest.fixture
def client(install_once: Any, extracting: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(extracting)
    say_go(ready)
    return ready


TEXTS = {
    "boat": "Anna Smith built a boat in Berlin. Anna Smith sold the boat. Anna Smith bought a sail. Berlin is far from the sea.",
    "bread": "Anna Smith bakes bread. Anna Smith burned the bread. Anna Smith likes rye.",
}


def thing(name: str, *texts: str, kind: Any = "Person", confidence: float = 9.0) -> Thing:
    return Thing(kind=kind, name=name, confidence=confidence, subpoints=tuple(Subpoint(text=text) for text in texts))


def sentences(word: str, name: str) -> list[str]:
    return [f"{each.strip()}." for each in TEXTS[word].split(".") if name in each]


BOAT = ExtractionOutput(
    things=(
        thing("Anna Smith", *sentences("boat", "Anna")),
        thing("Berlin", *sentences("boat", "Berlin"), "Anna Smith sold the boat.", kind="Entity"),
    ),
    relations=(Relation(of="Anna Smith", to="Berlin", type="built_in", note="Anna Smith built a boat in Berlin."),),
)
BREAD = ExtractionOutput(things=(thing("Anna Smith", *sentences("bread", "Anna")),))


def put(
    client: Jochi, word: str, day: int = 0, scope: str = "default", id: str | None = None, text: str | None = None
) -> None:
    row = {
        **{"kind": "Source", "id": id or word, "scope": scope, "content": text or TEXTS[word]},
        "properties": {"source_type": "text-note", "processing_status": "raw", "started_at": NOW + day * DAY},
    }
    client.remember([row], now=NOW, on_refused="raise")


def work(client: Jochi, found: Mapping[str, ExtractionOutput]) -> int:
    process = derivation("process")
    makers = [
        DeriveHandler(EXTRACT, Told(found), Estimate()),
        DeriveHandler(process, OfflineMaker(process, Estimate()), Estimate()),
    ]
    worker = Worker(client.engine, [PrepareHandler(Estimate()), *makers])
    worker.run(once=True)
    assert not worker.progress["extract"].failed, worker.progress["extract"].reasons
    run_job(client.engine, "count_mentions", now=datetime.now(timezone.utc) + DAY, drain=True)
    return worker.progress["extract"].done


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, {"now": NOW, **given})]


def counts(client: Jochi) -> dict[str, tuple[int, int]]:
    """By key how many sources, and on how many days."""
    text = (
        "MATCH (t:Curated) WHERE t:Person OR t:Concept OR t:Entity "
        "RETURN t.key AS key, t.source_count AS n, t.distinct_source_days AS days"
    )
    return {row["key"]: (row["n"], row["days"]) for row in run(client, text)}


def notes(client: Jochi) -> dict[str, list[str]]:
    """By name what is noted, of notes that live and haven't been ended."""
    text = (
        "MATCH (t:Curated)-[:HAS_NOTE]->(n:Curated:Note)-[:ADDED_IN]->(:Source) WHERE n.derived_ended_at IS NULL "
        "WITH t, n ORDER BY n.content RETURN t.name AS name, collect(n.content) AS said"
    )
    return {row["name"]: row["said"] for row in run(client, text)}


ANNA, BERLIN = "default/person:anna-smith", "default/entity:berlin"


def test_one_person_of_two_sources_with_notes_and_relations(client: Jochi) -> None:
    put(client, "boat")
    put(client, "bread", day=1)
    put(client, "bread", scope="bob")
    loud = ExtractionOutput(things=(thing("ANNA SMITH", *sentences("bread", "Anna")),))
    assert work(client, {"boat": BOAT, "bread": loud}) == 3
    assert counts(client) == {ANNA: (2, 2), BERLIN: (1, 1), "bob/person:anna-smith": (1, 1)}
    [anna] = [row["t"] for row in run(client, "MATCH (t:Curated {key: $key}) RETURN t {.*} AS t", key=ANNA)]
    assert anna["name"] in ("Anna Smith", "ANNA SMITH")
    assert {name: anna[name] for name in ("canonical_name", "confidence", "state", "salience", "is_dirty")} == {
        **{"canonical_name": "anna-smith", "confidence": 0.9, "state": "candidate"},
        **{"salience": 0.5, "is_dirty": True},
    }
    assert (anna["first_mentioned_at"], anna["last_mentioned_at"]) == (NOW, NOW + DAY)
    assert notes(client)["Berlin"] == sorted([*sentences("boat", "Berlin"), "Anna Smith sold the boat."])
    # One note for what is said of two things.
    assert run(client, "MATCH (n:Note {scope: 'default'}) RETURN count(n) AS n") == [{"n": 7}]
    [edge] = run(client, "MATCH (:Person)-[r:RELATED_TO]->(:Entity) RETURN r {.*} AS r")
    assert (edge["r"]["relationship_type"], edge["r"]["notes"]) == (
        "built_in",
        ["Anna Smith built a boat in Berlin."],
    )
    [status] = run(client, "MATCH (s:Source) RETURN collect(DISTINCT s.processing_status) AS said")
    assert status["said"] == ["extracted"]
    assert client.sources()[0] == {"extracted": 3}


@pytest.mark.parametrize(("confidence", "points", "kept"), [(7.0, 3, True), (6.99, 3, False), (7.0, 2, False)])
def test_what_is_unsure_or_hardly_spoken_of_is_left_out(
    client: Jochi, confidence: float, points: int, kept: bool
) -> None:
    put(client, "boat")
    found = ExtractionOutput(things=(thing("Anna Smith", *sentences("boat", "Anna")[:points], confidence=confidence),))
    assert work(client, {"boat": found}) == 1
    assert (ANNA in counts(client)) is kept


def test_what_sources_say_of_a_name_adds_up(client: Jochi) -> None:
    """By scope what its sources say of one name (kind, confidence, subpoints), and which of them mention it after each: what was
    there before the name was known does so, too."""
    weak, strong = ("Person", 5.0, 2), ("Person", 9.0, 3)
    cases: dict[str, tuple[Any, ...]] = {
        "enough": (weak, ("Person", 5.0, 1), [set(), {"0", "1"}]),
        "few": (("Person", 5.0, 1), ("Person", 5.0, 1), [set(), set()]),
        "unsure": (("Person", 3.0, 2), ("Person", 3.0, 2), [set(), set()]),
        "later": (("Person", 1.0, 0), strong, [set(), {"0", "1"}]),
        "earlier": (strong, ("Concept", 1.0, 1), [{"0"}, {"0", "1"}]),
        "alone": (weak, None, [set(), set()]),
    }
    said = ["Anna Smith built a boat.", "Anna Smith sold the boat.", "Anna Smith bought a sail."]
    for number in range(2):
        found: dict[str, ExtractionOutput] = {}
        for scope, case in cases.items():
            kind, confidence, points = case[number] or ("Person", 0.0, 0)
            things = (thing("Anna Smith", *said[:points], kind=kind, confidence=confidence),) if case[number] else ()
            found[f"{scope} {number}"] = ExtractionOutput(things=things)
            if number:  # read again, it says what it did
                first = case[0]
                found[f"{scope} 0"] = ExtractionOutput(
                    things=(thing("Anna Smith", *said[: first[2]], kind=first[0], confidence=first[1]),)
                )
            put(client, scope, number, scope, str(number), f"{scope} {number}. {' '.join(said)}")
        work(client, found)
        mentioned: dict[str, set[str]] = {scope: set() for scope in cases}
        for row in run(
            client, "MATCH (s:Curated:Source)-[:mentions]->(t:Person) RETURN s.scope AS scope, collect(s.id) AS ids"
        ):
            mentioned[row["scope"]] = set(row["ids"])
        assert mentioned == {scope: case[2][number] for scope, case in cases.items()}
    [anna] = run(client, "MATCH (t:Person {scope: 'enough'}) RETURN t.confidence AS confidence, t.source_count AS n")
    assert anna == {"confidence": 0.75, "n": 2}
    kept = "MATCH (s:Curated:Source {scope: $scope}) WHERE s.name_terms CONTAINS 'anna' RETURN s.id AS id ORDER BY id"
    assert [row["id"] for row in run(client, kept, scope="enough")] == ["0", "1"]
    # What was kept of a forgotten text goes with it, and so does what is forgotten of a text.
    client.forget(Request(keys=("alone/0",)), verify=True)
    client.forget(Request(phrase="Anna Smith", scope="few", unsure="whole"), verify=True)
    assert not run(client, kept, scope="alone") + run(client, kept, scope="few")
    put(client, "alone", 2, "alone", "2", f"alone 2. {' '.join(said)}")
    work(client, {"alone 2": ExtractionOutput(things=(thing("Anna Smith", said[0], confidence=5.0),))})
    assert "alone/person:anna-smith" not in counts(client)


def test_made_again_it_is_what_it_would_have_been_at_once(client: Jochi) -> None:
    """Another text, other things: what is no more mentioned is counted less, notes end, and what a person wrote stays."""
    put(client, "boat")
    put(client, "bread", day=1)
    work(client, {"boat": BOAT, "bread": BREAD})
    before = run(client, "MATCH (n:Note) RETURN n.key AS key, n.created_at AS at ORDER BY key")
    queue.want(client.engine, "extract", ["default/boat"])
    assert work(client, {"boat": BOAT, "bread": BREAD}) == 1
    assert run(client, "MATCH (n:Note) RETURN n.key AS key, n.created_at AS at ORDER BY key") == before
    assert counts(client) == {ANNA: (2, 2), BERLIN: (1, 1)}
    run(
        client,
        "MATCH (n:Note {content: 'Berlin is far from the sea.'}) "
        "SET n.content = 'Berlin is near the sea.', n.prepare_due = $now",
    )
    run(
        client,
        "MATCH (s:Source {id: 'boat'}) SET s.content = 'The boat of Anna Smith. ' + s.content, s.prepare_due = $now",
    )
    fewer = ExtractionOutput(things=(thing("Anna Smith", *sentences("boat", "Anna")),))
    assert work(client, {"boat": fewer, "bread": BREAD}) == 1
    assert counts(client) == {ANNA: (2, 2), BERLIN: (0, 0)}
    assert notes(client)["Berlin"] == [
        "Anna Smith built a boat in Berlin.",
        "Anna Smith sold the boat.",
        "Berlin is near the sea.",
    ]


def test_forgetting_a_source_takes_what_only_it_told_of(client: Jochi) -> None:
    put(client, "boat")
    put(client, "bread", day=1)
    client.remember(
        [
            {
                "kind": "Person",
                "id": "owner",
                "content": "Olga",
                "properties": {"name": "Olga", "is_owner": True},
                "relationships": [{"type": "mentions", "to": "boat", "direction": "in"}],
            }
        ],
        now=NOW,
    )
    work(client, {"boat": BOAT, "bread": BREAD})
    client.forget(Request(keys=("default/boat",)), verify=True)
    work(client, {"boat": BOAT, "bread": BREAD})
    assert counts(client) == {ANNA: (1, 1), "default/owner": (0, 0)}
    assert notes(client) == {"Anna Smith": sorted(sentences("bread", "Anna"))}
    assert (
        run(
            client,
            # Jobs and policies, also those of other tests, may have a time zone of that name.
            "MATCH (n) WHERE NOT n:JochiJob AND NOT n:JochiPolicy "
            "AND any(name IN keys(n) WHERE toStringOrNull(n[name]) CONTAINS 'Berlin') RETURN n.key AS key",
        )
        == []
    )


def test_what_a_source_noted_of_a_relationship_goes_with_it(client: Jochi) -> None:
    again = ExtractionOutput(
        things=(
            *BREAD.things,
            thing(
                "Berlin",
                "Anna Smith bakes bread.",
                "Anna Smith likes rye.",
                "Anna Smith burned the bread.",
                kind="Entity",
            ),
        ),
        relations=(Relation(of="Anna Smith", to="Berlin", type="built_in", note="Anna Smith bakes bread."),),
    )
    put(client, "boat")
    put(client, "bread", day=1, text=TEXTS["bread"] + " Berlin.")
    work(client, {"boat": BOAT, "bread": again})
    said = "MATCH (:Person)-[r:RELATED_TO]->(:Entity) RETURN r.notes AS notes, r.note_sources AS sources"
    [row] = run(client, said)
    assert dict(zip(row["sources"], row["notes"], strict=True)) == {
        "default/boat": "Anna Smith built a boat in Berlin.",
        "default/bread": "Anna Smith bakes bread.",
    }
    client.forget(Request(keys=("default/boat",)), verify=True)
    assert run(client, said) == [{"notes": ["Anna Smith bakes bread."], "sources": ["default/bread"]}]
    # Said no more, it is noted no more.
    run(client, "MATCH (s:Source {id: 'bread'}) SET s.content = 'Well. ' + s.content, s.prepare_due = $now")
    work(client, {"bread": BREAD})
    assert run(client, said) == []


def test_forgetting_a_person_leaves_the_rest_of_the_text(client: Jochi) -> None:
    put(client, "boat")
    work(client, {"boat": BOAT})
    client.forget(Request(phrase="Berlin", scope="default"), verify=True)
    rest = ExtractionOutput(
        things=(
            thing("Anna Smith", "Anna Smith sold the boat.", "Anna Smith bought a sail.", "Anna Smith sold the boat. "),
        )
    )
    work(client, {"boat": rest})
    [source] = run(client, "MATCH (s:Curated:Source) RETURN s.content AS said")
    assert "Berlin" not in source["said"]
    assert "sail" in source["said"]
    assert set(counts(client)) <= {ANNA}


def test_a_source_that_is_pruned_counts_no_more_and_again_once_it_is_back(client: Jochi) -> None:
    put(client, "boat")
    put(client, "bread", day=1)
    work(client, {"boat": BOAT, "bread": BREAD})
    run(
        client,
        "MATCH (s:Source {id: 'bread'}) SET s.expires_at = $now - duration('P1D'), s.next_due = $now - duration('P1D'), "
        "s.created_at = $now - duration('P90D')",
    )
    run_job(client.engine, "curate_due", now=NOW)
    work(client, {})
    assert counts(client)[ANNA] == (1, 1)
    client.restore(["default/bread"])
    work(client, {"bread": BREAD})
    assert counts(client)[ANNA] == (2, 2)


def test_undo_takes_back_all_that_no_other_source_tells_of(client: Jochi) -> None:
    related = (
        "MATCH (:Person)-[r:RELATED_TO]->(:Entity) WITH r ORDER BY r.relationship_type "
        "RETURN r.relationship_type AS type, r.notes AS notes"
    )
    put(client, "boat")
    work(client, {"boat": BOAT})
    of_boat = run(client, related)
    # What the app has noted, and what it has related itself, is its own.
    run(
        client,
        "MATCH (a:Person)-[r:RELATED_TO]->(b:Entity) SET r.notes = ['She rows.'] + r.notes, r.note_sources = [''] + r.note_sources "
        "CREATE (a)-[:RELATED_TO {relationship_type: 'likes'}]->(b)",
    )
    app = {
        "kind": "Source",
        "id": "diary",
        "content": "About Anna.",
        "relationships": [{"type": "mentions", "to_key": ANNA}],
    }
    client.remember([app], now=NOW, on_refused="raise")
    [row] = run(client, "MATCH (a:CurationAudit {rule: 'derive.extract'}) RETURN DISTINCT a.run AS run")
    undone = client.undo(row["run"])
    run_job(client.engine, "count_mentions", now=datetime.now(timezone.utc) + DAY, drain=True)
    [source] = run(client, "MATCH (s:Curated:Source {id: 'boat'}) RETURN s.processing_status AS said")
    assert source["said"] == "processed"
    assert notes(client) == {}
    assert counts(client) == {ANNA: (1, 1)}
    of_app = [{"type": "built_in", "notes": ["She rows."]}, {"type": "likes", "notes": None}]
    assert run(client, related.replace("(:Entity)", "()")) == of_app
    # And there again.
    client.undo(undone.run)
    run_job(client.engine, "count_mentions", now=datetime.now(timezone.utc) + DAY, drain=True)
    assert counts(client) == {ANNA: (2, 1), BERLIN: (1, 1)}
    assert len(notes(client)["Anna Smith"]) == 3
    of_both = [{"type": "built_in", "notes": ["She rows.", *of_boat[0]["notes"]]}, of_app[1]]
    assert run(client, related) == of_both
    [moment] = run(client, "RETURN datetime.statement() AS at")
    # Found otherwise from another text, and that taken back as well.
    run(client, "MATCH (s:Source {id: 'boat'}) SET s.content = 'Well. ' + s.content, s.prepare_due = $now")
    work(client, {"boat": ExtractionOutput(things=BOAT.things)})
    assert run(client, related) == of_app
    client.undo(moment["at"])
    assert run(client, related) == of_both
