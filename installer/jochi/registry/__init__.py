"""The procedures in the database against the procedures of this version and policy (DESIGN §6)."""

from jochi.registry.compare import InstalledProcedure, ProcedureStatus, Status, compare

__all__ = ["InstalledProcedure", "ProcedureStatus", "Status", "compare"]
