"""Privileges of Enterprise Edition as its commands say them, and whether some of them allow what others ask for.

As `SHOW … PRIVILEGES AS COMMANDS` prints them and as `jochi.operate.rights` makes them (neo4j.com/docs/operations-manual,
Authentication and authorization). What a DENY names nobody may, whatever else is granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product

_NAME = re.compile(r"`((?:[^`]|``)+)`|([^\s,`]+)")
_SCOPE = re.compile(r"(?:HOME )?(GRAPH|DATABASE|DBMS)S?\b ?")
_ELEMENT = re.compile(r" (NODE|RELATIONSHIP|ELEMENT)S? ")
_OF_NAMES = re.compile(
    r"((?:SET|REMOVE) LABEL|SHOW SETTING|EXECUTE (?:BOOSTED )?(?:PROCEDURE|(?:USER (?:DEFINED )?)?FUNCTION))S? (.+)"
)

_GRAPH = frozenset(("TRAVERSE", "READ", "CREATE", "DELETE", "SET LABEL", "REMOVE LABEL", "SET PROPERTY"))
_DATABASE = frozenset(
    (
        "ACCESS",
        "NAME MANAGEMENT",
        "CREATE INDEX",
        "DROP INDEX",
        "SHOW INDEX",
        "CREATE CONSTRAINT",
        "DROP CONSTRAINT",
        "SHOW CONSTRAINT",
    )
)
_PARTS = {
    "ALL GRAPH PRIVILEGES": _GRAPH,
    "WRITE": _GRAPH - {"TRAVERSE", "READ"},
    "MATCH": frozenset(("TRAVERSE", "READ")),
    "MERGE": frozenset(("TRAVERSE", "READ", "CREATE", "SET PROPERTY")),
    "ALL DATABASE PRIVILEGES": _DATABASE,
    "INDEX MANAGEMENT": frozenset(("CREATE INDEX", "DROP INDEX", "SHOW INDEX")),
    "CONSTRAINT MANAGEMENT": frozenset(("CREATE CONSTRAINT", "DROP CONSTRAINT", "SHOW CONSTRAINT")),
    "TRANSACTION MANAGEMENT": frozenset(("SHOW TRANSACTION", "TERMINATE TRANSACTION")),
    "ALL DBMS PRIVILEGES": frozenset(
        ("EXECUTE PROCEDURE", "EXECUTE FUNCTION", "EXECUTE BOOSTED PROCEDURE", "SHOW SETTING")
    ),
}
"""Privileges that are several."""

_ON_ELEMENTS = frozenset(("ALL GRAPH PRIVILEGES", "WRITE", *_PARTS["MERGE"], "MATCH", "MERGE", "DELETE"))
"""Privileges that are about all nodes and relationships where none are named."""

HOME = "home"


@dataclass(frozen=True)
class Privilege:
    """One right. ``scope``: a database in small letters, `*`, `home` or `dbms`; ``element`` NODE or RELATIONSHIP, ``name`` its
    label or type, or a procedure; ``property`` of it. None: it isn't about that; `*`: any."""

    action: str
    scope: str
    element: str | None = None
    name: str | None = None
    property: str | None = None

    def __str__(self) -> str:
        of = "" if self.property is None else f" {{{self.property}}}"
        on = f" on {self.element.lower()}s {self.name}" if self.element else f" {self.name}" if self.name else ""
        return f"{self.action}{of}{on}"

    def covers(self, other: Privilege) -> bool:
        """Whether who has this has the other one as well."""
        return (
            self.action == other.action
            and self.scope in ("*", HOME, other.scope)
            and (self.element is None or self.element == other.element)
            and _matches(self.name, other.name)
            and _matches(self.property, other.property)
        )

    def is_wide(self) -> bool:
        """Whether it covers more than itself."""
        return (
            self.scope in ("*", HOME) or self.property == "*" or self.name is None or bool(set("*?") & set(self.name))
        )


def _matches(pattern: str | None, name: str | None) -> bool:
    return pattern in (None, "*", name) or (name is not None and pattern is not None and fnmatchcase(name, pattern))


