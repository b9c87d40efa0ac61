"""Which Neo4j and APOC go together.

The pinned pair is what Jochi is tested with. The registry's newest APOC is 5.26.19; it fits every 5.26 server, because
the first two numbers have to match (DESIGN §2). The 2025 and 2026 lines have no APOC there.
"""

from __future__ import annotations

import re

from jochi.errors import UsageError

NEO4J = "5.26.30"
APOC = "5.26.19"

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_OLDEST = (5, 26, 0)


def parse(version: str) -> tuple[int, int, int]:
    """The three numbers of ``version``; `UsageError` when it isn't one or is older than 5.26."""
    if not _VERSION.fullmatch(version):
        raise UsageError(f"{version!r} is no Neo4j version", fix=f"give three numbers, such as {NEO4J} or 2026.09.0")
    major, minor, patch = (int(part) for part in version.split("."))
    if (major, minor, patch) < _OLDEST:
        raise UsageError(f"Neo4j {version} is too old for Jochi", fix=f"use 5.26 or newer, such as {NEO4J}")
    return major, minor, patch


def apoc_for(version: str) -> str | None:
    """The APOC version that runs on Neo4j ``version``, or None where the registry has none."""
    return APOC if parse(version)[:2] == parse(APOC)[:2] else None


def coordinates(version: str) -> list[tuple[str, str, str]]:
    """The Maven roots (group, artifact, version) of a server. The APOC jars are thin, so both are named."""
    roots = [("org.neo4j", "neo4j", version)]
    apoc = apoc_for(version)
    if apoc is not None:
        roots += [("org.neo4j.procedure", "apoc-core", apoc), ("org.neo4j.procedure", "apoc-common", apoc)]
    return roots
