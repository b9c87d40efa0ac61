"""The connection options of the command line, and the objects that commands work with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from jochi.cli.settings import find_settings
from jochi.client import Jochi
from jochi.database.connection import connected
from jochi.database.database import Database
from jochi.policy import LoadedPolicy, load_policy


@dataclass(frozen=True)
class Options:
    """What was given before the command: `jochi --uri … status`."""

    uri: str | None = None
    user: str | None = None
    password_file: Path | None = None
    database: str | None = None
    policy: Path | None = None

    def load_policy(self) -> LoadedPolicy | None:
        """The policy file that was named, if one was."""
        return None if self.policy is None else load_policy(self.policy)


def options_of(context: typer.Context) -> Options:
    """The options given before the command."""
    found = context.find_object(Options)
    return found or Options()


@contextmanager
def connect(context: typer.Context) -> Iterator[Database]:
    """The database that the options, the environment or the local server name."""
    options = options_of(context)
    settings = find_settings(options.uri, options.user, options.password_file, options.database)
    with connected(settings) as database:
        yield database


@contextmanager
def jochi(context: typer.Context) -> Iterator[Jochi]:
    """The client on that database."""
    policy = options_of(context).load_policy()
    with connect(context) as database:
        yield Jochi(database.driver, database.name, policy=policy)
