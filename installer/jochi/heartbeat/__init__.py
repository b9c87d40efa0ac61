"""Tasks of agents: the graph holds their definitions, HEARTBEAT.md names them (seed 001, Lazy Loading for Heartbeat)."""

from jochi.heartbeat.heartbeat import Claimed, Heartbeat, NewTask, Reported, StaleClaim, Started, Synced, Task

__all__ = ["Claimed", "Heartbeat", "NewTask", "Reported", "StaleClaim", "Started", "Synced", "Task"]
