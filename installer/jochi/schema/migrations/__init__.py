"""Migrations: Jochi's fixed constraints and indexes, in the file contract and the chain of neo4j-migrations.

`apply`, `listing`, `validate`, `repair` and `remove_chain` are all that the rest of Jochi needs; docs/reference/migrations.md
says what they promise.
"""

from __future__ import annotations

from jochi.schema.migrations.applying import apply, planned
from jochi.schema.migrations.choosing import listing, validate
from jochi.schema.migrations.lock import Locked
from jochi.schema.migrations.removing import remove_chain
from jochi.schema.migrations.repairing import planned_repair, repair
from jochi.schema.migrations.results import (
    ApplyResult,
    ChainName,
    Listing,
    Outcome,
    Progress,
    RemoveResult,
    RepairAction,
    RepairOutcome,
    RepairResult,
    State,
    Step,
    Validation,
)
from jochi.schema.migrations.server_errors import MigrationFailed

__all__ = [
    "ApplyResult",
    "ChainName",
    "Listing",
    "Locked",
    "MigrationFailed",
    "Outcome",
    "Progress",
    "RemoveResult",
    "RepairAction",
    "RepairOutcome",
    "RepairResult",
    "State",
    "Step",
    "Validation",
    "apply",
    "listing",
    "planned",
    "planned_repair",
    "remove_chain",
    "repair",
    "validate",
]
