"""Status words for procedures, as django-pgtrigger has them (reference/style §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from jochi.compile.templates import template_hashes
from jochi.database.installed import InstalledProcedure

if TYPE_CHECKING:
    from jochi.compile.rendering import Procedure


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


def is_up_to_date(installed: Mapping[str, InstalledProcedure], signature: str) -> bool:
    """Whether all is INSTALLED, without rendering: the same templates, rendered for the server of this ``signature``, and nobody
    edited what came of them. It holds under the version and the policy that installed them; where it is False, `compare` says.
    """
    wanted = template_hashes()
    return wanted.keys() == installed.keys() and all(
        one.template_sha256 == wanted[name] and one.checked_on == signature and one.is_intact
        for name, one in installed.items()
    )
