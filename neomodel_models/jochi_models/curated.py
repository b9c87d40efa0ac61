"""The synchronous base of every kind: neomodel's node, with saves that can't undo what the engine did."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from neomodel import NodeSet, RelationshipFrom, RelationshipTo, StructuredNode, StructuredRel, ZeroOrMore, db
from neomodel.sync_.match import QueryBuilder
from typing_extensions import Self

from jochi import clock
from jochi_models import connecting, saving
from jochi_models.common import CuratedFields
from jochi_models.errors import Locked, NotOffered
from jochi_models.properties import ListProperty, Owned, ScopeProperty, TextProperty, ZonedDateTimeProperty
from jochi_models.relationships import declared, relationship_model
from jochi_models.state import LoadedState

T = TypeVar("T")
N = TypeVar("N", bound="Curated")


class LiveLabels:
    """Finds memories only: nodes of the kind that carry :Curated (whose index on `key` serves) and are no tombstones."""

    def build_label(self, ident: str, cls: Any) -> str:
        found: str = super().build_label(ident, cls)  # type: ignore[misc]  # neomodel's, behind it in the bases
        plain, match = f"({ident}:{cls.__label__})", self._ast.match  # type: ignore[attr-defined]
        match[:] = [f"({ident}:{live_label(cls)})" if part == plain else part for part in match]
        return found


class LiveQuery(LiveLabels, QueryBuilder):
    """`QueryBuilder` of what is live."""


def live_label(cls: Any) -> str:
    """The label expression of the live memories of a kind."""
    return "&".join(dict.fromkeys([cls.__label__, "Curated"])) + "&!Tombstone"


class LiveSet(NodeSet[Any]):
    """`Belief.nodes`."""

    query_cls = LiveQuery


class _Nodes:
    def __get__(self, instance: Any, owner: type[N]) -> NodeSet[N]:
        return LiveSet(owner)


class LiveRelationships(ZeroOrMore):
    """neomodel's relationship manager, which writes between live memories only and has both looked at again."""

    def connect(self, node: Any, properties: dict[str, Any] | None = None) -> Any:
        """Connects another memory. `Pruned` or `Gone` where one of the two isn't live any more."""
        self.source._pre_action_check(f"{self.name}.connect")
        self._check_node(node)
        if db._active_transaction is not None:
            return self._connect(node, properties)
        for pause in saving.PAUSES:
            try:
                with db.transaction:
                    return self._connect(node, properties)
            except Exception as error:
                if pause is None or not saving.repeatable(error):
                    raise
                time.sleep(pause)

    def _connect(self, node: Any, properties: dict[str, Any] | None) -> Any:
        return connecting.finish(self, node, run(connecting.connect(self.source, node, self.definition, properties)))


class LiveRelationship(StructuredRel):
    """A relationship whose save writes what the app changed, and nothing else."""

    @classmethod
    def inflate(cls, graph_entity: Any) -> Any:
        """As neomodel does; and what is stored is remembered."""
        return connecting.take(super().inflate(graph_entity), graph_entity)

    def save(self) -> Any:
        """Writes what was changed since it was loaded. `Gone` where it isn't there any more."""
        run(connecting.save(self))
        return self


