"""The models without a server: kinds, types of properties, what is read-only, what a misspelt name does."""

from __future__ import annotations

import inspect
import runpy
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_args

import pytest
from neomodel import AsyncStructuredNode, StructuredNode
from neomodel.exceptions import DeflateError

import jochi_models
from jochi.graph.catalogue import ENGINE_OWNED, MOMENTS, OWNERS, is_moment
from jochi.policy import load_policy
from jochi.policy.model import PROTECTED_KINDS
from jochi_models import (
    Agent,
    Belief,
    EngineOwned,
    Fact,
    HeartbeatTask,
    Migration,
    Note,
    Source,
    Task,
    aio,
    words,
)
from jochi_models.properties import Owned, TypedProperty
from jochi_models.relationships import declared

DAY = timedelta(days=1)
NOW = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
REFERENCE = runpy.run_path(str(Path(__file__).parents[2] / "docs/models.py"))
KINDS = [kind for kind in REFERENCE["kinds"]() if issubclass(kind, jochi_models.Curated)]


def test_every_kind_of_the_shipped_policy_has_a_model_and_the_protected_ones_too() -> None:
    assert {kind.__name__ for kind in KINDS} == set(load_policy().policy.labels())
    assert {kind.__name__ for kind in REFERENCE["kinds"]()} - {kind.__name__ for kind in KINDS} == PROTECTED_KINDS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_labels_are_exactly_the_kind_and_curated(kind: Any) -> None:
    assert set(kind.inherited_labels()) == {kind.__name__, "Curated"}
    assert set(getattr(aio, kind.__name__).inherited_labels()) == {kind.__name__, "Curated"}


def test_protected_kinds_are_never_curated() -> None:
    for name in PROTECTED_KINDS:
        assert getattr(jochi_models, name).inherited_labels() == [name]
        assert getattr(aio, name).inherited_labels() == [name]


@pytest.mark.parametrize("kind", REFERENCE["kinds"](), ids=lambda kind: kind.__name__)
def test_sync_and_async_have_the_same_properties_and_relationships(kind: Any) -> None:
    other = getattr(aio, kind.__name__)
    assert issubclass(kind, StructuredNode)
    assert issubclass(other, AsyncStructuredNode)
    assert dict(kind.__all_properties__) == dict(other.__all_properties__)

    def shape(cls: Any) -> dict[str, Any]:
        return {
            name: (made.definition["relation_type"], made.definition["direction"], made._raw_class.rpartition(".")[2])
            for name, made in cls.__all_relationships__
        }

    assert shape(kind) == shape(other)
    assert set(shape(kind)) == set(declared(kind))
    other(), kind()  # both ends of every relationship can be found


@pytest.mark.parametrize("kind", REFERENCE["kinds"](), ids=lambda kind: kind.__name__)
def test_every_property_says_what_it_means_and_what_type_it_is(kind: Any) -> None:
    assert inspect.getdoc(kind)
    assert "seed" in inspect.getdoc(kind)
    for name, made in kind.__all_properties__:
        assert isinstance(made, TypedProperty), name
        assert made.meaning, name
        assert made.stored_type, name
        assert made.name == name
        # neomodel's schema installer makes something of any of these.
        assert not any((made.index, made.unique_index, made.fulltext_index, made.vector_index))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_moment_of_a_model_is_one_to_remember_too(kind: Any) -> None:
    """By its name: else a number or the year 1970 would get in unseen where no model looks."""
    links = [related.properties for related in declared(kind).values() if related.properties is not None]
    made = [*dict(kind.__all_properties__).items(), *(entry for link in links for entry in vars(link).items())]
    types = {
        name: one.stored_type for name, one in made if isinstance(one, TypedProperty) and not isinstance(one, Owned)
    }
    moments = {name for name, stored in types.items() if stored == "ZONED DATETIME"}
    assert {"created_at", "expires_at"} <= moments
    # The engine writes its own by itself; what is wrong with valid_from, the slot of the fact says.
    assert {name for name in types if is_moment(name)} == moments - {"valid_from"}


def test_the_names_of_moments_are_those_of_the_models() -> None:
    names = {name for kind in KINDS for name, _ in kind.__all_properties__}
    assert set(MOMENTS) <= names
    assert not any(name.endswith(("_at", "_until")) for name in MOMENTS)


