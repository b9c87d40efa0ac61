"""Recall, levels of contexts, touches, reinforced edges; where salience stands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from jochi.client.base import Base, on_engine
from jochi.errors import UsageError
from jochi.graph.driver_values import read_as, to_python
from jochi.use import accesses
from jochi.use.accesses import TouchResult
from jochi.use.boxes import box_contents
from jochi.use.edges import Edge, ReinforceResult, reinforce
from jochi.use.edges import salience as edge_standings
from jochi.use.explore import drill_down, explore
from jochi.use.recall import recall
from jochi.use.salience import Salience
from jochi.use.views import Levels, Originals, TopicIndex


class UseVerbs(Base):
    recall = on_engine(recall)

    box_contents = on_engine(box_contents)

    explore = on_engine(explore)

    drill_down = on_engine(drill_down)

    def levels(self, key: str) -> Levels:
        """All levels of a context, a source or a part of a conversation that was observed (`scope/id` of any of them), and its
        neighbours in time. Writes nothing: `touch` reports what was used, of the level that was used.

        `UsageError` where no live CompressedContext, Source or TurnBatch has the key.
        """
        row = self._read("memory/levels", key=key)
        if row["level"] is None:
            raise UsageError(
                "no live context has this key",
                where=key,
                fix="give the key scope/id of a CompressedContext, Source or TurnBatch; `jochi explain` says what became of one",
            )
        return read_as(Levels, row, key=key)

    def originals(self, key: str, *, limit: int = 20) -> Originals:
        """The sources that a memory (`scope/id` of an insight, a summary, a storyline, a theme) was made of, whatever their state,
        the newest first, ``limit`` (1 to 1,000) at most. Writes nothing.

        `UsageError` where no live memory has the key, or ``limit`` is another number.
        """
        if not 1 <= limit <= 1_000:
            raise UsageError(
                "originals are 1 to 1,000 at once", where=f"limit {limit}", fix="give a limit from 1 to 1,000"
            )
        row = self._read("memory/originals", key=key, limit=limit)
        if not row["found"]:
            raise UsageError(
                "no live memory has this key",
                where=key,
                fix="give the key scope/id; `jochi explain` says what became of one",
            )
        return read_as(Originals, row, key=key)

    def topics(self, *, scope: str | None = None, limit: int = 100) -> list[TopicIndex]:
        """What the memories of ``scope``, or of the first ``limit`` scopes, are about, as the job `index_topics` found it last."""
        row = self._read("topics/list", scope=scope, limit=limit)
        return [read_as(TopicIndex, each) for each in row["indexes"]]

    def touch(
        self,
        keys: Iterable[str],
        *,
        used: bool = True,
        agent: str | None = None,
        batch: str | None = None,
        now: datetime | None = None,
    ) -> TouchResult:
        """Reports that memories (`scope/id`, any number) were used, or with ``used=False`` that they were only recalled.

        ``agent`` says by whom. The same ``batch`` (text of your own, with the same keys) sent again counts nothing, so a call
        whose answer got lost can be repeated. ``now`` is when it happened (default: now). The job `fold_accesses` counts
        them seconds later; until then they protect their memories. Raises `UsageError`.
        """
        return accesses.touch(self.engine, keys, now=self._at(now, "touch", "now"), used=used, agent=agent, batch=batch)

    def salience(self, keys: Iterable[str], *, at: datetime | None = None) -> list[Salience]:
        """Where the salience of memories (`scope/id`) stands, sorted by key; `Salience.at` gives it for any later time.

        Memories of kinds without salience, and keys that no live memory has, are left out. ``at``: default now. Writes nothing.
        """
        row = self._read("memory/salience", now=self._at(at, "salience"), keys=list(keys))
        return [Salience.from_entry(entry) for entry in to_python(row["memories"]) if entry["living"]]

    def reinforce(
        self, edges: Iterable[Edge], *, batch: str | None = None, now: datetime | None = None
    ) -> ReinforceResult:
        """Reports that edges between memories were observed again, or used: each gets surer or more present, and time counts anew.

        What time had taken by then is charged first. An edge that is named twice was observed twice; nothing is created.
        The same ``batch`` (text of your own, with the same edges) sent again changes nothing. ``now`` is when they were observed
        (default: now); late news add the same. Raises `UsageError`.
        """
        return reinforce(self.engine, edges, now=self._at(now, "reinforce", "now"), batch=batch)

    def edge_salience(self, edges: Iterable[Edge], *, at: datetime | None = None) -> list[Salience | None]:
        """Where the salience of edges stands, in their order, of parallel ones the most present; `Salience.at` for any time.

        None where no such edge joins live memories, or its type has no salience. ``at``: default now. Writes nothing.
        """
        return edge_standings(self.engine, edges, at=self._at(at, "edge_salience"))
