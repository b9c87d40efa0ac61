"""`Jochi`: every verb of the engine as a method with a typed result, one page a group. The command line is thin over it.
`AsyncJochi` is the same for a program with an event loop.

>>> from neo4j import GraphDatabase
>>> from jochi import Jochi
>>> with GraphDatabase.driver(uri, auth=(user, password)) as driver:  # doctest: +SKIP
...     print(Jochi(driver).plan().prunes)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jochi.client.aio import AsyncJochi
    from jochi.client.client import Jochi

__all__ = ["AsyncJochi", "Jochi"]

_HOMES = {"AsyncJochi": "jochi.client.aio", "Jochi": "jochi.client.client"}


def __getattr__(name: str) -> Any:
    # Only when it is asked for: who wants one page of it, as `jochi status` does, needs no other.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
