"""Relationships, declared once for the synchronous and the asynchronous models, and the types of their properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from typing_extensions import Self

from jochi_models.properties import (
    BooleanProperty,
    ChoiceProperty,
    FloatProperty,
    IntegerProperty,
    ListProperty,
    TextProperty,
    ZonedDateTimeProperty,
)
from jochi_models.words import LifeState, TtlPolicy

M = TypeVar("M", covariant=True)


class _Manages(Protocol[M]):
    @property
    def _manager(self) -> M: ...


class Related:
    """A relationship of a kind: its type and direction as stored, the kind at the other end, the type of its properties.

    On an object it is neomodel's relationship manager (`connect`, `all`, `is_connected`, …), which also sees to it that both
    ends are live and are looked at again.
    """

    def __init__(
        self,
        meaning: str,
        type: str,
        target: str = "Curated",
        *,
        incoming: bool = False,
        properties: type[RelationshipProperties] | None = None,
    ) -> None:
        self.meaning = meaning
        self.type = type
        self.target = target
        self.incoming = incoming
        self.properties = properties
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: Any = None) -> Self: ...
        @overload
        def __get__(self, instance: _Manages[M], owner: Any = None) -> M: ...
        def __get__(self, instance: Any, owner: Any = None) -> Any: ...


class RelationshipProperties:
    """What a relationship carries. The class that neomodel hands out is made of this one and its own."""


_MODELS: dict[tuple[type, type], Any] = {}


def relationship_model(properties: type[RelationshipProperties] | None, base: type) -> Any:
    """The relationship class of one world: ``base`` is its LiveRelationship. One for each type."""
    if properties is None:
        return None
    if (properties, base) not in _MODELS:
        _MODELS[properties, base] = type(properties.__name__, (properties, base), {"__module__": properties.__module__})
    return _MODELS[properties, base]


def declared(cls: type) -> dict[str, Related]:
    """The relationships of a kind by attribute name, those of its bases first."""
    return {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, Related)
    }


class SummarizedTo(RelationshipProperties):
    """Seed 001, Enhanced CompressedContext Node."""

    compression_ratio = FloatProperty("size of the summary by the size of what it sums up", least=0)


class Edge(RelationshipProperties):
    """An edge of the multi-graph (seed 003, Graph Edge Lifecycle). Without a confidence it counts as 1.0."""

    confidence = FloatProperty("how sure the link is; time takes from it, Jochi.reinforce adds to it", least=0, most=1)
    weight = FloatProperty("how much recall takes along; 1.0 without", least=0)
    created_at = ZonedDateTimeProperty("when it was made; give it, so that time counts")
    last_reinforced_at = ZonedDateTimeProperty(
        "when it was last observed again, moved on by the windows that time has charged"
    )


class Semantic(RelationshipProperties):
    """What one person, concept or entity is to another (seed 002, Agent-based semantic updates, Memory Lifecycle).

    Time and `Jochi.reinforce` change what it says of its life, as with memories (docs/reference/edges.md).
    """

    relationship_type = TextProperty("what the one is to the other, in the app's words")
    attitude = TextProperty("how the one feels about the other")
    proximity = TextProperty("how close they are")
    description = TextProperty("one sentence about it, made anew from the notes")
    is_dirty = BooleanProperty("notes were added since the description was made")
    confidence = FloatProperty("certainty of the extraction; a candidate below 0.8 falls faster", least=0, most=1)
    ttl_policy = ChoiceProperty[TtlPolicy]("keep_forever, ephemeral (90 days) or decay", TtlPolicy)
    salience = FloatProperty(
        "how present it is; falls from `salience_at` on, Jochi.reinforce adds to it", least=0, most=1
    )
    salience_at = ZonedDateTimeProperty("since when `salience` holds")
    state = ChoiceProperty[LifeState]("candidate, active after the first use, core after ten, archived", LifeState)
    archived_at = ZonedDateTimeProperty("when it was archived")
    access_count = IntegerProperty("uses that count", least=0)
    last_accessed_at = ZonedDateTimeProperty("last use")
    prev_accessed_at = ZonedDateTimeProperty("the use before")
    recall_frequency = IntegerProperty("times it was used", least=0)
    last_recall_interval = FloatProperty("days between the last two uses", least=0)
    decay_gradient = FloatProperty("spacing effect; 1.0 at first, never below 0.5", least=0.5)
    added_by = TextProperty("who wrote it")
    source_id = TextProperty("key of the Source that it was read from")
    created_at = ZonedDateTimeProperty("when it was written")
    updated_at = ZonedDateTimeProperty("when it was last changed")
    relation_embedding = ListProperty[float]("vector of type, attitude and proximity", FloatProperty(""))
    notes_embedding = ListProperty[float]("vector of the notes, of 1,000 characters at most", FloatProperty(""))
