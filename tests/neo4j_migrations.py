"""neo4j-migrations' own command line, from Maven Central, for tests of what Jochi's migrations have in common with it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.conftest import TestServer
from tests.maven import own_java

VERSION = "2.19.2"
# Their parent pom can't always be had, so these two come alone and what they need is named here.
ALONE = ("neo4j-migrations-cli", "neo4j-migrations")
WITH_DEPENDENCIES = (
    "info.picocli:picocli:4.7.7",
    "org.neo4j.driver:neo4j-java-driver:5.28.9",
    "io.github.classgraph:classgraph:4.8.181",
    "org.neo4j:neo4j-cypher-dsl-schema-name-support:2024.7.1",
)
Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def java_command() -> list[str]:
    """`java -cp … MigrationsCli`; the test is skipped, with the reason, where the jars can't be had."""
    jgo = pytest.importorskip("jgo")
    maven = pytest.importorskip("jgo.maven")
    with own_java() as java:
        try:
            context = maven.MavenContext(timeout=30)
            group = "eu.michael-simons.neo4j"
            jars = [context.project(group, name).at_version(VERSION).artifact().resolve() for name in ALONE]
            jars += [artifact.resolve() for artifact in jgo.resolve("+".join(WITH_DEPENDENCIES))]
        except (OSError, RuntimeError, ValueError) as error:
            pytest.skip(f"neo4j-migrations {VERSION} can't be had from Maven: {error}")
    return [str(java), "-cp", os.pathsep.join(map(str, jars)), "ac.simons.neo4j.migrations.cli.MigrationsCli"]


def cli_on(java_command: Sequence[str], server: TestServer, folder: Path, *, seconds: float = 120) -> Cli:
    """Runs a command on a server and the migrations of ``folder``, beside that folder; the password goes by environment."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        options = ["--address", server.uri, "--username", server.user, "--password:env", "CONTRACT_PASSWORD"]
        return subprocess.run(
            [*java_command, *options, "--location", folder.as_uri(), *arguments],
            env={**os.environ, "CONTRACT_PASSWORD": server.password or "none"},
            cwd=folder.parent,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    return run
