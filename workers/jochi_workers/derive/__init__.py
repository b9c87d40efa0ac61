"""Memories that are made out of memories (DESIGN §13): each derivation is a folder here, found by its name."""

from __future__ import annotations

from importlib import import_module

from jochi.errors import UsageError
from jochi_workers.derive.derivation import Derivation


def derivation(name: str) -> Derivation:
    """The one that the folder ``name`` calls `DERIVATION`. `UsageError` where there is none."""
    try:
        found = getattr(import_module(f"{__name__}.{name}"), "DERIVATION", None)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        found = None
    if not isinstance(found, Derivation):
        raise UsageError(
            f"this worker can't make {name}",
            where=f"derive.{name} of the policy",
            fix="install the version of jochi that has it on this machine, too, or set deriving = false",
        )
    return found
