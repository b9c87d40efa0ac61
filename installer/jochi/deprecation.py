"""Names that changed, under the ones that they had: an old one still works in this version, with a `DeprecationWarning`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from jochi.toml import beside

_NAMES = beside(__file__, "deprecation.toml")
RENAMED: Mapping[str, Mapping[str, str]] = _NAMES["names"]
"""By module: old name and new name."""
METHODS: Mapping[str, str] = _NAMES["methods"]
"""The same of methods of `jochi.Jochi`."""


def old_names(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module some of whose names changed."""

    def find(name: str) -> Any:
        if name not in RENAMED[module]:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        new = RENAMED[module][name]
        warnings.warn(f"{module}.{name} is {module}.{new} now", DeprecationWarning, stacklevel=2)
        return getattr(import_module(module), new)

    return find


def old_method(owner: object, name: str) -> Any:
    """What `__getattr__` of the client finds."""
    if name not in METHODS:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    new = METHODS[name]
    warnings.warn(f"{type(owner).__name__}.{name} is {new} now", DeprecationWarning, stacklevel=3)
    return getattr(owner, new)
