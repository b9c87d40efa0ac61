"""What a server is and can do, read once into one typed object that installer, doctor and templates share (DESIGN §6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from neo4j.exceptions import ClientError

from jochi.database.database import Database
from jochi.database.statements import statement

NEEDED_FOR_JOBS = (
    "apoc.cypher.doIt",
    "apoc.cypher.run",
    "apoc.convert.fromJsonMap",
    "apoc.periodic.repeat",
    "apoc.periodic.list",
    "apoc.periodic.cancel",
    "apoc.util.validate",
)
"""APOC Core procedures and functions without which the database can't run jobs on its own."""

NEEDED_FOR_PIN = "apoc.util.sha256"
"""The function that compares what is to be run with the pin of apoc.conf's line."""

OLDEST_SERVER = (5, 26)

_AURA = re.compile(r"\.neo4j\.io(?::\d+)?$")
"""What addresses of Aura end with: `….databases.neo4j.io`, those of its members, custom and private endpoints."""


@dataclass(frozen=True)
class ServerFacts:
    """Facts about one server and database.

    ``version`` as the server writes it, ``release`` its first two numbers; ``apoc`` the version of APOC or None;
    ``callable`` the procedures of `NEEDED_FOR_JOBS`, and a few more procedures and functions, that this user may execute;
    ``lock_timeout`` in seconds (0: waits for ever), None if the user may not read settings.
    """

    version: str
    edition: str
    apoc: str | None
    callable: frozenset[str]
    default_language: str
    lock_timeout: float | None
    read_only: bool
    writer: bool
    aura: bool = False
    """Neo4j's own cloud: no files to edit, no triggers, no settings of the server."""

    @property
    def release(self) -> tuple[int, int]:
        """The first two numbers of the version, for comparing: (5, 26), (2026, 9)."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)[:2]]
        return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)

    @property
    def can_run_jobs(self) -> bool:
        """Whether the database itself can run jobs: APOC is there and what Jochi calls is allowed."""
        return not self.missing_for_jobs

    @property
    def missing_for_jobs(self) -> tuple[str, ...]:
        """Procedures of `NEEDED_FOR_JOBS` that can't be called here."""
        return tuple(name for name in NEEDED_FOR_JOBS if name not in self.callable)

    def without_apoc(self) -> ServerFacts:
        """The same server as if APOC weren't there, or nothing of it might be called."""
        others = frozenset(name for name in self.callable if not name.startswith("apoc."))
        return replace(self, apoc=None, callable=others)

    @property
    def signature(self) -> str:
        """What decides whether a statement compiles: the versions, and which procedures may be called."""
        return f"{self.version}/{self.apoc}/{','.join(sorted(self.callable))}"

    @property
    def language_prefix(self) -> str:
        """What a repeat job's text begins with, so that its language doesn't depend on who arms it (DESIGN §2).

        Only the outermost text: doIt passes its caller's language on, and it puts the parameters in front of the text, where a
        prefix of the text's own is a syntax error.
        """
        # Aura calls itself 5.27 whatever it is, and takes the prefix.
        return "CYPHER 5\n" if self.aura or self.release >= (2025, 6) else ""

    def as_dict(self) -> dict[str, Any]:
        """The facts as plain data, for `--json`."""
        return {**asdict(self), "callable": sorted(self.callable), "can_run_jobs": self.can_run_jobs}


def read_facts(database: Database) -> ServerFacts:
    """Asks the server for everything in `ServerFacts`. Raises `ConnectionFailed` where there is no answer."""
    kernel = database.run(statement("server/facts"), write=False)[0]
    callable_names = {
        row["name"]
        for asked in ("server/callable_procedures", "server/callable_functions")
        for row in database.run(statement(asked), write=False)
    }
    access = database.run(statement("server/database_access"), {"database": database.name}, write=False)
    settings = _settings(database)
    return ServerFacts(
        version=kernel["version"],
        edition=kernel["edition"],
        apoc=_apoc_version(database),
        callable=frozenset(callable_names),
        default_language=settings.get("db.query.default_language", "CYPHER_5"),
        lock_timeout=seconds_of(settings.get("db.lock.acquisition.timeout")),
        read_only=any(row["access"] == "read-only" for row in access),
        writer=any(row["writer"] for row in access),
        aura=is_aura(kernel["version"], [row["address"] for row in access]),
    )


def is_aura(version: str, addresses: Sequence[str | None]) -> bool:
    """Whether a server of this version, whose members advertise these addresses, is Neo4j's cloud. Nothing else says so."""
    return version.endswith("-aura") or any(_AURA.search(address or "") for address in addresses)


def _apoc_version(database: Database) -> str | None:
    try:
        return str(database.run(statement("server/apoc_version"), write=False)[0]["version"])
    except ClientError:
        return None


def _settings(database: Database) -> dict[str, str]:
    try:
        rows = database.run(statement("server/settings"), write=False)
    except ClientError:  # a user who may not read settings
        return {}
    return {row["name"]: row["value"] for row in rows}


_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_of(text: str | None) -> float | None:
    """Seconds in `5s`, `1m30s`, `500ms` or `0s`, as SHOW SETTINGS writes them; None for anything else."""
    if text is None or not re.fullmatch(rf"(?:{_PART.pattern})+", text):
        return None
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _PART.findall(text))
