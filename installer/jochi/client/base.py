"""What all pages of the client share: the database, the engine in it, the policy, and moments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import neo4j

from jochi import clock
from jochi.database.database import Database
from jochi.database.engine import NOT_INSTALLED, Engine
from jochi.database.server_clock import ServerClock
from jochi.deprecation import old_method
from jochi.errors import Refused
from jochi.graph.driver_values import zoned
from jochi.policy import LoadedPolicy, load_policy, stored_policy

P = ParamSpec("P")
R = TypeVar("R")


class Base:
    """The engine of one database, as every verb needs it. ``database`` None: the home database of the user."""

    def __init__(
        self, driver: neo4j.Driver, database: str | None = None, *, policy: LoadedPolicy | None = None
    ) -> None:
        self.database = Database(driver, database)
        self.engine = Engine(self.database)
        self._policy = policy

    if not TYPE_CHECKING:  # who is checked sees the new names only

        def __getattr__(self, name: str) -> Any:
            return old_method(self, name)

    @property
    def policy(self) -> LoadedPolicy:
        """The policy that was given, else the installed one, else the shipped one."""
        policy = self._policy  # `install` in another thread may take it away at any time
        if policy is None:
            stored = self.engine.state().policy_text
            self._policy = policy = load_policy() if stored is None else stored_policy(stored)
        return policy

    def _at(self, moment: datetime | None, where: str, name: str = "at") -> datetime:
        return clock.now() if moment is None else zoned(moment, name, where=where)

    def _now(self, now: datetime | None, where: str) -> datetime:
        return self._server_now() if now is None else zoned(now, "now", where=where)

    def _server_now(self) -> datetime:
        return ServerClock(self.database).now()

    def _read(self, name: str, **parameters: Any) -> dict[str, Any]:
        return self.engine.call(name, parameters, write=False)

    def _installed(self, pump: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if pump is None:
            raise Refused("jochi is not installed", where=f"database {self.database.name}", fix=NOT_INSTALLED)
        return pump


def on_engine(function: Callable[Concatenate[Engine, P], R]) -> Callable[Concatenate[Base, P], R]:
    """A verb that is a function of a room, called with the client's engine: arguments and docstring stand there alone."""

    @wraps(function)
    def verb(self: Base, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self.engine, *args, **kwargs)

    # What `help` and editors show: the client in the engine's place.
    given = inspect.signature(function)
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    verb.__signature__ = given.replace(parameters=[first, *list(given.parameters.values())[1:]])  # type: ignore[attr-defined]
    return verb
