"""Dump and load of a stopped local server's store with `neo4j-admin`, from the jars that the server itself runs of."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from jochi.localserver import LocalServer
from jochi.localserver.server import _java

_TOOL = "org.neo4j.cli.AdminTool"


def dump(local: LocalServer, folder: Path, database: str = "neo4j") -> None:
    """Writes ``folder``/<database>.dump; the server must be stopped."""
    _admin(local, "dump", database, f"--to-path={folder}", "--overwrite-destination=true")


def load(local: LocalServer, folder: Path, database: str = "neo4j") -> None:
    """Puts ``folder``/<database>.dump in the place of the store; the server must be stopped, and have run before."""
    _admin(local, "load", database, f"--from-path={folder}", "--overwrite-destination=true")


def _admin(local: LocalServer, *arguments: str) -> None:
    layout = local.layout
    environment = {**os.environ, "NEO4J_HOME": str(layout.root), "NEO4J_CONF": str(layout.conf)}
    command = [str(_java()), f"@{layout.java_arguments}", _TOOL, "database", *arguments]
    done = subprocess.run(command, env=environment, cwd=layout.root, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
