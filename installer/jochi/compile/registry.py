"""Status words for procedures, as django-pgtrigger has them (reference/style §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from jochi.compile.rendering import Procedure
from jochi.database.installed import InstalledProcedure


class Status(str, Enum):
    """What `procedures ls` says of one procedure."""

    INSTALLED = "INSTALLED"
    """As this version and policy render it."""
    OUTDATED = "OUTDATED"
    """As an earlier version or policy rendered it: `install` renews it."""
    MODIFIED = "MODIFIED"
    """Edited in the database since it was installed: `procedures diff` shows it, `install` puts it right."""
    MISSING = "MISSING"
    """Not in the database: `install` brings it."""
    PRUNE = "PRUNE"
    """In the database only: `procedures prune` removes it."""


@dataclass(frozen=True)
class ProcedureStatus:
    """One row of `procedures ls`."""

    name: str
    status: Status
    wanted: Procedure | None
    installed: InstalledProcedure | None


def compare(wanted: Mapping[str, Procedure], installed: Iterable[InstalledProcedure]) -> list[ProcedureStatus]:
    """Every procedure that is wanted or installed, by name, with its status."""
    there = {procedure.name: procedure for procedure in installed}
    rows = []
    for name in sorted({*wanted, *there}):
        want, have = wanted.get(name), there.get(name)
        if want is None:
            status = Status.PRUNE
        elif have is None:
            status = Status.MISSING
        elif not have.is_intact:
            status = Status.MODIFIED
        else:
            status = Status.INSTALLED if have.sha256 == want.sha256 else Status.OUTDATED
        rows.append(ProcedureStatus(name, status, want, have))
    return rows
