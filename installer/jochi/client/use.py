"""Recall, levels of contexts, touches, reinforced edges; where salience stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from jochi.client.base import Base
from jochi.errors import UsageError
from jochi.graph.driver_values import read_as, to_python
from jochi.use import accesses
from jochi.use.accesses import TouchResult
from jochi.use.boxes import BoxContents, box_contents
from jochi.use.edges import Edge, ReinforceResult, reinforce
from jochi.use.edges import salience as edge_standings
from jochi.use.explore import MEMBERS, ExploreResult, Granularity, Place, drill_down, explore
from jochi.use.levels import Levels
from jochi.use.originals import Originals
from jochi.use.recall import RecallResult, recall
from jochi.use.salience import Salience
from jochi.use.topics import TopicIndex


class UseVerbs(Base):
    def recall(
        self,
        text: str | None = None,
        *,
        vector: Sequence[float] | None = None,
        scope: str = "default",
        k: int = 10,
        kinds: Sequence[str] | None = None,
        tiers: Sequence[str] | None = None,
        include_archived: bool = False,
        include_superseded: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        min_score: float | None = None,
        hops: int = 0,
        xray: bool = False,
    ) -> RecallResult:
        """The ``k`` memories of ``scope`` that fit best by words (``text``), by meaning (``vector``), or by both.

        ``vector`` is as long as the policy says and made by its model. ``since`` ≤ created_at < ``until``; ``min_score`` is a raw
        cosine. Never a tombstone; archived ones, and facts that don't hold (any more), on request. Writes nothing: `touch` reports
        what was used. `UsageError` for a request that makes no sense (a vector of another length, NaN, k out of range).

        ``hops`` follows the edges of the policy's types from the hits on, so many steps: up to ``k`` more memories are in
        `RecallResult.reached`, each with the way to it and every edge's confidence. ``xray``:
        each says in `Match.xray` what its score is made of.
        """
        return recall(
            self.engine,
            text,
            vector=vector,
            scope=scope,
            k=k,
            kinds=kinds,
            tiers=tiers,
            include_archived=include_archived,
            include_superseded=include_superseded,
            since=since,
            until=until,
            min_score=min_score,
            hops=hops,
            xray=xray,
        )

    def box_contents(self, key: str, *, include_superseded: bool = False, limit: int = 200) -> BoxContents:
        """What lies in a memory box, or in all boxes of a trace (`scope/id` of either), in the order in which it was said.

        Facts that don't hold (any more) on request. Writes nothing. `UsageError` where there is no such box or trace.
        """
        return box_contents(self.engine, key, include_superseded=include_superseded, limit=limit)

    def explore(
        self,
        text: str | None = None,
        *,
        vector: Sequence[float] | None = None,
        scope: str = "default",
        granularity: Granularity | Literal["auto"] = 1,
        k: int = 10,
        include_archived: bool = False,
        since: datetime | None = None,
        until: datetime | None = None,
        xray: bool = False,
    ) -> ExploreResult:
        """What happened (seed 002): at granularity 1 the ``k`` sources, people, concepts and entities that fit best, at 2
        storylines, at 3 themes, each with what lies beneath it.

        By words, by meaning or both, as `recall`; each granularity searches vectors of its own. ``auto``: the coarsest whose
        best hit is nearly as near as the best of all. Writes nothing: `touch` reports what was used. ``xray``: the hits say what
        their scores are made of. Raises `UsageError`.
        """
        return explore(
            self.engine,
            text,
            vector=vector,
            scope=scope,
            granularity=granularity,
            k=k,
            include_archived=include_archived,
            since=since,
            until=until,
            xray=xray,
        )

    def drill_down(self, keys: Iterable[str], *, members: int = MEMBERS) -> list[Place]:
        """What lies beneath memories (`scope/id`): storylines of a theme, sources of a storyline, what a source mentions. Of
        each at most ``members``, the newest first; keys that no live memory has are left out. Writes nothing."""
        return drill_down(self.engine, keys, members=members)

    def levels(self, key: str) -> Levels:
        """All levels of a context (`scope/id` of any of them), and its neighbours in time. Writes nothing: `touch` reports what was
        used, of the level that was used.

        `UsageError` where no live CompressedContext has the key.
        """
        row = self._read("memory/levels", key=key)
        if row["level"] is None:
            raise UsageError(
                "no live context has this key",
                where=key,
                fix="give the key scope/id of a CompressedContext; `jochi explain` says what became of one",
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
