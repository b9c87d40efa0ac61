"""Types of properties: strict where neomodel's convert, zoned where neomodel's are naive, read-only where the engine writes.

Each takes its meaning first: unit, range and source belong into it, `docs/reference/models.md` is made from it. neomodel's own
types convert whatever they get (`BooleanProperty` turns `'false'` into true), and a value of a wrong type makes the engine
protect a memory for ever. So these refuse it. What lies in the database already is handed out as it is.
"""

from __future__ import annotations

import math
import uuid
from abc import abstractmethod
from collections.abc import Callable
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, overload

import neo4j.time
from neomodel.exceptions import DeflateError
from neomodel.properties import Property
from typing_extensions import Never, Self

from jochi import clock
from jochi.graph import property_values as values
from jochi.graph.catalogue import EARLIEST, OWNERS, OWNERS_IN_SLOTS
from jochi.graph.driver_values import fixed_offset, to_python
from jochi.text.slot_names import slot_value
from jochi_models.errors import EngineOwned

if TYPE_CHECKING:
    # neomodel's metaclass for properties isn't typed; ours follow its contract.
    from neomodel.properties import Property as _Base
else:
    _Base = Property

V = TypeVar("V")
L = TypeVar("L", bound=str)


class TypedProperty(_Base[V]):
    """A property with a meaning. Subclasses say in `check` what they take, and return it as it is stored."""

    def __init__(
        self,
        meaning: str = "",
        *,
        default: Callable[[], Any] | None = None,
        required: bool = False,
        db_property: str | None = None,
    ) -> None:
        super().__init__(default=default, required=required, db_property=db_property, help_text=meaning)
        self.meaning = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        # neomodel names only what stands in a node class itself; ours stand in classes that sync and async share.
        self.name = name
        self.owner = owner

    @property
    @abstractmethod
    def stored_type(self) -> str:
        """Neo4j's name of the type."""

    @property
    def allowed(self) -> str:
        """The range or the choices, for people; empty where the type says all."""
        return ""

    @abstractmethod
    def check(self, value: Any) -> Any:
        """The value as it is stored; ValueError says what is wrong with it."""

    def read(self, value: Any) -> Any:
        """A stored value as Python has it. A value of another type is handed out as it is: the engine reports it."""
        return value

    # neomodel calls both with the object second, whatever its abstract class says.
    def inflate(self, value: Any, obj: Any = None, rethrow: bool = True) -> Any:  # type: ignore[override]
        return self.read(value)

    def deflate(self, value: Any, obj: Any = None, rethrow: bool = True) -> Any:  # type: ignore[override]
        try:
            return self.check(value)
        except ValueError as error:
            if not rethrow:
                raise
            raise DeflateError(self.name or "", self.owner, str(error), obj) from error


class TextProperty(TypedProperty[str | None]):
    """A text. Lone surrogates, which can't be sent, are refused."""

    stored_type = "STRING"

    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"a text is expected, not {_named(value)}")
        return values.text(value)


class ChoiceProperty(TypedProperty[L | None], Generic[L]):
    """One of a few words: ``choices`` is a `Literal` of them."""

    stored_type = "STRING"

    def __init__(
        self, meaning: str, choices: object, *, default: Callable[[], L] | None = None, required: bool = False
    ) -> None:
        super().__init__(meaning, default=default, required=required)
        self.words: tuple[L, ...] = get_args(choices)

    @property
    def allowed(self) -> str:
        return " · ".join(self.words)

    def check(self, value: Any) -> str:
        if value not in self.words:
            raise ValueError(f"{value!r} is none of {', '.join(self.words)}")
        return str(value)


class IntegerProperty(TypedProperty[int | None]):
    """A whole number of 64 bits."""

    stored_type = "INTEGER"

    def __init__(
        self, meaning: str, *, least: int = -(2**63), most: int = 2**63 - 1, default: Callable[[], int] | None = None
    ) -> None:
        super().__init__(meaning, default=default)
        self.least, self.most = least, most

    @property
    def allowed(self) -> str:
        return f"≥ {self.least}" if self.least > -(2**63) else ""

    def check(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"a whole number is expected, not {_named(value)}")
        if not self.least <= value <= self.most:
            raise ValueError(f"{value} is not between {self.least} and {self.most}")
        return value


