"""Tasks of agents."""

from __future__ import annotations

from functools import cached_property

from jochi.client.base import Base
from jochi.heartbeat import Heartbeat


class HeartbeatVerbs(Base):
    @cached_property
    def heartbeat(self) -> Heartbeat:
        """Tasks of agents, with definitions in the graph: add, due, load, done, failed, sync and more.

        It keeps the definitions that it loaded for as long as it lives.
        """
        return Heartbeat(self.engine)
