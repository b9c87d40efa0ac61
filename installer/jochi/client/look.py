"""Verbs that look at the engine and at memories. They write nothing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from jochi import clock
from jochi.client.base import Base, on_engine
from jochi.curate.explain import Explanation
from jochi.curate.score import Scored, improvable, scores
from jochi.database.database import Row
from jochi.graph.driver_values import read_as, zoned
from jochi.operate.results import Hygiene, Status, TierReport
from jochi.use.edges import EdgeReport


class LookVerbs(Base):
    def status(self) -> Status:
        """Pump, guard, queue, tombstones, kill switches, the breaker."""
        return Status.from_row(self._glance())

    def tiers(self) -> TierReport:
        """Memories and tokens by kind and tier. Reads every memory."""
        return TierReport.from_row(self._read("report/tiers", kinds=True, samples=0))

    def pruned(self, since: datetime | None = None) -> list[dict[str, Any]]:
        """What was done to memories and why: {action, kind, rule, n}."""
        if since is not None:
            zoned(since, "since", where="pruned")
        return list(self._read("report/audit", samples=0, actions=True, since=since)["actions"])

    def hygiene(self) -> Hygiene:
        """What the last walk of the job `hygiene` repaired, and what it leaves to a person."""
        return Hygiene.from_row(self._glance()["hygiene"])

    def _glance(self) -> Row:
        return self._read("report/status", now=clock.now(), pump=self.engine.pump, most=0)

    def edges(self, at: datetime | None = None, *, samples: int = 5) -> EdgeReport:
        """The edges of the policy's types: how many there are, how many wait for a charge at ``at``, and some of them."""
        return read_as(EdgeReport, self._read("report/edges", now=self._at(at, "edges"), samples=samples))

    def explain(self, memory: str, *, scope: str = "default", at: datetime | None = None) -> Explanation:
        """Every rule and rail for one memory; ``memory`` is `scope/id`, or an id in ``scope``."""
        key = memory if "/" in memory else f"{scope}/{memory}"
        when = self._at(at, "explain")
        row = self._read("curate/explain", now=when, key=key)
        return Explanation.from_row(key, when, row).with_constraints(self.database)

    def score(self, keys: Iterable[str], *, at: datetime | None = None) -> list[Scored]:
        """What memories (`scope/id`, any number) are worth, term by term, sorted by key.

        Keys that no live memory has are left out. ``at``: default now; one for all, in reads of 2,000. Writes nothing.
        Raises `UsageError`.
        """
        return scores(self.engine, keys, at=self._at(at, "score"))

    improvable = on_engine(improvable)
