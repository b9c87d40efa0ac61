"""Tasks of agents."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from jochi.client.base import Base
from jochi.heartbeat import Heartbeat
from jochi.heartbeat.file import MAX_TOKENS
from jochi.heartbeat.migration import MigrationResult, migrate


class HeartbeatVerbs(Base):
    @cached_property
    def heartbeat(self) -> Heartbeat:
        """Tasks of agents, with definitions in the graph: add, due, load, done, failed, sync and more.

        It keeps the definitions that it loaded for as long as it lives.
        """
        return Heartbeat(self.engine)

    def migrate_heartbeat(
        self,
        path: Path,
        *,
        scope: str = "default",
        time_zone: str = "UTC",
        max_tokens: int = MAX_TOKENS,
        dry_run: bool = False,
    ) -> MigrationResult:
        """Takes the tasks of a HEARTBEAT.md that people wrote into the graph and puts the small file in its place.

        The old one is kept as `.pre-migration`. With ``dry_run`` it only says what would become of what.
        """
        return migrate(self.heartbeat, path, scope=scope, time_zone=time_zone, max_tokens=max_tokens, dry_run=dry_run)
