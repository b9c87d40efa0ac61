"""The profile of a scope: how somebody works and what they want, one thing a line, in no more lines than the policy says (seed 003,
Consolidation Pass: behavioral profile; docs/reference/profiles.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.storylines import source_texts
from jochi_workers.handler import Row


def _offline(row: Row, counter: TokenCounter) -> str:
    """The facts as they stand, one a line, the newest first, each once, as far as there is room."""
    lines: dict[str, str] = {}
    for each in row["inputs"]:
        line = " ".join(each["content"].split())
        fits = len(lines) < row["lines"] and counter.count("\n".join([*lines.values(), line])) <= row["most_tokens"]
        if line and fits:
            lines.setdefault(line.casefold(), line)
    return "\n".join(lines.values())


def _faults(row: Row, output: str, counter: TokenCounter) -> tuple[str, ...]:
    """No more lines than it may have, and nothing that no fact says. (They may be in several languages.)"""
    if len(output.splitlines()) > row["lines"]:
        return ("too many lines",)
    found = faults(source_texts(row), output, share=1.0, counter=counter, keep=False)
    return tuple(reason for reason in found if reason != "language")


def _words(row: Row) -> Mapping[str, Any]:
    return {"lines": row["lines"], "words": word_limit(row["most_tokens"])}


DERIVATION = Derivation(
    name="profile",
    folder=Path(__file__).parent,
    output=str,
    offline=_offline,
    faults=_faults,
    example={"lines": 10**9, "words": 10**9},
    words=_words,
)
