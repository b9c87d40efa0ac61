"""Where a local server keeps its files.

`JOCHI_HOME` (default: the user's data folder) holds `servers/<name>/`; `JOCHI_CACHE` (default: the user's cache
folder) holds the downloads that all instances share.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jochi.errors import UsageError
from jochi.folders import cache_folder, home_folder

__all__ = ["Layout", "cache_folder", "home_folder"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@dataclass
class Layout:
    """The files of one instance, all below ``root``; the lock file lies beside it, so that a reset can't take it."""

    root: Path

    def __post_init__(self) -> None:
        self.lock = self.root.with_name(self.root.name + ".lock")
        self.conf, self.data, self.logs, self.plugins, self.run = (
            self.root / name for name in ("conf", "data", "logs", "plugins", "run")
        )
        self.pid_file, self.java_arguments = self.run / "pid.json", self.run / "java.args"
        self.password_file, self.record = self.root / "password", self.root / "server.json"
        self.console_log = self.logs / "console.log"

    @classmethod
    def of(cls, name: str, home: Path | None) -> Layout:
        """The layout of instance ``name``; a name that could leave its folder is a `UsageError`."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} can't name an instance",
                fix="use up to 40 of a-z, 0-9, - and _, beginning with a letter or digit",
            )
        base = home.expanduser().resolve() if home is not None else home_folder()
        return cls(base / "servers" / name)


def apoc_conf_at(host: str, port: int) -> str:
    """The text of apoc.conf of the local server that answers at this address; empty where none of this user's does."""
    if host not in ("127.0.0.1", "localhost", "::1"):
        return ""
    for record in (home_folder() / "servers").glob("*/server.json"):
        with suppress(OSError, ValueError, AttributeError):
            if json.loads(record.read_text(encoding="utf-8")).get("port") == port:
                return (Layout(record.parent).conf / "apoc.conf").read_text(encoding="utf-8")
    return ""
