"""A local Neo4j for development and tests: no Docker, no Java, no Maven needed (extra `jochi[server]`).

Loopback only, authentication on, one data folder per named instance. It is a development default: no TLS, no backups,
small memory, one machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jochi.localserver.errors import missing_extra

if TYPE_CHECKING:
    from jochi.localserver.running import Running
    from jochi.localserver.server import LocalServer, Status, Upgrade

__all__ = ["LocalServer", "Running", "Status", "Upgrade"]


def __getattr__(name: str) -> Any:
    """Loads the classes when they are asked for: without the extra, that is `MissingExtra` and not a traceback."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from jochi.localserver import running, server
    except ImportError as error:
        raise missing_extra(error) from error
    return getattr(running if name == "Running" else server, name)
