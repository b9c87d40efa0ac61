"""The server process: started detached, recognised without doubt, ended only when it is ours.

The pid file keeps the pid, the process's own start time and the instance folder. A process is ours when all three fit:
it has the pid, it was created at that time, and `--home-dir=<folder>` is one of its arguments. So neither a stale pid
file nor a recycled pid can make Jochi end somebody else's process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

from jochi.localserver.paths import Layout

_CREATED_WITHIN_SECONDS = 2.0
"""psutil derives the start time from the boot time, which a clock correction shifts a little."""

_KEPT = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "TMPDIR", "TEMP", "TMP", "TZ", "SYSTEMROOT", "USERPROFILE")


def launch(layout: Layout, java: Path, main_class: str) -> psutil.Process:
    """Starts the JVM in a session of its own and writes the pid file.

    Nothing of the caller's environment that could steer a JVM or Neo4j reaches it (JAVA_HOME, JAVA_TOOL_OPTIONS,
    CLASSPATH, NEO4J_…, apoc.…), and no secret stands on its command line.
    """
    command = [
        str(java),
        f"@{layout.java_arguments}",
        main_class,
        _home_argument(layout),
        f"--config-dir={layout.conf}",
        "--console-mode",
    ]
    environment = {key: value for key, value in os.environ.items() if key.upper() in _KEPT}
    environment["NEO4J_CONF"] = str(layout.conf)
    detached: dict[str, Any] = (
        {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP
        if sys.platform == "win32"
        else {"start_new_session": True}
    )
    if layout.console_log.exists():
        layout.console_log.replace(layout.console_log.with_suffix(".log.1"))
    with layout.console_log.open("wb") as log:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=layout.root,
            env=environment,
            **detached,
        )
    # The server outlives this process by design; without this, Popen warns of a child left behind. psutil reaps it.
    child.returncode = 0
    process = psutil.Process(child.pid)
    _write_pid(layout, process)
    return process


def find(layout: Layout) -> psutil.Process | None:
    """The live server process of this instance, or None.

    First by the pid file; when that is stale or lost (the starter was killed in between), by looking for a process
    of this user that has this instance's folder as its argument: nothing else has it.
    """
    process = _by_pid_file(layout)
    if process is not None:
        return process
    argument = _home_argument(layout)
    for candidate in psutil.process_iter(["cmdline", "exe"]):
        if argument in (candidate.info["cmdline"] or ()) and _is_java(candidate.info["exe"]) and alive(candidate):
            _write_pid(layout, candidate)
            return candidate
    return None


def stale_pid(layout: Layout) -> int | None:
    """The pid of a pid file whose process is gone or is another one; None when there is no such file."""
    recorded = _recorded(layout)
    return recorded["pid"] if recorded is not None and _by_pid_file(layout) is None else None


def end(process: psutil.Process, layout: Layout, grace_seconds: float) -> bool:
    """Asks the process to stop, waits, then kills it. Returns False when it had to be killed."""
    gracefully = True
    try:
        process.terminate()
        process.wait(grace_seconds)
    except psutil.NoSuchProcess:
        pass
    except psutil.TimeoutExpired:
        gracefully = False
        kill(process, layout)
    _forget(layout)
    return gracefully


def kill(process: psutil.Process, layout: Layout) -> None:
    """Ends the process at once (SIGKILL)."""
    try:
        process.kill()
        process.wait(30)
    except psutil.NoSuchProcess:
        pass
    _forget(layout)


def listens(process: psutil.Process, port: int) -> bool:
    """True when it is this process that listens on ``port``: nobody else shall be sent the password."""
    try:
        connections = process.net_connections(kind="tcp")
    except psutil.Error:
        return False
    return any(c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port == port for c in connections)


def _by_pid_file(layout: Layout) -> psutil.Process | None:
    recorded = _recorded(layout)
    if recorded is None:
        return None
    try:
        process = psutil.Process(recorded["pid"])
        ours = (
            abs(process.create_time() - recorded["created"]) <= _CREATED_WITHIN_SECONDS
            and recorded["home"] == str(layout.root)
            and _home_argument(layout) in process.cmdline()
        )
    except psutil.Error:
        return None
    return process if ours and alive(process) else None


def _recorded(layout: Layout) -> dict[str, Any] | None:
    try:
        recorded = json.loads(layout.pid_file.read_text(encoding="utf-8"))
        return {"pid": int(recorded["pid"]), "created": float(recorded["created"]), "home": str(recorded["home"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_pid(layout: Layout, process: psutil.Process) -> None:
    content = {"pid": process.pid, "created": process.create_time(), "home": str(layout.root)}
    part = layout.pid_file.with_suffix(".part")
    part.write_text(json.dumps(content) + "\n", encoding="utf-8")
    part.replace(layout.pid_file)


def _forget(layout: Layout) -> None:
    layout.pid_file.unlink(missing_ok=True)


def alive(process: psutil.Process) -> bool:
    """True while the process runs; a zombie has ended."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _home_argument(layout: Layout) -> str:
    return f"--home-dir={layout.root}"


def _is_java(executable: str | None) -> bool:
    return executable is not None and Path(executable).stem == "java"