SEEDS: set[tuple[str, str, str, str | None]] = {
    # seed 000, TTL Rules: "unless has LEARNED_FROM", "referenced by active Belief", "has Recommendation"
    ("Reflection", "LEARNED_FROM", "Task", None),
    ("Belief", "EVIDENCE", "Curated", None),
    ("Analysis", "EVIDENCE", "Curated", None),
    ("Synthesis", "EVIDENCE", "Curated", None),
    ("Recommendation", "EVIDENCE", "Curated", None),
    # seed 000, sessions
    ("MemoryEntry", "PART_OF", "SessionContext", None),
    ("CompressedContext", "PART_OF", "SessionContext", None),
    # seed 001, Enhanced CompressedContext Node
    ("CompressedContext", "SUMMARIZED_TO", "CompressedContext", "SummarizedTo"),
    ("CompressedContext", "FOLLOWS", "CompressedContext", None),
    # seed 002: sources, what they mention, its notes, storylines and macros
    ("Source", "mentions", "Curated", None),
    ("Source", "SUMMARIZED_TO", "SourceSummary", None),  # seed 002, Phase 1: its summary, a memory of its own
    ("Artifact", "mentions", "Curated", None),
    *((kind, "RELATED_TO", "Curated", "Semantic") for kind in ("Person", "Concept", "Entity")),
    *((kind, "HAS_NOTE", "Note", None) for kind in ("Person", "Concept", "Entity")),
    *((kind, "DESCRIBED_BY", "Description", None) for kind in ("Person", "Concept", "Entity")),
    ("Note", "ADDED_IN", "Source", None),
    ("Storyline", "about", "Curated", None),
    ("Storyline", "includes", "Source", None),
    ("Macro", "rooted_in", "Curated", None),
    ("Macro", "groups", "Storyline", None),
    # seed 003: memory boxes and traces, what replaces what, the multi-graph (entity, time, causal)
    ("Fact", "QUOTES", "Artifact", None),
    ("Fact", "IN_BOX", "MemoryBox", None),
    ("MemoryBox", "IN_TRACE", "Trace", None),
    ("Fact", "SUPERSEDES", "Fact", None),
    ("Fact", "MAY_REPLACE", "Fact", None),  # DESIGN §16
    *(("Fact", edge, "Fact", "Edge") for edge in ("SAME_ENTITY", "NEAR_IN_TIME", "CAUSED")),
}
"""Kind, type, kind at the other end (Curated: any), what the relationship carries: written down from the seeds."""


def test_the_relationships_are_those_of_the_seeds() -> None:
    leaving, arriving = set(), set()
    for kind in REFERENCE["kinds"]():
        for related in declared(kind).values():
            carried = None if related.properties is None else related.properties.__name__
            (arriving if related.incoming else leaving).add((kind.__name__, related.type, related.target, carried))
    assert leaving == SEEDS
    for kind_name, type, source, carried in arriving:
        assert any(
            (type, carried) == (there[1], there[3])
            and there[2] in (kind_name, "Curated")
            and source in (there[0], "Curated")
            for there in SEEDS
        ), (kind_name, type, source)


def test_the_engines_properties_are_all_there_and_all_read_only() -> None:
    hidden = {"tombstone", "deleted_at", "tombstone_labels"}
    hidden |= {"recall_frequency", "last_recall_interval", "decay_gradient"}  # of seed 002's kinds only
    hidden |= {"needs_consolidation"}  # of Reflection only
    properties = dict(Belief.__all_properties__)
    assert {name for name, made in properties.items() if isinstance(made, Owned)} == set(OWNERS) - hidden
    assert "tier" not in ENGINE_OWNED  # a file may carry it
    for name in set(OWNERS) - hidden:
        belief = Belief(content="x")
        with pytest.raises(EngineOwned, match=r"Belief: .* is written by") as raised:
            setattr(belief, name, None)
        assert raised.value.fix == OWNERS[name].instead
        with pytest.raises(EngineOwned, match="is written by"):
            Belief(**{name: 1})
        assert name not in belief._stored(new=True)


def test_a_wrong_name_is_an_error_with_the_right_one() -> None:
    with pytest.raises(TypeError, match="did you mean 'content'"):
        Belief(contnet="x")
    with pytest.raises(AttributeError, match="did you mean 'confidence'"):
        Belief().confidense = 1.0
    with pytest.raises(EngineOwned, match="made of scope and uid"):
        Belief().key = "a/b"  # type: ignore[assignment]
    with pytest.raises(EngineOwned, match="made of scope and uid"):
        Belief(key="a/b")


