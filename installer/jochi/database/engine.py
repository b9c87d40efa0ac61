"""The engine as it is installed in one database: reads its state and runs its procedures from outside.

The texts come from the database, so a client runs exactly what the database itself would run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, NamedTuple

import neo4j

from jochi.database.batches import PageSize
from jochi.database.database import Database, Row, in_one_map
from jochi.database.installed import InstalledProcedure, pump_name, watch_name
from jochi.database.statements import statement
from jochi.errors import JochiError, Refused
from jochi.version import __version__, minor_of

_NOT_CODE = re.compile(r"^\s*//.*$|'(?:[^'\\]|\\.)*'", re.MULTILINE)
_ASKED = re.compile(r"\$in\.(\w+)")

NOT_INSTALLED = "run `jochi install` first"

_CLOCKS = frozenset({"now", "clock"})

_KILL_SWITCH = frozenset({"jobs/pause", "jobs/resume"})
"""What must work on whatever is installed: their parameters and columns have been the same since the first version."""


class OtherVersion(Refused):
    """The engine in the database is of another minor version than this package; ``newer``: than it."""

    def __init__(self, installed: str | None, database: str, *, newer: bool) -> None:
        by = f"jochi {installed}" if installed else "a jochi of an unknown version"
        upgrade = f"use {by} here: bring this package to that version"
        super().__init__(
            f"this database was installed by {by}, and this is jochi {__version__}",
            where=f"database {database}",
            fix=upgrade if newer else f"{NOT_INSTALLED}: it brings the database to this version",
        )
        self.newer = newer


@dataclass(frozen=True)
class EngineState:
    """What is installed, besides the procedures. ``pump``: None where Jochi isn't installed. ``policy_text``: the current policy
    as stored."""

    pump: Mapping[str, Any] | None
    policy_text: str | None
    policy_data: Mapping[str, Any] | None
    """The policy as the judge reads it (`jochi.compile`)."""


class _Kept(NamedTuple):
    state: EngineState
    procedures: dict[str, InstalledProcedure]
    bodies_given: bool = False


class Engine:
    """The installed engine of one database. Keeps the procedures' texts until `refresh` is called. For any number of threads."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._kept: _Kept | None = None
        self.indexes_ready = False
        """Whether the indexes that recall asks were seen built; `jochi.use.recall` keeps it."""

    @property
    def pump(self) -> str:
        """The name of the repeat job that runs due jobs."""
        return pump_name(self.database.name)

    @property
    def watch(self) -> str:
        """The name of the repeat job that arms the pump again."""
        return watch_name(self.database.name)

    def state(self) -> EngineState:
        """Reads the pump's node and the policy."""
        return self._read(texts=False).state

    def procedures(self) -> dict[str, InstalledProcedure]:
        """Reads all procedures, a megabyte; by name."""
        return self._read(texts=True).procedures

    def _read(self, *, texts: bool) -> _Kept:
        given = {"pump": self.pump, "texts": texts}
        row = self.database.run(statement("install/read_engine"), given, write=False)[0]
        procedures = [InstalledProcedure.from_row(entry) for entry in row["procedures"]]
        compiled = row["policy_compiled"]
        state = EngineState(row["pump"], row["policy_text"], None if compiled is None else json.loads(compiled))
        return _Kept(state, {procedure.name: procedure for procedure in procedures})

    def refresh(self) -> None:
        """Drops the texts; the next call reads them again (after install, or to see another client's install)."""
        self._kept = None
        self.indexes_ready = False

    def other_version(self) -> OtherVersion | None:
        """Why no body is called here: an engine of another minor version means other parameters and columns. None: it isn't one."""
        if (known := self._known()).bodies_given or known.state.pump is None:
            return None
        installed = known.state.pump["version"]
        there, here = minor_of(installed), minor_of(__version__)
        return None if there == here else OtherVersion(installed, self.database.name, newer=there > here)

    def use_bodies(self, procedures: Mapping[str, InstalledProcedure], policy_data: Mapping[str, Any]) -> None:
        """Calls these bodies of this version from now on, instead of those that another one has left in the database."""
        state = EngineState(self.state().pump, None, policy_data)
        self._kept = _Kept(state, dict(procedures), bodies_given=True)

    def text(self, name: str, section: str = "body") -> str:
        """The installed text of a procedure's section; `Refused` where it isn't installed, or is of another minor version."""
        if name not in _KILL_SWITCH and (refused := self.other_version()) is not None:
            raise refused
        procedure = self._known().procedures.get(name)
        if procedure is None or section not in procedure.sections:
            raise Refused(
                f"the procedure {name} is not installed", where=f"database {self.database.name}", fix=NOT_INSTALLED
            )
        return procedure.sections[section]

    def has(self, name: str) -> bool:
        """Whether a procedure is installed, of whatever version."""
        return name in self._known().procedures

    def _known(self) -> _Kept:
        kept = self._kept  # another thread's `refresh` may take it away at any time
        if kept is None:
            self._kept = kept = self._read(texts=True)  # of one moment: the texts read this policy
        return kept

    def call(self, name: str, parameters: Mapping[str, Any], *, write: bool = True) -> Row:
        """Runs a call procedure (or one step of the scheduler) in a transaction of its own; returns its one row."""
        return self.database.run(self.text(name), self.given(self.text(name), parameters), write=write)[0]

    def call_page(self, name: str, parameters: Mapping[str, Any], pages: PageSize, *, write: bool = True) -> Row:
        """`call` of a procedure that takes a page of `limit` things: as many as the server's memory holds."""
        return pages.fit(lambda size: self.call(name, {**parameters, "limit": size}, write=write))

    def call_in(self, tx: neo4j.ManagedTransaction, text: str, parameters: Mapping[str, Any]) -> Row | None:
        """Runs ``text`` in a transaction that is under way; its first row, or None."""
        rows = [dict(record) for record in tx.run(text, self.given(text, parameters))]
        return rows[0] if rows else None

    def given(self, text: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that ``text`` is run with. What a map lacks is null to the server, so what is missing is said here.

        A body that asks for it gets the installed policy as data (`p`). Which stages it runs it knows itself.
        """
        names = asked_for(text)
        if "p" in names:
            parameters = {"p": self._known().state.policy_data, **parameters}
        parameters = {"stages": None, **parameters}
        if missing := names - parameters.keys():
            raise JochiError(
                f"a procedure was called without {', '.join(sorted(missing))}", fix="this is a defect of Jochi"
            )
        # In UTC: to Cypher one moment in two zones is two, of which one is later.
        clocks = {name: in_utc(parameters[name]) for name in _CLOCKS & parameters.keys()}
        given = in_one_map({**parameters, **clocks})
        # Bodies of the first databases read each parameter by its own name; of these only the kill switch is called.
        return given if "$in" in text else {**given["in"], **given}


def in_utc(moment: object) -> object:
    """The same moment in UTC, where it is one with a zone."""
    if isinstance(moment, datetime) and moment.utcoffset() is not None:
        return moment.astimezone(timezone.utc)
    return moment


@lru_cache(maxsize=512)
def asked_for(text: str) -> frozenset[str]:
    """The names of the values that a body asks for."""
    return frozenset(_ASKED.findall(_NOT_CODE.sub("", text)))
