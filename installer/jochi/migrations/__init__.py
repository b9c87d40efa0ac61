"""Migrations: Jochi's fixed constraints and indexes, in the file contract and the chain of neo4j-migrations.

`apply`, `listing`, `validate` and `remove_chain` are all that the rest of Jochi needs; docs/reference/migrations.md
says what they promise.
"""

from __future__ import annotations

from jochi.migrations.applying import apply
from jochi.migrations.inspecting import listing, validate
from jochi.migrations.lock import Locked
from jochi.migrations.removing import remove_chain
from jochi.migrations.results import ApplyResult, Listing, Outcome, Progress, RemoveResult, State, Step, Validation
from jochi.migrations.server_errors import MigrationFailed

__all__ = [
    "ApplyResult",
    "Listing",
    "Locked",
    "MigrationFailed",
    "Outcome",
    "Progress",
    "RemoveResult",
    "State",
    "Step",
    "Validation",
    "apply",
    "listing",
    "remove_chain",
    "validate",
]
