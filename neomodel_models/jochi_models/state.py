"""What an object remembers of its memory: the values as they were loaded, so that only what changed is written."""

from __future__ import annotations

import difflib
from typing import Any, TypeVar

from neo4j.graph import Node

from jochi_models.errors import EngineOwned, NotSaved
from jochi_models.properties import KeyProperty, Owned, not_yours

_IDENTITY = frozenset({"uid", "scope"})
_NEOMODELS = frozenset({"deleted", "element_id_property"})
S = TypeVar("S", bound="LoadedState")


class LoadedState:
    """Shared by every model, synchronous or not. Stands before neomodel's node class in the bases.

    neomodel fills defaults in when it loads a node, writes every property it holds, and takes any keyword and any attribute.
    Here a loaded object has what the node has; a misspelt name is an error.
    """

    _loaded: dict[str, Any] | None

    def __init__(self, **given: Any) -> None:
        model = type(self).__name__
        properties = self._properties()
        aliases: dict[str, Any] = dict(getattr(self, "__all_aliases__", ()))
        for name in given:
            if isinstance(properties.get(name), Owned):
                raise not_yours(name, model)
            if name not in properties and name not in aliases:
                raise TypeError(f"{model} has no property {name!r}{_suggestion(name, properties)}")
        self._attach()
        self.__dict__["_loaded"] = None
        for name, declared in properties.items():
            if isinstance(declared, Owned | KeyProperty):
                continue
            value = given.get(name)
            if value is None and declared.has_default:
                value = declared.default_value()
            self.__dict__[name] = value
        if given.get("key") is not None:
            raise EngineOwned(
                "key is made of scope and uid", where=model, fix="give uid, and scope where it isn't 'default'"
            )
        for name in aliases:
            if name in given:
                setattr(self, name, given[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _IDENTITY and self._loaded is not None:
            raise EngineOwned(
                f"{name} of a saved memory stays: everything refers to it by scope/uid",
                where=type(self).__name__,
                fix="write a new memory",
            )
        if not name.startswith("_") and name not in _NEOMODELS and not hasattr(type(self), name):
            raise AttributeError(
                f"{type(self).__name__} has no property {name!r}{_suggestion(name, self._properties())}"
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        # Not every property: contents are long, and belong into no log.
        return f"<{type(self).__name__} {getattr(self, 'key', '')}>"

    @classmethod
    def inflate(cls: type[S], graph_entity: Node | str | int) -> S:
        """The object of a node as it is in the database, without any default filled in."""
        made = cls.__new__(cls)
        made._attach()
        if isinstance(graph_entity, str | int):  # lazily: only the element id is known
            made.__dict__["_loaded"] = None
            made.__dict__["element_id_property"] = graph_entity
            for name, declared in cls._properties().items():
                if not isinstance(declared, Owned | KeyProperty):
                    made.__dict__[name] = None
            return made
        made._take(graph_entity)
        return made

    @classmethod
    def _properties(cls) -> dict[str, Any]:
        return dict(cls.__all_properties__)  # type: ignore[attr-defined]  # neomodel's metaclass sets it

    def _attach(self) -> None:
        for name, definition in type(self).__all_relationships__:  # type: ignore[attr-defined]
            self.__dict__[name] = definition.build_manager(self, name)

    def _take(self, node: Node) -> None:
        """Takes over what the node holds."""
        loaded: dict[str, Any] = {}
        for name, declared in self._properties().items():
            stored = declared.get_db_property_name(name)
            value = node.get(stored)
            if isinstance(declared, KeyProperty):
                loaded[stored] = value
                continue
            self.__dict__[name] = None if value is None else declared.inflate(value, node)
            if not isinstance(declared, Owned):
                loaded[stored] = value
        self.__dict__["_loaded"] = loaded
        self.__dict__["element_id_property"] = node.element_id

    def _stored(self, *, new: bool) -> dict[str, Any]:
        """The app's properties as they would be stored; DeflateError for a value of a wrong type."""
        found: dict[str, Any] = {}
        for name, declared in self._properties().items():
            if isinstance(declared, Owned | KeyProperty):
                continue
            value = self.__dict__.get(name)
            if value is None and declared.required and new:
                raise NotSaved(f"{name} is required", where=type(self).__name__, fix=f"give {name}=…")
            stored = declared.get_db_property_name(name)
            found[stored] = None if value is None else declared.deflate(value, self)
        return found

    def _changed(self) -> dict[str, Any]:
        """What differs from what was loaded, as it would be stored; null for what was taken out."""
        was = self._loaded or {}
        changed: dict[str, Any] = {}
        for name, declared in self._properties().items():
            if isinstance(declared, Owned | KeyProperty):
                continue
            stored = declared.get_db_property_name(name)
            value, before = self.__dict__.get(name), was.get(stored)
            same = value is None if before is None else value == declared.inflate(before, self)
            # True == 1 in Python, not in the graph.
            if not same or (value is not None and isinstance(value, bool) != isinstance(before, bool)):
                changed[stored] = None if value is None else declared.deflate(value, self)
        return changed


def _suggestion(name: str, known: dict[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
