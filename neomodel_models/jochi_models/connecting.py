"""What connecting two memories and saving a relationship do, for the synchronous and the asynchronous models alike.

neomodel's own `connect` sets every property that wasn't given to null on a relationship that is there already, and its `save`
writes all that the object holds. Both would undo what time, uses and the engine wrote on edges since; so these are ours.
Generators of statements, as in `jochi_models.saving`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neo4j.graph import Relationship
from neomodel.util import RelationshipDirection

from jochi import clock
from jochi.database.statements import statement
from jochi.errors import UsageError
from jochi_models.errors import Gone
from jochi_models.saving import Statement, Work, lock_ends


def connect(source: Any, node: Any, definition: Mapping[str, Any], properties: Mapping[str, Any] | None) -> Work[Any]:
    """Connects ``source`` with ``node`` and returns the relationship as its class has it, or None for types without properties.

    `Pruned` or `Gone` where an end isn't live any more. Where they are connected already with all the given properties, that
    relationship is returned as it is.
    """
    yield from lock_ends(source, node)
    model = definition["model"]
    if model is None and properties:
        raise UsageError(
            f"{definition['relation_type']} of {type(source).__name__} carries no properties",
            fix="connect without properties, or declare the relationship with a class for them",
        )
    made = None if model is None else model(**(properties or {}))
    given = {} if made is None else {k: v for k, v in model.deflate(made.__properties__).items() if v is not None}
    if made is not None and hasattr(made, "pre_save"):
        made.pre_save()
    ends = (node, source) if definition["direction"] == RelationshipDirection.INCOMING else (source, node)
    rows = yield Statement(
        statement("models/connect"),
        {
            "now": clock.now(),
            "from": ends[0].element_id,
            "to": ends[1].element_id,
            "from_key": _key(ends[0]),
            "to_key": _key(ends[1]),
            "type": definition["relation_type"],
            "given": given,
            "stamp": hasattr(model, "created_at"),
        },
    )
    if not rows:
        raise Gone(_key(node) or str(node.element_id), type(node).__name__)
    return None if model is None else model.inflate(rows[0]["r"])


def save(relationship: Any) -> Work[None]:
    """Writes what was changed since it was loaded, between the hooks of its class; `Gone` where it isn't there any more."""
    if hasattr(relationship, "pre_save"):
        relationship.pre_save()
    now = type(relationship).deflate(relationship.__properties__)
    changes = {name: value for name, value in now.items() if value != relationship._as_loaded.get(name)}
    rows = yield Statement(
        statement("models/update_relationship"),
        {"id": relationship.element_id, "type": relationship._type, "changes": changes},
    )
    if not rows:
        raise Gone(str(relationship.element_id), type(relationship).__name__)
    relationship._as_loaded = now
    if hasattr(relationship, "post_save"):
        relationship.post_save()


def finish(manager: Any, node: Any, made: Any) -> Any:
    """What `connect` returned, as neomodel's ``manager`` hands it out."""
    if made is None:
        return None
    made = manager._set_start_end_cls(made, node)
    if hasattr(made, "post_save"):
        made.post_save()
    return made


def take(relationship: Any, stored: Relationship) -> Any:
    """Remembers what was stored when it was loaded; returns it."""
    relationship._as_loaded = type(relationship).deflate(relationship.__properties__)
    relationship._type = stored.type
    return relationship


def _key(end: Any) -> str | None:
    return str(end.key) if hasattr(end, "_loaded") else None
