"""Whether the process that wrote its name on a lock still runs.

Only what can be proved counts: the same place where process ids are handed out (one boot of one machine, one container)
and the same start of the process, since ids are used again.
"""

from __future__ import annotations

import os
import socket
import sys
import uuid
from collections.abc import Set
from enum import Enum
from pathlib import Path
from typing import Any

from jochi.schema.migrations.results import Lock

_PROC = Path("/proc")


class Liveness(Enum):
    """What is known about a lock's holder."""

    ALIVE = "alive"
    GONE = "gone"
    UNKNOWN = "unknown"


def describe_this_process() -> dict[str, Any]:
    """What is written on the lock: package, host, pid, pidSpace, processStart (the latter two may be None)."""
    return {
        "package": "jochi",
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "pidSpace": pid_space(),
        "processStart": process_start(os.getpid()),
    }


def pid_space() -> str | None:
    """A name for the place in which this process's id is unique, None if there is no telling."""
    if sys.platform == "linux":
        try:
            boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
            return f"{boot}/{(_PROC / 'self/ns/pid').readlink()}"
        except OSError:
            return None
    return f"{sys.platform}:{uuid.getnode():012x}"


def process_start(pid: int) -> str | None:
    """When process ``pid`` started, in the kernel's ticks since boot; None without /proc or without the process."""
    found = _state_and_start(pid)
    return None if found is None else found[1]


def _state_and_start(pid: int) -> tuple[str, str] | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The second field is the program's name in parentheses and may hold anything; state is the 3rd, start the 22nd.
    fields = stat.rpartition(")")[2].split()
    return fields[0], fields[19]


def liveness(lock: Lock, held_here: Set[str]) -> Liveness:
    """Whether the holder of ``lock`` runs; ``held_here`` are the ids of the locks that this process holds."""
    if lock.pid is None or lock.pid_space is None or lock.pid_space != pid_space():
        return Liveness.UNKNOWN
    if lock.pid == os.getpid() and lock.process_start == process_start(lock.pid):
        return Liveness.ALIVE if lock.id in held_here else Liveness.GONE
    found = _state_and_start(lock.pid)
    if lock.process_start is None or found is None:
        # /proc may hide other users' processes, so its silence proves nothing.
        return _exists(lock.pid)
    state, start = found
    return Liveness.ALIVE if state not in "ZX" and start == lock.process_start else Liveness.GONE


def _exists(pid: int) -> Liveness:
    if os.name != "posix":
        # On Windows os.kill ends the process instead of asking for it.
        return Liveness.UNKNOWN
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return Liveness.GONE
    except PermissionError:
        return Liveness.ALIVE
    return Liveness.ALIVE
