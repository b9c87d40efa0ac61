"""Why a server process ended, from what it printed."""

from __future__ import annotations

import os
from pathlib import Path

from jochi.localserver import ports
from jochi.localserver.errors import LocalServerError, ServerDied, disk_full
from jochi.localserver.paths import Layout

_TAIL_BYTES = 1 << 18
_SHOWN_LINES = 15


def tail(path: Path, lines: int) -> list[str]:
    """The last ``lines`` lines of a text file; none when it doesn't exist."""
    if lines <= 0 or not path.is_file():
        return []
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        return file.read().decode("utf-8", errors="replace").splitlines()[-lines:]


def why_it_died(layout: Layout, port: int) -> LocalServerError:
    """The error for a process that ended during its start; the usual causes by name, else the end of its log."""
    lines = tail(layout.console_log, 200)
    text = "\n".join(lines)
    if "Address already in use" in text or "BindException" in text:
        return ports.taken(port)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return disk_full(layout.root)
    if "Unrecognized setting" in text:
        fix = "take the setting it names out of --setting"
    elif "FileLockException" in text or "Lock file has been locked" in text:
        fix = "another process uses this data folder: end it, or give another --name"
    else:
        fix = f"the whole log is there; `jochi server reset --name {layout.root.name}` starts with empty data"
    return ServerDied(
        "Neo4j ended during its start; the end of its log:\n" + "\n".join(lines[-_SHOWN_LINES:] or ["(it is empty)"]),
        where=str(layout.console_log),
        fix=fix,
    )
