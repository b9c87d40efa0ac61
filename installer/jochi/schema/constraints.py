"""The constraints of applications: each is looked at and told about, and never broken (DESIGN §17)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jochi.database.database import Database
from jochi.database.statements import schema_folder, statement
from jochi.graph.catalogue import named
from jochi.schema.migrations.files import read_folder
from jochi.schema.migrations.schema_objects import created_by

_BOOKKEEPING = "__Neo4jMigration"
"""How the labels of the chain of migrations begin, whoever's it is."""


@dataclass(frozen=True)
class Constraint:
    """One of the database's. ``kind``: the server's word, such as RELATIONSHIP_UNIQUENESS; ``label``: a label or a type of
    relationship; ``type``: that a property must have, where it is about one."""

    name: str
    kind: str
    label: str
    properties: Sequence[str]
    type: str | None = None

    @property
    def of_relationships(self) -> bool:
        return self.kind.startswith("RELATIONSHIP")

    @property
    def is_unique(self) -> bool:
        """No two have the same values: uniqueness, or a key."""
        return self.kind.endswith(("UNIQUENESS", "KEY"))

    @property
    def is_required(self) -> bool:
        """Each has the properties: existence, or a key."""
        return self.kind.endswith(("EXISTENCE", "KEY"))

    @property
    def may_hold_merges(self) -> bool:
        """A merge can come to what it forbids: by copies of relationships, or by a property that unites what both had."""
        return self.is_unique and (self.of_relationships or bool(set(self.properties) & set(named(mark="combined"))))

    @property
    def subject(self) -> str:
        """Such as: unique source_ref on MemoryEntry."""
        form = "unique" if self.is_unique else "required" if self.is_required else "typed"
        return f"{form} {', '.join(self.properties)} on {self.label}"

    @property
    def meaning(self) -> str:
        """What it means to the engine, in one sentence."""
        if not self.is_unique:
            return f"{self.subject}: what doesn't meet it can't be written; what comes back or moves has all its properties"
        if self.of_relationships:
            return (
                f"{self.subject}: merging moves such relationships; where they are too many for one transaction they would be "
                "there twice meanwhile, so the pair is held (constraint)"
            )
        back = (
            f"{self.subject}: a pruned memory whose {' and '.join(self.properties)} is taken meanwhile can't come back before "
            "the other one goes"
        )
        held = "; a pair whose merge would give its survivor what another one has is held (constraint)"
        return back + held if self.may_hold_merges else back


def all_constraints(database: Database) -> list[Constraint]:
    """All, by name."""
    rows = database.run(statement("migrations/show_constraints"), write=False)
    return sorted((Constraint(**row) for row in rows), key=lambda one: one.name)


def app_constraints(database: Database) -> list[Constraint]:
    """All that neither Jochi nor a chain of migrations made, by name."""
    ours = {made.name for made in created_by(*read_folder(schema_folder()).files) if made.is_constraint}
    return [
        each for each in all_constraints(database) if each.name not in ours and not each.label.startswith(_BOOKKEEPING)
    ]


def holding_merges(database: Database, held_by: Iterable[str]) -> tuple[str, ...]:
    """Which constraints may hold a pair that is ``held_by`` these: one of them does. Empty where none does."""
    if "constraint" not in held_by:
        return ()
    return tuple(f"{one.name}: {one.subject}" for one in app_constraints(database) if one.may_hold_merges)
