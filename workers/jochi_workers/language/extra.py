"""The libraries of the extra [language], imported when the first text is read."""

from __future__ import annotations

from typing import Any

from jochi_workers.models import failures


def packages(*names: str) -> list[Any]:
    """These modules; `JochiError` names the one that isn't installed and says what to install."""
    return failures.packages(names, where="reading a text", fix="pip install 'jochi[language]'")
