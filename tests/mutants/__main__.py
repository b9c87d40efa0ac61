"""`make mutants [MUTANTS="breaker budgets_move …"]`: puts one mistake at a time into a copy of the tree, for its tests to notice.

Arguments are beginnings of names; without any it runs all. They share one server (JOCHI_TEST_URI, else one of its own), whose
engine is upgraded from mutant to mutant. Ends with 1 if one survived, or if a mutant's text isn't in its file exactly once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import SETTINGS

from jochi.localserver import LocalServer
from jochi.toml import tomllib

ROOT = Path(__file__).parents[2]
_COPIED = (
    "installer",
    "neomodel_models",
    "workers",
    "procedures",
    "schema",
    "docs",
    "tests",
    "pyproject.toml",
    "README.md",
)
TABLE = Path(__file__).with_name("mutants.toml")
_NOTICED, _PASSED = 1, 0
"""What pytest ends with where a test failed, and where none did."""


@dataclass(frozen=True)
class Mutant:
    """A row of the table, which says what each entry is."""

    name: str
    file: str
    old: str
    new: str
    tests: str


def table() -> list[Mutant]:
    """All of them."""
    return [Mutant(**row) for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["mutant"]]


def misplaced(mutants: Sequence[Mutant], root: Path = ROOT) -> list[str]:
    """Those whose text isn't there exactly once, or that share a name."""
    wrong = []
    for mutant in mutants:
        n = (root / mutant.file).read_text(encoding="utf-8").count(mutant.old)
        if n != 1 or mutant.old == mutant.new:
            wrong.append(f"{mutant.name}: its text is {n} times in {mutant.file}")
    names = [mutant.name for mutant in mutants]
    return wrong + [f"two are named {name}" for name in sorted({name for name in names if names.count(name) > 1})]


@contextmanager
def a_server(folder: Path) -> Iterator[Mapping[str, str]]:
    """The environment that names it to the tests."""
    if "JOCHI_TEST_URI" in os.environ:
        yield {}
        return
    local = LocalServer("mutants", home=folder)
    running = local.start(settings=SETTINGS)
    try:
        yield {
            "JOCHI_TEST_URI": running.uri,
            "JOCHI_TEST_USER": running.user,
            "JOCHI_TEST_PASSWORD": running.password.get_secret_value(),
        }
    finally:
        local.reset()


def copied(to: Path) -> Path:
    """The tree, as it lies here."""
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, to / name)
    return to


def noticed(tree: Path, mutant: Mutant, server: Mapping[str, str]) -> str | None:
    """None, or what is wrong: it survived, or the tests didn't run."""
    file = tree / mutant.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
    paths = [str(tree / name) for name in ("installer", "neomodel_models", "workers")]
    environment = {**os.environ, **server, "JOCHI_TEST_KEEP": "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow and not rails and not exhaustive",
        *mutant.tests.split(),
    ]
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    finally:
        file.write_text(whole, encoding="utf-8")
    # Where a fixture fails (a body that doesn't compile, a server that is gone) no test has noticed anything.
    if done.returncode == _NOTICED and "\nFAILED " in done.stdout:
        return None
    if done.returncode == _PASSED:
        return "SURVIVED"
    return f"the tests didn't run: {(done.stdout + done.stderr)[-600:]}"


def main(asked: Sequence[str]) -> int:
    """Runs those whose names begin so; 1 if one survived."""
    mutants = table()
    chosen = [mutant for mutant in mutants if not asked or mutant.name.startswith(tuple(asked))]
    if wrong := misplaced(mutants) or ([] if chosen else [f"there is none that begins with {' or '.join(asked)}"]):
        sys.stderr.write("\n".join(wrong) + "\n")
        return 1
    left = []
    with tempfile.TemporaryDirectory() as folder, a_server(Path(folder, "server")) as server:
        tree = copied(Path(folder, "tree"))
        # What reads one file follows what reads the same one: the server plans less anew.
        for mutant in sorted(chosen, key=lambda each: each.file):
            began = time.monotonic()
            wrong_with = noticed(tree, mutant, server)
            left += [mutant.name] if wrong_with else []
            sys.stdout.write(f"{time.monotonic() - began:6.0f} s  {mutant.name}: {wrong_with or 'killed'}\n")
            sys.stdout.flush()
    sys.stdout.write(
        f"{len(chosen)} mutants, {len(chosen) - len(left)} killed{': not ' if left else ''}{', '.join(left)}\n"
    )
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
