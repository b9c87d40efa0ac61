"""Whether the engine comes back by itself after a restart: the proof is the mark that the re-arming line leaves.

The line in apoc.conf (`jochi.jobs.rearm`) can't be read from a client. But each time it runs, it writes
`server_started_at` on the pumps: a mark newer than the server's start shows that it is there and works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from jochi.database.database import Database
from jochi.database.server_facts import ServerFacts
from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.operate.check import Check, fail, ok, unknown, warn

ApocConfAt = Callable[[str, int], str]
"""Reads the apoc.conf of the server at a host and port; empty where its file can't be read from here."""


KEEP_ARMED = "keep `jochi worker --arm` running somewhere: it arms the jobs again, as its own user"
"""What comes in the place of apoc.conf's line where there is no such file."""


def unread(host: str, port: int) -> str:
    """For who knows no server's files."""
    return ""


def restart_of(
    database: Database,
    facts: ServerFacts,
    pump: Mapping[str, Any] | None,
    started_at: datetime | None,
    apoc_conf_at: ApocConfAt,
) -> Check:
    """The check of what is there."""
    if facts.apoc is None:
        return unknown("restart", "there is no APOC: a restart arms nothing", "see the check apoc")
    if facts.aura:
        return check_rearming(pump, started_at)
    return check_restart(pump, started_at, database.name, apoc_conf_at(*database.address))


def check_rearming(pump: Mapping[str, Any] | None, started_at: datetime | None) -> Check:
    """As `check_restart`, where there is no apoc.conf: a client arms the jobs again, and the newest arming shows it."""
    rearmed: datetime | None = None if pump is None else pump.get("rearmed_at")
    if pump is not None and started_at is not None and pump["installed_at"] < started_at:
        if rearmed is not None and rearmed >= started_at:
            return ok(
                "restart", f"the server started at {started_at:%Y-%m-%d %H:%M:%S}Z and a client armed the jobs again"
            )
        return warn("restart", "the server was restarted and nobody armed the jobs again", KEEP_ARMED)
    return unknown(
        "restart", "Aura has no apoc.conf: after a restart or a pause a client arms the jobs again", KEEP_ARMED
    )


def check_restart(
    pump: Mapping[str, Any] | None, started_at: datetime | None, database: str, apoc_conf: str = ""
) -> Check:
    """``pump``: properties of its node (None: not installed). ``started_at``: the server's start, None if it can't be read.

    ``apoc_conf``: the text of that file, where it is known.
    """
    wanted = f"{rearm_key(database)}={rearm_line()}"
    line = f"put this line into apoc.conf (a restart makes it count): {wanted}"
    pinned = pump is not None and bool(pump.get("pinned"))
    if pinned:
        line = "put the line into apoc.conf that `jochi install` prints (a restart makes it count)"
    mark: datetime | None = None if pump is None else pump.get("server_started_at")
    refused: datetime | None = None if pump is None else pump.get("pin_refused_at")
    if started_at is None:
        return unknown("restart", "this user may not read when the server started", line)
    if refused is not None and refused >= started_at:
        return fail(
            "restart",
            "the server was restarted, and the hash in apoc.conf's line is not that of what is installed: nothing was armed",
            f"if nobody edited the engine in the database (see the checks procedures and pump texts): {line}",
        )
    if mark is not None and mark >= started_at:
        return ok(
            "restart", f"the server started at {started_at:%Y-%m-%d %H:%M:%S}Z and its apoc.conf armed the jobs again"
        )
    if pump is None or pump["installed_at"] > started_at:
        if wanted in apoc_conf.splitlines() and not pinned:
            return ok(
                "restart", "apoc.conf has the line that arms the jobs again; no restart since the install proves it"
            )
        return unknown(
            "restart", "the server has not been restarted since the install, so nothing proves the line yet", line
        )
    return warn("restart", "the server was restarted and its apoc.conf didn't arm the jobs again", line)
