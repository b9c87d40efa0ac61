"""What the command line costs beside what it asks: `jochi status` against a process that makes one call with the driver alone."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from jochi import Jochi
from jochi.localserver import LocalServer, Running

ROUNDS = 7
STARTED = "import sys; from jochi.cli import main; sys.argv = ['jochi', *sys.argv[1:]]; main()"
BARE = (
    "import os; from neo4j import GraphDatabase\n"
    "with GraphDatabase.driver(os.environ['JOCHI_URI'], auth=(os.environ['JOCHI_USER'], os.environ['JOCHI_PASSWORD'])) as driver:\n"
    "    driver.execute_query('RETURN 1')"
)


def add_rows(table: Table) -> None:
    """Adds the figures of this part: medians of whole processes, taken in turn, on a fresh installation."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalServer("bench-cli", home=Path(folder))
        server = local.start()
        try:
            with server.driver() as driver:
                Jochi(driver).install()
            measure(server, table)
        finally:
            local.reset()


def measure(server: Running, table: Table) -> None:
    """One row for a list of commands, one for the driver alone, one for what `status` takes over it."""
    environment = {
        **os.environ,
        "JOCHI_URI": server.uri,
        "JOCHI_USER": server.user,
        "JOCHI_PASSWORD": server.password.get_secret_value(),
    }
    commands = {"help": (STARTED, "--help"), "bare": (BARE,), "status": (STARTED, "status")}
    times: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(-1, ROUNDS):  # the first is a warm-up
        for name, words in commands.items():
            took = seconds(words, environment)
            if number >= 0:
                times[name].append(took)
    found = {name: statistics.median(each) for name, each in times.items()}
    table.add_row("jochi --help", f"{found['help']:.2f} s", "≤ 0.35 s")
    table.add_row("a process with one call of the driver", f"{found['bare']:.2f} s", "")
    table.add_row("jochi status over it", f"{found['status'] - found['bare']:.2f} s", "≤ 1 s")


def seconds(words: Sequence[str], environment: dict[str, str]) -> float:
    """What a process of this Python takes from its start to its end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", *words], env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began
