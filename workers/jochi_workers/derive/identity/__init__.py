"""One reflection out of many: who somebody has come to be, in few words (seed 003, Consolidation Pass: IDENTITY.md
reflections above 8 KB; docs/reference/profiles.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jochi.text.tokens import TokenCounter
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.model_summariser import word_limit
from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.storylines import offline, source_texts
from jochi_workers.handler import Row


def _faults(row: Row, output: str, counter: TokenCounter) -> tuple[str, ...]:
    """Nothing that no reflection says. (How long it may be, whoever stores it asks.)"""
    return faults(source_texts(row), output, share=1.0, counter=counter, keep=False)


def _words(row: Row) -> Mapping[str, Any]:
    return {"words": word_limit(row["most_tokens"])}


DERIVATION = Derivation(
    name="identity",
    folder=Path(__file__).parent,
    output=str,
    offline=offline,
    faults=_faults,
    example={"words": 10**9},
    words=_words,
)
