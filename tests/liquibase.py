"""Liquibase's own command line with its extension for Neo4j, from Maven Central, for tests of the changelog that Jochi writes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.conftest import TestServer
from tests.maven import java_of

COORDINATES = (
    "org.liquibase:liquibase-core:4.27.0",
    "org.liquibase.ext:liquibase-neo4j:4.27.0.1",
    "info.picocli:picocli:4.7.5",  # the command line asks for it and doesn't bring it
)
KNOWS_BELOW = 2025
"""This version of the extension refuses servers whose version is a year."""
Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def java_command() -> list[str]:
    return [*java_of(*COORDINATES), "liquibase.integration.commandline.LiquibaseCommandLine"]


def cli_on(java_command: Sequence[str], server: TestServer, database: str, *, seconds: float = 300) -> Cli:
    """Runs a command on a server and the changelog in a folder; all that it says is in ``stdout``.

    The password goes by environment.
    """

    def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*java_command, *arguments, "--changelog-file=changelog.xml"],
            env={
                **os.environ,
                "LIQUIBASE_COMMAND_URL": f"jdbc:neo4j:{server.uri}?database={database}",
                "LIQUIBASE_COMMAND_USERNAME": server.user,
                "LIQUIBASE_COMMAND_PASSWORD": server.password or "none",
            },
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )

    return run
