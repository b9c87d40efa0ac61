"""Themes of somebody's life: storylines of one anchor, in two to four sentences (seed 002, Weekly Macro Promotion and Refresh)."""

from __future__ import annotations

from pathlib import Path

from jochi_workers.derive.derivation import Derivation
from jochi_workers.derive.storylines import offline, story_faults, words

DERIVATION = Derivation(
    name="macros",
    folder=Path(__file__).parent,
    output=str,
    offline=offline,
    faults=story_faults,
    example={"name": "somebody", "words": 10**9},
    words=words,
)