class FloatProperty(TypedProperty[float | None]):
    """A finite number in a range (ends included)."""

    stored_type = "FLOAT"

    def __init__(
        self,
        meaning: str,
        *,
        least: float = -math.inf,
        most: float = math.inf,
        default: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(meaning, default=default)
        self.least, self.most = least, most

    @property
    def allowed(self) -> str:
        if math.isfinite(self.most):
            return f"{self.least:g}–{self.most:g}"
        return f"≥ {self.least:g}" if math.isfinite(self.least) else ""

    def check(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"a number is expected, not {_named(value)}")
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        if not self.least <= value <= self.most:
            raise ValueError(f"{value} is not between {self.least:g} and {self.most:g}")
        return float(value)

    def read(self, value: Any) -> Any:
        # Cypher's 1 where 1.0 is meant.
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class BooleanProperty(TypedProperty[bool | None]):
    """True or false, never a text that says so."""

    stored_type = "BOOLEAN"

    def check(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"True or False is expected, not {_named(value)}")
        return value


class ZonedDateTimeProperty(TypedProperty[datetime | None]):
    """A moment, stored as Neo4j's ZONED DATETIME.

    Takes datetimes with a zone, from 1990 on (what lies before is a mistaken unit), and hands out datetimes with a zone.
    """

    stored_type = "ZONED DATETIME"

    def check(self, value: Any) -> datetime:
        if isinstance(value, neo4j.time.DateTime):
            value = value.to_native()
        if not isinstance(value, datetime):
            raise ValueError(f"a datetime with a zone is expected, not {_named(value)}")
        if value.utcoffset() is None:
            raise ValueError(f"{value.isoformat()} has no zone: use datetime.now(timezone.utc) or give it a tzinfo")
        if value < EARLIEST:
            raise ValueError(f"{value.isoformat()} is before 1990")
        return fixed_offset(value)

    def read(self, value: Any) -> Any:
        return value.to_native() if isinstance(value, neo4j.time.DateTime) else value


class ValueProperty(TypedProperty[Any]):
    """A value that others are compared with: text, number, true or false, date, datetime with a zone, or a list of one of these."""

    stored_type = "ANY"

    def check(self, value: Any) -> Any:
        if slot_value(value) is None or (isinstance(value, list | tuple) and len({type(item) for item in value}) > 1):
            raise ValueError(f"a value that can be compared is expected, not {_named(value)}")
        if isinstance(value, list | tuple):
            return [self.check(item) for item in value]
        if isinstance(value, str):
            return values.text(value)
        return ZonedDateTimeProperty().check(value) if isinstance(value, datetime | neo4j.time.DateTime) else value

    def read(self, value: Any) -> Any:
        return to_python(value)


class DateProperty(TypedProperty[date | None]):
    """A day, stored as Neo4j's DATE."""

    stored_type = "DATE"

    def check(self, value: Any) -> date:
        if isinstance(value, datetime) or not isinstance(value, date):
            raise ValueError(f"a date is expected, not {_named(value)}")
        return value

    def read(self, value: Any) -> Any:
        return value.to_native() if isinstance(value, neo4j.time.Date) else value


class ListProperty(TypedProperty[list[V] | None], Generic[V]):
    """A list of values of one type, none of them null."""

    def __init__(
        self,
        meaning: str,
        item: TypedProperty[V | None],
        *,
        length: int | None = None,
        default: Callable[[], list[V]] | None = None,
    ) -> None:
        super().__init__(meaning, default=default)
        self.item = item
        self.length = length

    @property
    def stored_type(self) -> str:
        return f"LIST<{self.item.stored_type}>"

    @property
    def allowed(self) -> str:
        return f"{self.length} of them" if self.length else self.item.allowed

    def check(self, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"a list is expected, not {_named(value)}")
        if self.length is not None and len(value) != self.length:
            raise ValueError(f"{self.length} items are expected, not {len(value)}")
        return [self.item.check(entry) for entry in value]

    def read(self, value: Any) -> Any:
        return [self.item.read(entry) for entry in value] if isinstance(value, list) else value


class _Wrapped(TypedProperty[V]):
    """A property that is another one and something more."""

    def __init__(self, inner: TypedProperty[V], *, default: Callable[[], Any] | None = None) -> None:
        super().__init__(inner.meaning, default=default, db_property=inner.db_property)
        self.inner = inner

    @property
    def stored_type(self) -> str:
        return self.inner.stored_type

    @property
    def allowed(self) -> str:
        return self.inner.allowed

    def check(self, value: Any) -> Any:
        return self.inner.check(value)

    def read(self, value: Any) -> Any:
        return self.inner.read(value)


class Always(_Wrapped[V]):
    """A property that every memory has: its default is made anew for each object."""

    def __init__(self, inner: TypedProperty[V | None], *, default: Callable[[], V] | None = None) -> None:
        super().__init__(inner, default=default)  # type: ignore[arg-type]  # V | None without its None
        self.required = default is None


class Owned(_Wrapped[V]):
    """A property that the engine writes: readable, typed, can be filtered by, and never part of what a save writes."""

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return self if instance is None else vars(instance).get(self.name)

    def __set__(self, instance: object, value: Never) -> None:
        raise not_yours(self.name or "", type(instance).__name__)


class KeyProperty(TypedProperty[str]):
    """`scope/id`, made of the two."""

    stored_type = "STRING"

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> str: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else f"{instance.scope}/{instance.uid}"

    def __set__(self, instance: object, value: Never) -> None:
        raise EngineOwned(
            "key is made of scope and uid", where=type(instance).__name__, fix="set those on a new object"
        )

    def check(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"a text is expected, not {_named(value)}")
        return value


class ScopeProperty(TextProperty):
    """A tenant: text without `/`, which parts scope and id in a key."""

    def check(self, value: Any) -> str:
        scope = values.name(super().check(value))
        if "/" in scope:
            raise ValueError(f"{scope!r} holds '/', which parts scope and id in a key")
        return scope


class IdProperty(TextProperty):
    """The app's own id: text that isn't empty, of up to 1,000 characters."""

    def check(self, value: Any) -> str:
        return values.name(super().check(value))


def new_id() -> str:
    """A random id as Cypher's randomUUID() writes them."""
    return str(uuid.uuid4())


def now() -> datetime:
    """The time now, in UTC."""
    return clock.now()


def not_yours(name: str, model: str) -> EngineOwned:
    """The error for an assignment to ``name``: who writes it and what to do instead."""
    owner = OWNERS.get(name) or OWNERS_IN_SLOTS.get(name)
    if owner is None:
        return EngineOwned(f"{name} can't be assigned", where=model, fix="load the memory again to see its value")
    return EngineOwned(f"{name} is written by {owner.writer}", where=model, fix=owner.instead)


def _named(value: object) -> str:
    return f"{value!r:.60} ({type(value).__name__})"
