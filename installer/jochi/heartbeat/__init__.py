"""Tasks of agents: the graph holds their definitions, HEARTBEAT.md names them (seed 001, Lazy Loading for Heartbeat)."""

from jochi.deprecation import old_names
from jochi.heartbeat.heartbeat import (
    Claim,
    Heartbeat,
    NewTask,
    ReportResult,
    SessionStart,
    StaleClaim,
    SyncResult,
    Task,
)

__all__ = ["Claim", "Heartbeat", "NewTask", "ReportResult", "SessionStart", "StaleClaim", "SyncResult", "Task"]

__getattr__ = old_names(__name__)
