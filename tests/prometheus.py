"""A real Prometheus and its promtool: those on PATH, else Debian's package, fetched once into the cache, without root."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jochi.folders import cache_folder
from jochi.localserver import ports

OPS = Path(__file__).parents[1] / "ops"
ALERTS = OPS / "prometheus/alerts.yml"
EXPORTER = OPS / "neo4j-exporter/custom_queries.yaml"

_NAME = re.compile(r"\bjochi_[a-z0-9_]+")
_DURATION = re.compile(r"(\bfor: |\[|\boffset )(\d+)([smhd])\b")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def names_in(expression: str) -> set[str]:
    """The metrics of Jochi that an expression reads, as they are scraped: with `_total`, `_bucket`, `_sum`, `_count`."""
    return set(_NAME.findall(re.sub(r'"[^"]*"', "", expression)))


def quicker(rules: str, times: int) -> str:
    """Rules with each `for`, range and offset so many times shorter, one second or more. What is compared stays."""

    def shorter(found: re.Match[str]) -> str:
        seconds = int(found[2]) * _SECONDS[found[3]]
        return f"{found[1]}{max(1, seconds // times)}s"

    return _DURATION.sub(shorter, rules)


def program(name: str) -> Path:
    """`prometheus` or `promtool`. The test fails, with what to do, where there is neither program nor package."""
    if found := shutil.which(name):
        return Path(found)
    folder = cache_folder() / "prometheus"
    fetched = folder / "usr/bin" / name
    if not fetched.exists():
        _fetch(folder)
    return fetched


def _fetch(folder: Path) -> None:
    missing = [needed for needed in ("apt-get", "dpkg") if shutil.which(needed) is None]
    if missing:
        pytest.fail(f"no prometheus on PATH, and no {missing[0]} to fetch Debian's package: install Prometheus")
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["apt-get", "download", "prometheus"], cwd=folder, capture_output=True, text=True, check=False
    )
    packages = sorted(folder.glob("prometheus_*.deb"))
    if done.returncode or not packages:
        pytest.fail(f"Debian's package prometheus can't be had ({done.stderr.strip()}): install Prometheus")
    subprocess.run(["dpkg", "-x", str(packages[-1]), str(folder)], check=True)
    packages[-1].unlink()


def promtool(*arguments: str | Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs promtool; ``given`` is what it reads from standard input."""
    command = [program("promtool"), *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=300)


@dataclass(frozen=True)
class Prometheus:
    """A running one."""

    address: str

    def ask(self, path: str, **parameters: str) -> Any:
        """What its API answers (`data`); `AssertionError` with its words where it refuses the question."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/{path}?{query}", timeout=30) as answer:
                said = json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(f"{parameters}: {error.read().decode()}") from None
        assert said["status"] == "success", said
        return said["data"]

    def samples(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """What an expression is now: labels and value of each series."""
        data = self.ask("query", query=expression)
        rows = data["result"] if data["resultType"] == "vector" else [{"metric": {}, "value": data["result"]}]
        return [(row["metric"], float(row["value"][1])) for row in rows]

    def firing(self) -> dict[str, dict[str, str]]:
        """The annotations of the alerts that fire, by name."""
        alerts = self.ask("alerts")["alerts"]
        return {one["labels"]["alertname"]: one["annotations"] for one in alerts if one["state"] == "firing"}


@contextmanager
def prometheus(folder: Path, config: str) -> Iterator[Prometheus]:
    """A Prometheus of one's own with this configuration, its data and its log in ``folder``."""
    file = folder / "prometheus.yml"
    file.write_text(config, encoding="utf-8")
    port = ports.any_free()
    command = [
        str(program("prometheus")),
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    running = Prometheus(f"http://127.0.0.1:{port}")
    with (folder / "prometheus.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait_until_ready(running, process, folder / "prometheus.log")
            yield running
        finally:
            process.terminate()
            process.wait(60)


def _wait_until_ready(running: Prometheus, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        assert process.poll() is None, log.read_text(encoding="utf-8")
        assert time.monotonic() < deadline, "Prometheus isn't ready within two minutes"
        try:
            with urllib.request.urlopen(f"{running.address}/-/ready", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
