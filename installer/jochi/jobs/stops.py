"""What the circuit breaker said when it stopped a run (docs/reference/plans-and-approval.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal


@dataclass(frozen=True)
class Stop:
    """Of one kind in one scope ``counted`` went in the ``window``, ``limit`` may; ``waiting``: held back in the last batch.

    ``window``: this run, or the rolling ``hours`` of the policy.
    """

    scope: str
    kind: str
    window: Literal["run", "day"]
    counted: int
    limit: int
    waiting: int
    hours: int

    @property
    def words(self) -> str:
        """One line for a person."""
        where = "in this run" if self.window == "run" else f"within {self.hours} hours"
        return (
            f"{self.kind} in scope {self.scope}: {self.counted:,} went {where}, the limit is {self.limit:,}; "
            f"{self.waiting:,} more of its last batch wait"
        )


def stops_of(run: Mapping[str, Any] | None) -> tuple[Stop, ...]:
    """From the properties of a :JochiJobRun; none where no breaker stopped it."""
    if not run or not run.get("stopped_scopes"):
        return ()
    columns = ("scopes", "kinds", "windows", "counted", "limits", "waiting")
    return tuple(map(Stop, *(run[f"stopped_{name}"] for name in columns), repeat(run["stopped_hours"])))
