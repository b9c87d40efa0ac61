"""Jochi: memory curation inside Neo4j."""

from __future__ import annotations

__version__ = "0.1.0"

from typing import TYPE_CHECKING, Any

from jochi.errors import JochiError

if TYPE_CHECKING:
    from jochi.client import Jochi

__all__ = ["Jochi", "JochiError", "__version__"]


def __getattr__(name: str) -> Any:
    # Only when it is asked for: the client brings the driver and all else along, and until then nobody answers to Ctrl-C.
    if name == "Jochi":
        from jochi.client import Jochi

        return Jochi
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
