"""The same models for `async` code, on neomodel's `adb`: fields and relationships are the synchronous ones' own.

>>> from jochi_models.aio import Belief
>>> belief = await Belief(content="…").save()  # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from neomodel import (
    AsyncNodeSet,
    AsyncRelationshipFrom,
    AsyncRelationshipTo,
    AsyncStructuredNode,
    AsyncStructuredRel,
    AsyncZeroOrMore,
    adb,
)
from neomodel.async_.match import AsyncQueryBuilder
from typing_extensions import Self

from jochi import clock
from jochi_models import agents, connecting, facts, knowledge, personal, saving, team
from jochi_models.common import CuratedFields
from jochi_models.curated import LiveLabels, TombstoneFields, no_bulk, no_delete, no_tombstone
from jochi_models.errors import Locked
from jochi_models.relationships import declared, relationship_model
from jochi_models.state import LoadedState

T = TypeVar("T")
N = TypeVar("N", bound="Curated")


class LiveQuery(LiveLabels, AsyncQueryBuilder):
    """See `jochi_models.curated.LiveQuery`."""


class LiveSet(AsyncNodeSet[Any]):
    """`Belief.nodes`."""

    query_cls = LiveQuery


class _Nodes:
    def __get__(self, instance: Any, owner: type[N]) -> AsyncNodeSet[N]:
        return LiveSet(owner)


class LiveRelationships(AsyncZeroOrMore):
    """See `jochi_models.curated.LiveRelationships`."""

    async def connect(self, node: Any, properties: dict[str, Any] | None = None) -> Any:
        """Connects another memory. `Pruned` or `Gone` where one of the two isn't live any more."""
        self.source._pre_action_check(f"{self.name}.connect")
        self._check_node(node)
        if adb._active_transaction is not None:
            return await self._connect(node, properties)
        for pause in saving.PAUSES:
            try:
                async with adb.transaction:
                    return await self._connect(node, properties)
            except Exception as error:
                if pause is None or not saving.repeatable(error):
                    raise
                await asyncio.sleep(pause)

    async def _connect(self, node: Any, properties: dict[str, Any] | None) -> Any:
        made = await run(connecting.connect(self.source, node, self.definition, properties))
        return connecting.finish(self, node, made)


class LiveRelationship(AsyncStructuredRel):
    """See `jochi_models.curated.LiveRelationship`."""

    @classmethod
    def inflate(cls, graph_entity: Any) -> Any:
        """As neomodel does; and what is stored is remembered."""
        return connecting.take(super().inflate(graph_entity), graph_entity)

    async def save(self) -> Any:
        """Writes what was changed since it was loaded. `Gone` where it isn't there any more."""
        await run(connecting.save(self))
        return self


class Curated(LoadedState, CuratedFields, AsyncStructuredNode):
    """Any memory the engine looks after; see `jochi_models.Curated`."""

    # The engine puts no label on a live memory. An app that does names it here: docs/how-to/use-the-models.md.
    __optional_labels__: ClassVar[list[str]] = []

    if TYPE_CHECKING:
        _manager: LiveRelationships
    nodes = _Nodes()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, related in declared(cls).items():
            made = AsyncRelationshipFrom if related.incoming else AsyncRelationshipTo
            model = relationship_model(related.properties, LiveRelationship)
            setattr(cls, name, made(f"{__name__}.{related.target}", related.type, LiveRelationships, model))

    async def save(self) -> Self:
        """See `jochi_models.Curated.save`. Joins the transaction of `neomodel.adb`, if there is one."""
        await self._hook("pre_save")
        await run(saving.save(self))
        await self._hook("post_save")
        return self

    async def refresh(self) -> None:
        """See `jochi_models.Curated.refresh`."""
        await run(saving.refresh(self))

    @asynccontextmanager
    async def lock(self, agent: str, *, wait: float = 0) -> AsyncIterator[Self]:
        """See `jochi_models.Curated.lock`."""
        if adb._active_transaction is not None:
            raise saving.lock_in_transaction(self)
        deadline = time.monotonic() + wait
        while True:
            try:
                since = await run(saving.lock(self, agent))
                break
            except Locked:
                pause = saving.pauses_until(deadline, time.monotonic())
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        try:
            yield self
        finally:
            await run(saving.unlock(self, agent, since))

    async def expire(self) -> Self:
        """See `jochi_models.Curated.expire`."""
        self.expires_at = clock.now()
        return await self.save()

    async def delete(self) -> NoReturn:
        """Not offered: a deleted memory can't be restored. See `expire`."""
        raise no_delete(type(self).__name__)

    async def _hook(self, name: str) -> None:
        hook = getattr(self, name, None)
        if hook is not None:
            done = hook()
            if inspect.isawaitable(done):
                await done

    @classmethod
    async def bulk_save(cls, *nodes: Any, **kwargs: Any) -> NoReturn:
        """Not offered: it would write past revisions and tombstones."""
        raise no_bulk(cls.__name__)

    _bulk_create = _bulk_create_or_update = _bulk_get_or_create = bulk_save


