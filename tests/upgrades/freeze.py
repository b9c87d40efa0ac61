"""`python -m tests.upgrades.freeze COMMIT NAME`: lets a commit's own code live through `history.py` and freezes what it leaves.

JOCHI_TEST_URI, JOCHI_TEST_USER and JOCHI_TEST_PASSWORD name a server whose database is wiped. The commit's code runs with the
packages of this Python.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import neo4j
from tests import native_values
from tests.conftest import disarm, wipe_everything
from tests.upgrades import frozen

from jochi.database.database import Database

SOURCES = ("installer", "neomodel_models", "workers")
EVERY_VALUE = "acme/T-12"
"""The memory that has each kind of value that a database can hold."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("commit")
    options.add_argument("name", help="of the file; they are loaded in the order of their names")
    chosen = options.parse_args()
    uri, password = os.environ["JOCHI_TEST_URI"], os.environ["JOCHI_TEST_PASSWORD"]
    user = os.environ.get("JOCHI_TEST_USER", "neo4j")
    with neo4j.GraphDatabase.driver(uri, auth=(user, password)) as driver, tempfile.TemporaryDirectory() as folder:
        database = Database(driver)
        disarm(database)
        wipe_everything(database)
        checkout = Path(folder) / "checkout"
        subprocess.run(["git", "worktree", "add", "--detach", checkout, chosen.commit], check=True)
        try:
            subprocess.run(
                [sys.executable, frozen.FOLDER / "history.py"],
                check=True,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(str(checkout / source) for source in SOURCES),
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "TEST_URI": uri,
                    "TEST_USER": user,
                    "TEST_PASSWORD": password,
                    "TEST_POLICY": str(frozen.FOLDER / "policy.toml"),
                    "JOCHI_URI": uri,
                    "JOCHI_USER": user,
                    "JOCHI_PASSWORD": password,
                    "JOCHI_FORGET_KEY_FILE": str(frozen.KEY_FILE),
                },
            )
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", checkout], check=True)
        native_values.put(database, {EVERY_VALUE: native_values.NAMES})
        native_values.put_on_relationships(database, [EVERY_VALUE], "RAISED_BY")
        print(f"{frozen.path_of(chosen.name)}: {frozen.freeze(database, chosen.name):,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
