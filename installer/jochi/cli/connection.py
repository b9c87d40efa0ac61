"""The connection options of the command line, and the objects that commands work with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import typer

from jochi.cli.options import options_of
from jochi.cli.output import finish_with_json
from jochi.cli.settings import find_settings
from jochi.database.connection import connected
from jochi.database.database import Database

if TYPE_CHECKING:
    from jochi.client import Jochi
    from jochi.client.jobs import JobVerbs

T = TypeVar("T")


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
    from jochi.client import Jochi

    policy = options_of(context).load_policy()
    with connect(context) as database:
        yield Jochi(database.driver, database.name, policy=policy)


def answer(context: typer.Context, as_json: bool, ask: Callable[[Jochi], T]) -> T:
    """What ``ask`` gets from that client. With ``as_json`` the command ends here, and this is all that it prints."""
    with jochi(context) as client:
        found = ask(client)
    finish_with_json(found, as_json)
    return found


@contextmanager
def job_verbs(context: typer.Context) -> Iterator[JobVerbs]:
    """The page of the client that looks at jobs, without all others: what a command that is run often needs."""
    from jochi.client.jobs import JobVerbs

    policy = options_of(context).load_policy()
    with connect(context) as database:
        yield JobVerbs(database.driver, database.name, policy=policy)