class Tombstone(LoadedState, TombstoneFields, AsyncStructuredNode):
    """A pruned memory, to look at. `Jochi.restore` brings it back."""

    async def save(self) -> NoReturn:
        """Not offered: a tombstone is the engine's."""
        raise no_tombstone(str(self.key))

    async def delete(self) -> NoReturn:
        """Not offered: the engine purges it when its time has come."""
        raise no_tombstone(str(self.key))


async def run(work: saving.Work[T]) -> T:
    """Runs the statements of ``work`` through neomodel's `adb`, inside its transaction if there is one."""
    try:
        step = next(work)
        while True:
            try:
                rows, names = await _cypher(step)
            except Exception as error:
                translated = saving.translated(error)
                if translated is not None:
                    raise translated from error
                step = work.throw(error)
            else:
                step = work.send([dict(zip(names, row, strict=True)) for row in rows])
    except StopIteration as done:
        result: T = done.value
        return result


async def _cypher(step: saving.Statement) -> tuple[list[Any], tuple[str, ...]]:
    for pause in saving.PAUSES:
        try:
            rows, names = await adb.cypher_query(step.text, dict(step.parameters))
            return rows or [], names or ()
        except Exception as error:
            # An app's transaction is lost as a whole, and only the app can repeat it.
            if pause is None or adb._active_transaction is not None or not saving.repeatable(error):
                raise
            await asyncio.sleep(pause)
    raise AssertionError("the last pause is None")


class Belief(team.BeliefFields, Curated): ...


class Reflection(team.ReflectionFields, Curated): ...


class Analysis(team.AnalysisFields, Curated): ...


class Synthesis(team.SynthesisFields, Curated): ...


class Recommendation(team.RecommendationFields, Curated): ...


class Task(team.TaskFields, Curated): ...


class Notification(team.NotificationFields, Curated): ...


class SessionContext(team.SessionContextFields, Curated): ...


class MemoryEntry(team.MemoryEntryFields, Curated): ...


class CompressedContext(team.CompressedContextFields, Curated): ...


class KnowledgeChunk(knowledge.KnowledgeChunkFields, Curated): ...


class StoreItem(knowledge.StoreItemFields, Curated): ...


class HeartbeatTaskRegistry(knowledge.HeartbeatTaskRegistryFields, Curated): ...


class HeartbeatTask(knowledge.HeartbeatTaskFields, Curated): ...


class Source(personal.SourceFields, Curated): ...


class SourceSummary(personal.SourceSummaryFields, Curated): ...


class Artifact(personal.ArtifactFields, Curated): ...


class Person(personal.PersonFields, Curated): ...


class Concept(personal.ConceptFields, Curated): ...


class Entity(personal.EntityFields, Curated): ...


class Description(personal.DescriptionFields, Curated): ...


class Storyline(personal.StorylineFields, Curated): ...


class Macro(personal.MacroFields, Curated): ...


class Note(personal.NoteFields, Curated): ...


class BehaviourProfile(facts.BehaviourProfileFields, Curated): ...


class Fact(facts.FactFields, Curated): ...


class TurnBatch(facts.TurnBatchFields, Curated): ...


class MemoryBox(facts.MemoryBoxFields, Curated): ...


class Trace(facts.TraceFields, Curated): ...


class Agent(agents.AgentFields, AsyncStructuredNode): ...


class AgentKey(agents.AgentKeyFields, AsyncStructuredNode): ...


class SystemConfig(agents.SystemConfigFields, AsyncStructuredNode): ...


class Migration(agents.MigrationFields, AsyncStructuredNode): ...
