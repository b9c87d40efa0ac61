"""`Jochi`: every verb of the engine as a method with a typed result, one page a group. The command line is thin over it.

>>> from neo4j import GraphDatabase
>>> from jochi import Jochi
>>> with GraphDatabase.driver(uri, auth=(user, password)) as driver:  # doctest: +SKIP
...     print(Jochi(driver).plan().prunes)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jochi.client.client import Jochi

__all__ = ["Jochi"]


def __getattr__(name: str) -> Any:
    # Only when it is asked for: who wants one page of it, as `jochi status` does, needs no other.
    if name != "Jochi":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from jochi.client.client import Jochi

    return Jochi
