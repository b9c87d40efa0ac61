"""The libraries of the extra [language], imported when the first text is read."""

from __future__ import annotations

import importlib
from typing import Any

from jochi.errors import JochiError

EXTRA = "pip install 'jochi[language]'"


def packages(*names: str) -> list[Any]:
    """These modules; `JochiError` names the one that isn't installed and says what to install."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        what = f"the package {error.name} is not installed"
        raise JochiError(what, where="reading a text", fix=EXTRA) from error
