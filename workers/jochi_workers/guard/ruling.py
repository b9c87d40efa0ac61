"""What a judge says: the verdict and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["merge", "flag", "veto"]


@dataclass(frozen=True)
class Ruling:
    """``merge``: both say the same. ``veto``: a difference was found that rules a merge out. ``flag``: can't tell.

    ``reasons``: codes, each once, sorted; the table of `docs/reference/merge-guard.md` says what each means.
    """

    verdict: Verdict
    reasons: tuple[str, ...] = ()


def ruling(verdict: Verdict, reasons: set[str] | frozenset[str]) -> Ruling:
    """With its reasons in order."""
    return Ruling(verdict, tuple(sorted(reasons)))