class _Set:
    """Some privileges, to be asked often."""

    def __init__(self, privileges: Iterable[Privilege]) -> None:
        self.all = tuple(dict.fromkeys(privileges))
        self._exact = frozenset(self.all)
        self._wide = tuple(each for each in self.all if each.is_wide())

    def cover(self, asked: Privilege) -> bool:
        """Whether one of them covers it."""
        return asked in self._exact or any(each.covers(asked) for each in self._wide)


class Privileges:
    """What somebody may: what is ``granted`` and not ``denied``."""

    def __init__(self, granted: Iterable[Privilege], denied: Iterable[Privilege]) -> None:
        self._granted, self._denied = _Set(granted), _Set(denied)
        self.granted, self.denied = self._granted.all, self._denied.all

    @classmethod
    def of(cls, commands: Iterable[str]) -> Privileges:
        """From GRANT and DENY commands; others, such as CREATE ROLE, are passed over."""
        found: dict[str, list[Privilege]] = {"GRANT": [], "DENY": []}
        for command in commands:
            verb, _, rest = " ".join(command.rstrip("; ").split()).partition(" ")
            if verb in found:
                found[verb] += _atoms(rest.rpartition(" TO ")[0])
        return cls(found["GRANT"], found["DENY"])

    def allow(self, asked: Privilege) -> bool:
        """Whether ``asked`` may be done."""
        return self._granted.cover(asked) and not self._denied.cover(asked)

    def allow_on_node(self, asked: Privilege, labels: Iterable[str]) -> bool:
        """Whether it may be done to a node with these labels: one of them is granted, none denied; of CREATE all are granted."""
        each = [replace(asked, element="NODE", name=label) for label in labels]
        ask = all if asked.action == "CREATE" else any
        return ask(map(self._granted.cover, each)) and not any(map(self._denied.cover, each))

    def lacks(self, wanted: Privileges) -> list[Privilege]:
        """What of ``wanted`` may not be done. What it denies itself it doesn't want."""
        others = _Set(each for each in self.denied if not wanted._denied.cover(each))
        return [each for each in wanted.granted if not self._granted.cover(each) or others.cover(each)]


def _names(text: str) -> list[str]:
    return [quoted.replace("``", "`") if quoted else plain for quoted, plain in _NAME.findall(text)]


def _atoms(text: str) -> list[Privilege]:
    """From what stands between the verb and TO."""
    what, _, where = text.removeprefix("IMMUTABLE ").partition(" ON ")
    scope = _SCOPE.match(where)
    if scope is None:
        return []
    rest = where[scope.end() :]
    properties: list[str | None] = [None]
    names: list[str | None] = [None]
    if "{" in what:
        what, _, listed = what.partition("{")
        properties = [*_names(listed.rstrip(" }"))]
    elif of := _OF_NAMES.fullmatch(what):
        what, names = of[1].replace("USER ", "").replace("DEFINED ", ""), [*_names(of[2])]
    action = what.partition("(")[0].strip().upper()
    if action in ("ALL", "ALL PRIVILEGES"):
        action = f"ALL {scope[1]} PRIVILEGES"
    elements: list[str | None] = [None]
    if element := _ELEMENT.search(rest):
        names = [*_names(rest[element.end() :])]
        rest = rest[: element.start()]
        elements = ["NODE", "RELATIONSHIP"] if element[1] == "ELEMENT" else [element[1]]
    elif action in _ON_ELEMENTS:
        elements, names = ["NODE", "RELATIONSHIP"], ["*"]
    scopes = ["dbms"] if scope[1] == "DBMS" else [name.lower() for name in _names(rest)] or [HOME]
    return [
        _privilege(part, where, element, name, of)
        for part, where, element, name, of in product(
            sorted(_PARTS.get(action, {action})), scopes, elements, names, properties
        )
    ]


def _privilege(action: str, scope: str, element: str | None, name: str | None, of: str | None) -> Privilege:
    """Labels are set on any node, and properties are any where none is named."""
    if action.endswith(" LABEL"):
        return Privilege(action, scope, name=name)
    return Privilege(action, scope, element, name, (of or "*") if action in ("READ", "SET PROPERTY") else None)
