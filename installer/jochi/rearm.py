"""The line of apoc.conf that arms the pumps again after a restart (DESIGN §5, "How it runs").

The local server writes it, `jochi doctor` compares it with what a server has and prints it for a DBA.
"""

from __future__ import annotations

from jochi.resources import statement


def rearm_key(database: str = "neo4j") -> str:
    """The apoc.conf key of the line for ``database``. APOC sorts the ids as text, hence `01`."""
    return f"apoc.initializer.{database}.01"


def rearm_line() -> str:
    """The value of that key: `procedures/server/rearm_line.cypher` as one line without its comments."""
    lines = statement("server/rearm_line").splitlines()
    return " ".join(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("//"))
