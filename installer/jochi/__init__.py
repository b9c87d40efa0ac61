"""Jochi: memory curation inside Neo4j. What an application imports is here; the rooms beside it are the inside."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from jochi.errors import JochiError
from jochi.version import __version__

if TYPE_CHECKING:
    from jochi.client import AsyncJochi, Jochi
    from jochi.schema import migrations
    from jochi.use.edges import Edge
    from jochi.write import importing
    from jochi.write.observing import Turn
    from jochi.write.remembering import Link, Memory

__all__ = [
    "AsyncJochi",
    "Edge",
    "Jochi",
    "JochiError",
    "Link",
    "Memory",
    "Turn",
    "__version__",
    "importing",
    "migrations",
]

_HOMES = {
    "AsyncJochi": "jochi.client",
    "Edge": "jochi.use.edges",
    "Jochi": "jochi.client",
    "Link": "jochi.write.remembering",
    "Memory": "jochi.write.remembering",
    "Turn": "jochi.write.observing",
    "importing": "jochi.write",
    "migrations": "jochi.schema",
}


def __getattr__(name: str) -> Any:
    # Only when it is asked for: the client brings the driver and all else along, and until then nobody answers to Ctrl-C.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(_HOMES[name])
    return getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
