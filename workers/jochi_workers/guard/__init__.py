"""Whether two texts say the same: a judge that may only be asked, never be overruled by a similarity (DESIGN §10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GUARD_VERSION = "none"
"""Text by which pairs remember who judged them: those of another version are judged again."""


@dataclass(frozen=True)
class Ruling:
    """``merge``: they say the same. ``veto``: they don't. ``flag``: can't be told. ``reasons``: codes, such as 'number'."""

    verdict: Literal["merge", "flag", "veto"]
    reasons: tuple[str, ...] = ()


def judge(left: str, right: str, *, cosine: float | None, unknown_share: float = 0.0) -> Ruling:
    """Rules on two texts, in either order the same.

    ``cosine``: raw, of their vectors, None where there are none. ``unknown_share``: 0 to 1, of the tokens that the embedding
    model doesn't know, the greater of both.
    """
    return Ruling("flag", ("no guard",))
