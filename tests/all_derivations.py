"""One policy for the tests of derivations, for the server plans the texts of each other policy anew."""

from __future__ import annotations

DERIVING = "".join(
    f"[derive.{name}]\nderiving = true\n"
    for name in ("process", "extract", "storylines", "macros", "describe", "meaning", "levels")
)