class Curated(LoadedState, CuratedFields, StructuredNode):
    """Any memory the engine looks after. `Curated.nodes` finds memories of every kind; to write one, use its kind.

    A node that is saved carries exactly the kind's label and `:Curated`. For a kind of your own, subclass this and name the
    label in the policy.
    """

    # The engine puts no label on a live memory. An app that does names it here: docs/how-to/use-the-models.md.
    __optional_labels__: ClassVar[list[str]] = []

    if TYPE_CHECKING:
        _manager: LiveRelationships
    nodes = _Nodes()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, related in declared(cls).items():
            made = RelationshipFrom if related.incoming else RelationshipTo
            model = relationship_model(related.properties, LiveRelationship)
            setattr(cls, name, made(f"jochi_models.{related.target}", related.type, LiveRelationships, model))

    def save(self) -> Self:
        """Creates the memory, or writes what changed since it was loaded; returns itself.

        Raises LostUpdate (somebody saved it meanwhile), Pruned, Gone, KeyTaken, ContentKnown, neomodel's DeflateError (a value
        of a wrong type), Refused (Jochi isn't installed), ConnectionFailed. Joins the transaction of `neomodel.db`, if there
        is one.
        """
        self._hook("pre_save")
        run(saving.save(self))
        self._hook("post_save")
        return self

    def refresh(self) -> None:
        """Loads it again; what was changed here and not saved is gone. Pruned or Gone where it isn't live any more."""
        run(saving.refresh(self))

    @contextmanager
    def lock(self, agent: str, *, wait: float = 0) -> Iterator[Self]:
        """Keeps the memory for ``agent`` while the block runs: the engine doesn't prune or archive it, no other agent gets it.

        ``wait``: seconds to wait for another agent's lock, else `Locked` at once. The object is loaded anew; what isn't saved by
        then is refused. The lock ends with the block, or with the policy's `rails.lock_ttl` (10 min), whichever comes first; the
        same agent's again begins its time anew. Who doesn't ask for the lock can still save: of two saves the second is a
        `LostUpdate`. Not inside a transaction of neomodel's, where nobody would see it.
        """
        if db._active_transaction is not None:
            raise saving.lock_in_transaction(self)
        deadline = time.monotonic() + wait
        while True:
            try:
                since = run(saving.lock(self, agent))
                break
            except Locked:
                pause = saving.pauses_until(deadline, time.monotonic())
                if pause is None:
                    raise
                time.sleep(pause)
        try:
            yield self
        finally:
            run(saving.unlock(self, agent, since))

    def expire(self) -> Self:
        """Lets the engine prune it at its next look, under the rails, and undoable: sets `expires_at` to now and saves."""
        self.expires_at = clock.now()
        return self.save()

    def delete(self) -> NoReturn:
        """Not offered: a deleted memory can't be restored. See `expire`."""
        raise no_delete(type(self).__name__)

    def _hook(self, name: str) -> None:
        hook = getattr(self, name, None)
        if hook is not None:
            hook()

    @classmethod
    def bulk_save(cls, *nodes: Any, **kwargs: Any) -> NoReturn:
        """Not offered: it would write past revisions and tombstones."""
        raise no_bulk(cls.__name__)

    _bulk_create = _bulk_create_or_update = _bulk_get_or_create = bulk_save


class TombstoneFields:
    """A pruned memory (DESIGN §4): it kept its properties, and swapped all its labels for :Tombstone."""

    uid = Owned(TextProperty("the app's own id; stored as `id`", db_property="id"))
    scope = Owned(ScopeProperty("tenant"))
    key = Owned(TextProperty("`scope/id`; several tombstones can have the same"))
    content = Owned(TextProperty("what was remembered"))
    deleted_at = Owned(ZonedDateTimeProperty("when it was pruned"))
    tombstone_labels = Owned(ListProperty[str]("the labels it had", TextProperty()))


class Tombstone(LoadedState, TombstoneFields, StructuredNode):
    """A pruned memory, to look at. `Jochi.restore` brings it back."""

    def save(self) -> NoReturn:
        """Not offered: a tombstone is the engine's."""
        raise no_tombstone(str(self.key))

    def delete(self) -> NoReturn:
        """Not offered: the engine purges it when its time has come."""
        raise no_tombstone(str(self.key))


def run(work: saving.Work[T]) -> T:
    """Runs the statements of ``work`` through neomodel's `db`, inside its transaction if there is one."""
    try:
        step = next(work)
        while True:
            try:
                rows, names = _cypher(step)
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


def _cypher(step: saving.Statement) -> tuple[list[Any], tuple[str, ...]]:
    for pause in saving.PAUSES:
        try:
            return db.cypher_query(step.text, dict(step.parameters))
        except Exception as error:
            # An app's transaction is lost as a whole, and only the app can repeat it.
            if pause is None or db._active_transaction is not None or not saving.repeatable(error):
                raise
            time.sleep(pause)
    raise AssertionError("the last pause is None")


def no_bulk(kind: str) -> NotOffered:
    """The error for neomodel's ways to write many nodes at once."""
    return NotOffered(
        "neomodel's batches write past keys, revisions and tombstones",
        where=kind,
        fix="use Jochi.remember, which takes thousands at once, or save() each",
    )


def no_tombstone(key: str) -> NotOffered:
    """The error for writing a tombstone."""
    return NotOffered("a tombstone is the engine's", where=key, fix=f"bring it back with `jochi restore {key}`")


def no_delete(kind: str) -> NotOffered:
    """The error for deleting a memory."""
    return NotOffered(
        "a memory isn't deleted by an app: nobody could restore it",
        where=kind,
        fix="call expire(): the engine prunes it at its next look, and it can be restored for 30 days",
    )
