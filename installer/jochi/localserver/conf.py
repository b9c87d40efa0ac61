"""The configuration of a local server: neo4j.conf, apoc.conf and the arguments of the JVM.

Written afresh at every start from the arguments of that start; settings of an earlier start are not remembered.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from jochi.errors import UsageError
from jochi.jobs.rearm import rearm_key, rearm_line
from jochi.toml import beside

MB = 1 << 20
_HEAP_SHARE, _HEAP_LEAST, _HEAP_MOST = 0.25, 512 * MB, 2048 * MB
_CACHE_SHARE, _CACHE_LEAST, _CACHE_MOST = 0.12, 256 * MB, 1024 * MB

_CONF = beside(__file__, "conf.toml")


@dataclass(frozen=True)
class Memory:
    """Sizes in bytes."""

    heap: int
    page_cache: int


def memory_for(total: int) -> Memory:
    """Heap and page cache for a machine of ``total`` bytes: small enough to leave room for the work beside it."""
    heap = min(max(int(total * _HEAP_SHARE), _HEAP_LEAST), _HEAP_MOST)
    page_cache = min(max(int(total * _CACHE_SHARE), _CACHE_LEAST), _CACHE_MOST)
    return Memory(heap // MB * MB, page_cache // MB * MB)


def machine_memory(cgroup: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Bytes this process may use: the machine's memory, or its container's limit when that is lower."""
    total = int(psutil.virtual_memory().total)
    try:
        limit = cgroup.read_text(encoding="ascii").strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total


@dataclass(frozen=True)
class Configuration:
    """Both conf files as keys and values; `neo4j_conf()`, `apoc_conf()` and `java_arguments()` are their texts."""

    neo4j: dict[str, str]
    apoc: dict[str, str]

    @classmethod
    def of(cls, port: int, memory: Memory, *, apoc: bool, settings: Mapping[str, str] | None = None) -> Configuration:
        """The defaults with ``settings`` over them; a setting with an empty value removes the default line.

        Keys that begin with `apoc.` go to apoc.conf, the others to neo4j.conf. A key that would open the server to
        the network, switch authentication off or move its files is a `UsageError`.
        """
        sizes = {"heap": memory.heap // MB, "page_cache": memory.page_cache // MB}
        neo4j = {key: value.format(port=port, **sizes) for key, value in _CONF["neo4j"].items()}
        apoc_conf = {}
        if apoc:
            apoc_conf = {
                # The default is a quarter of the cores: one thread on a small machine, shared by pump and watch.
                "apoc.jobs.scheduled.num_threads": "4",
                rearm_key(): rearm_line(),
            }
        for key, value in (settings or {}).items():
            _check_setting(key, value)
            target = apoc_conf if key.startswith("apoc.") else neo4j
            if value:
                target[key] = value
            else:
                target.pop(key, None)
        return cls(neo4j, apoc_conf)

    def neo4j_conf(self) -> str:
        """The text of neo4j.conf."""
        return _text(self.neo4j)

    def apoc_conf(self) -> str:
        """The text of apoc.conf."""
        return _text(self.apoc)

    def java_arguments(self, class_path: list[Path], console: Path) -> str:
        """The text of the JVM's argument file: a command line with 224 paths is too long for some systems.

        ``console`` is the folder for what the JVM itself leaves behind when it crashes.
        """
        heap = self.neo4j.get("server.memory.heap.max_size")
        initial = self.neo4j.get("server.memory.heap.initial_size")
        options = [f"-Xmx{heap}"] if heap else []
        options += [f"-Xms{initial}"] if initial and (not heap or _size(initial) <= _size(heap)) else []
        options += [*_CONF["jvm_flags"], f"-XX:ErrorFile={console / 'jvm-crash-%p.log'}"]
        options += ["-cp", os.pathsep.join(str(path) for path in class_path)]
        return "".join(f"{_quoted(option)}\n" for option in options)


def _check_setting(key: str, value: str) -> None:
    if key.startswith(tuple(_CONF["fixed"])):
        raise UsageError(
            f"the setting {key} is fixed: a local server stays on the loopback, with a password, in its own folder",
            fix="leave it out; for anything else run a Neo4j of your own and set JOCHI_URI",
        )
    if not key or any(c in key for c in "=# \t") or not (key + value).isprintable():
        raise UsageError(f"{key!r} with this value can't be a setting", fix="give key=value on one line")


def parse_settings(pairs: list[str]) -> dict[str, str]:
    """`key=value` texts as a dictionary; `UsageError` for one without a `=`."""
    settings = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign:
            raise UsageError(f"{pair!r} is no setting", fix="give it as key=value")
        settings[key.strip()] = value.strip()
    return settings


def _text(settings: Mapping[str, str]) -> str:
    head = "# Written by `jochi server start` at every start; give your own with --setting key=value.\n"
    return head + "".join(f"{key}={value}\n" for key, value in settings.items())


def _size(text: str) -> int:
    """Bytes of a size such as `512m`."""
    units = {"k": 1 << 10, "m": MB, "g": 1 << 30}
    number = text.strip().lower().removesuffix("b").removesuffix("i")
    try:
        return int(float(number[:-1]) * units[number[-1]]) if number[-1] in units else int(number)
    except (ValueError, IndexError):
        raise UsageError(f"{text!r} is no memory size", fix="give it like 512m or 1g") from None


def _quoted(option: str) -> str:
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
