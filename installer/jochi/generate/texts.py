"""What the generated team writes about: sentences with slots, by kind and by role (`texts.toml`)."""

from __future__ import annotations

from jochi.toml import beside

_FILE = beside(__file__, "texts.toml")

ROLES: dict[str, str] = _FILE["roles"]
AGENTS = tuple(ROLES)
"""The six agents of seed 000."""

SLOTS: dict[str, list[str]] = _FILE["slots"]
ENTRIES: dict[str, list[str]] = _FILE["entries"]
TEXTS: dict[str, list[str]] = _FILE["texts"]
SUMMARIES: dict[str, str] = _FILE["summaries"]