def test_defaults_are_made_for_each_object() -> None:
    first, second = Source(), Source()
    assert first.uid != second.uid
    assert len(first.uid) == 36
    assert first.created_at < second.created_at
    assert first.created_at.utcoffset() == timedelta(0)
    assert (first.state, first.salience, first.scope) == ("candidate", 0.5, "default")
    assert first.key == f"default/{first.uid}"
    assert Fact().state == "candidate"  # what an absent one counts as, so a fact begins alike whoever writes it
    assert Belief(uid="a", scope="s").key == "s/a"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("created_at", datetime(2026, 1, 1), "has no zone"),  # noqa: DTZ001
        ("expires_at", datetime(1989, 12, 31, tzinfo=timezone.utc), "before 1990"),
        ("expires_at", 1_700_000_000, "a datetime with a zone is expected"),
        ("expires_at", "2026-01-01T00:00:00Z", "a datetime with a zone is expected"),
        ("expires_at", date(2026, 1, 1), "a datetime with a zone is expected"),
        ("confidence", 1.01, "not between 0 and 1"),
        ("confidence", -0.01, "not between 0 and 1"),
        ("confidence", float("nan"), "not a finite number"),
        ("confidence", True, "a number is expected"),
        ("confidence", "0.5", "a number is expected"),
        ("pinned", "true", "True or False is expected"),
        ("pinned", 1, "True or False is expected"),
        ("state", "wonderful", "none of candidate"),
        ("content", 5, "a text is expected"),
        ("content", "half \ud800 a pair", "surrogate"),
        ("scope", "a/b", "holds '/'"),
        ("scope", " ", "is empty"),
        ("uid", "x" * 1001, "1001 characters"),
        ("uid", 7, "a text is expected"),
        ("access_tier", "public", "none of PUBLIC"),
    ],
)
def test_wrong_values_are_refused(name: str, value: object, told: str) -> None:
    belief = Belief(**{name: value})
    with pytest.raises(DeflateError, match=told):
        belief._stored(new=True)


def test_values_at_the_edge_are_taken() -> None:
    stored = Belief(
        confidence=1, importance=0.0, expires_at=datetime(1990, 1, 1, tzinfo=timezone.utc), uid="x" * 1000, state="core"
    )._stored(new=True)
    assert stored["confidence"] == 1.0
    assert isinstance(stored["confidence"], float)
    assert stored["importance"] == 0.0
    assert stored["id"] == "x" * 1000


def test_lists_hold_one_type() -> None:
    with pytest.raises(DeflateError, match="a text is expected"):
        Fact(tags=["a", 1])._stored(new=True)
    with pytest.raises(DeflateError, match="a list is expected"):
        Fact(tags="a")._stored(new=True)
    assert Fact(tags=("a", "b"))._stored(new=True)["tags"] == ["a", "b"]


def test_words_are_the_seeds() -> None:
    assert len(get_args(words.FactCategory)) == 11
    assert set(load_policy().policy.facts.protected_categories) <= set(get_args(words.FactCategory))
    assert get_args(words.AgentName) == ("kublai", "mongke", "chagatai", "temujin", "jochi", "ogedei")
    assert {"in_progress", "pending", "blocked"} <= set(get_args(words.TaskStatus))
    assert dict(Task.__all_properties__)["status"].words == get_args(words.TaskStatus)


def test_names_that_a_seed_and_the_engine_both_want() -> None:
    names = dict(HeartbeatTask.__all_properties__)
    assert isinstance(names["next_due"], Owned)
    assert not isinstance(names["task_next_due"], Owned)


def test_the_reference_page_is_what_the_models_say() -> None:
    page = Path(__file__).parents[2] / "docs/reference/models.md"
    begin, table, end = REFERENCE["parts"](page.read_text(encoding="utf-8"))
    assert table == REFERENCE["tables"](), "run `python docs/models.py docs/reference/models.md`"
    assert begin
    assert end is not None


def test_a_property_of_a_kind_of_ones_own() -> None:
    from neomodel import StringProperty

    class Hunch(Belief):
        """seed of nothing"""

        mood = StringProperty()

    assert Hunch(mood="good")._stored(new=True)["mood"] == "good"
    assert set(Hunch.inherited_labels()) == {"Hunch", "Belief", "Curated"}
    with pytest.raises(TypeError, match="mood"):
        Hunch(moood="x")


def test_plain_kinds_are_neomodels_own() -> None:
    assert Agent(name="kublai").name == "kublai"
    assert Migration(version="4").version == "4"
    assert Note(lifetime="week")._stored(new=True)["lifetime"] == "week"
