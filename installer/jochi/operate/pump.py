"""Whether the pump of a database is alive: one answer for `status` and for `doctor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from jochi.jobs.arming import JobFault
from jochi.operate.check import Check, fail, ok, some, warn


def check_pump(
    pump: Mapping[str, Any],
    faults: Sequence[JobFault] | None,
    now: datetime,
    stall_after: timedelta,
) -> Check:
    """``pump``: its node's properties. ``faults``: of the repeat jobs; None where APOC's list can't be read."""
    tick: datetime | None = pump.get("last_tick")
    age = None if tick is None else now - tick
    ago = "it never ticked" if age is None else f"the last tick was {max(0, int(age.total_seconds()))} s ago"
    if not pump.get("armed"):
        return warn(
            "pump",
            "not armed: the database doesn't curate itself",
            "drive the jobs from outside with `jochi jobs run --due`, or run `jochi install` to arm them",
        )
    if faults is None:
        return fail(
            "pump",
            "armed, but APOC's list of jobs can't be read",
            "put APOC Core on the server, or `jochi install --no-arm`",
        )
    if faults:
        busy = "; if that doesn't help, SHOW TRANSACTIONS says what keeps the scheduler's threads busy"
        alone = (
            ": nobody else arms both again but a `jochi worker`, where the server started without the line in apoc.conf, was "
            "read-only for a while or became the cluster's leader"
        )
        fix = "run `jochi jobs arm`" + alone * (len(faults) == 2 and not any(f.listed for f in faults))
        return fail(
            "pump", f"{some([str(each) for each in faults])}; {ago}", fix + busy * any(f.listed for f in faults)
        )
    held = pump.get("installing_until")
    if held is not None and held > now:
        return warn(
            "pump",
            f"held by an install until {held:%H:%M:%S}Z",
            "wait for it; if that install was killed, the pump goes on by itself then",
        )
    if not pump.get("enabled", True):
        return warn("pump", f"paused by {pump.get('paused_by') or 'somebody'}", "run `jochi resume --all`")
    if age is None or age > stall_after:
        return fail(
            "pump",
            f"armed, but it makes no progress: {ago}",
            "look at SHOW TRANSACTIONS for what blocks it, then run `jochi jobs arm`",
        )
    return ok("pump", f"pump and watch are armed; {ago}")
