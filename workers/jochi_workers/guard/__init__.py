"""The merge guard: may two memories become one? `docs/reference/merge-guard.md` says what it reads and what it refuses."""

from jochi_workers.guard.judge import GUARD_VERSION, judge, warm
from jochi_workers.guard.ruling import Ruling

__all__ = ["GUARD_VERSION", "Ruling", "judge", "warm"]
