"""The line of apoc.conf that arms the pumps again after a restart (DESIGN §5, "How it runs").

The local server writes it, `jochi doctor` compares it with what a server has and prints it for a DBA.
"""

from __future__ import annotations

import hashlib

from jochi.compile.quoting import literal
from jochi.database.statements import statement


def rearm_key(database: str = "neo4j") -> str:
    """The apoc.conf key of the line for ``database``. APOC sorts the ids as text, hence `01`."""
    return f"apoc.initializer.{database}.01"


def rearm_line() -> str:
    """The value of that key: `procedures/server/rearm_line.cypher` as one line without its comments."""
    return _one_line("server/rearm_line")


def pinned_rearm_line(manifest: str) -> str:
    """The line that arms only what ``manifest`` covers: `procedures/server/rearm_pinned_line.cypher` with its hash."""
    pin = hashlib.sha256(manifest.encode()).hexdigest()
    return _one_line("server/rearm_pinned_line").replace("$pin", literal(pin))


def _one_line(name: str) -> str:
    lines = statement(name).splitlines()
    return " ".join(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("//"))
