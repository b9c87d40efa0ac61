"""The connection options of the command line, and the objects that commands work with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeVar

import typer

from jochi.cli.options import options_of
from jochi.cli.output import finish_with_json
from jochi.cli.settings import find_settings
from jochi.database.connection import ConnectionSettings, connected
from jochi.database.database import Database

if TYPE_CHECKING:
    from jochi.client import Jochi
    from jochi.client.base import Base
    from jochi.client.jobs import JobVerbs

C = TypeVar("C", bound="Base")
T = TypeVar("T")


@contextmanager
def connect(context: typer.Context) -> Iterator[Database]:
    """The database that the options, the environment or the local server name."""
    with connected(_settings(context)) as database:
        yield database


def _settings(context: typer.Context) -> ConnectionSettings:
    options = options_of(context)
    return find_settings(options.uri, options.user, options.password_file, options.database)


@contextmanager
def _client(context: typer.Context, made: type[C]) -> Iterator[C]:
    policy = options_of(context).load_policy()
    with connect(context) as database:
        yield made(database.driver, database.name, policy=policy)


def jochi(context: typer.Context) -> AbstractContextManager[Jochi]:
    """The client on that database."""
    from jochi.client import Jochi

    return _client(context, Jochi)


@contextmanager
def waiting_jochi(context: typer.Context) -> Iterator[Jochi]:
    """The client on that database, which need not answer yet."""
    from jochi.client import Jochi

    policy, settings = options_of(context).load_policy(), _settings(context)
    with connected(settings, waits=True) as database:
        yield Jochi(database.driver, settings.database, policy=policy)


def job_verbs(context: typer.Context) -> AbstractContextManager[JobVerbs]:
    """The page of the client that looks at jobs, without all others: what a command that is run often needs."""
    from jochi.client.jobs import JobVerbs

    return _client(context, JobVerbs)


def answer(context: typer.Context, as_json: bool, ask: Callable[[Jochi], T]) -> T:
    """What ``ask`` gets from that client. With ``as_json`` the command ends here, and this is all that it prints."""
    with jochi(context) as client:
        found = ask(client)
    finish_with_json(found, as_json)
    return found
