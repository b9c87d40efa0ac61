"""The tokens by tier that a run names, before and after, to the token, for each kind of run that prunes or moves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests import merge_graph
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.jobs.runs import RunSummary

pytestmark = pytest.mark.server

DAY = timedelta(days=1)
NONE = {"HOT": 0, "WARM": 0, "COLD": 0, "ARCHIVE": 0}


def notice(id: str, now: datetime, **more: Any) -> Memory:
    """One that is pruned at the next look."""
    return Memory(id, ("Notification",), {"read": True, "created_at": now - 40 * DAY} | more)


def task(id: str, now: datetime, **more: Any) -> Memory:
    """One that is archived at the next look."""
    held = {"status": "completed", "completed_at": now - 20 * DAY, "created_at": now - 40 * DAY}
    return Memory(id, ("Task",), held | more)


def entry(id: str, now: datetime, **more: Any) -> Memory:
    """One that was used an hour ago: no rule moves it from HOT."""
    held = {"tier": "HOT", "last_accessed_at": now - timedelta(hours=1), "access_count": 1, "content": "a note"}
    return Memory(id, ("MemoryEntry",), {"created_at": now - 90 * DAY} | held | more)


def ran(client: Jochi, now: datetime, job: str, *memories: Memory, due: datetime | None = None) -> RunSummary:
    """The one run of the job over these."""
    graph.write(client.database, memories, due=due or now)
    graph.write_scopes(client.database, {"default": now - 300 * DAY})
    (run,) = run_job(client.engine, job, now=now)
    assert run.error is None
    (summary,) = client.runs(run.id)
    return summary


def tokens(summary: RunSummary) -> tuple[Mapping[str, int], Mapping[str, int]]:
    return dict(summary.tokens_before), dict(summary.tokens_after)


def tiers(client: Jochi) -> dict[str, Any]:
    return {key: one.properties.get("tier") for key, one in graph.state(client.database).items() if one.live}


def test_a_run_that_prunes_names_what_left_each_tier(applied: Jochi, now: datetime) -> None:
    summary = ran(
        applied,
        now,
        "curate_due",
        *(notice("h1", now, tier="HOT", token_count=70), notice("h2", now, tier="HOT", token_count=5)),
        notice("w", now, tier="WARM", token_count=300),
        # Nobody counted it: an estimate of four characters a token, rounded up. A count that can't be one is none.
        notice("c", now, tier="COLD", content="nine char"),
        notice("a", now, tier="ARCHIVE", token_count=-8, content="12345678"),
        notice("nowhere", now, token_count=1000),
        *(notice("kept", now, tier="HOT", token_count=4000, pinned=True), entry("stays", now, token_count=600)),
    )
    assert dict(summary.counts) == {"pruned": 6}
    assert tokens(summary) == ({"HOT": 75, "WARM": 300, "COLD": 3, "ARCHIVE": 2}, NONE)


def test_a_run_that_demotes_by_rules_and_by_bands_names_where_they_went(applied: Jochi, now: datetime) -> None:
    day, month, long = now - timedelta(hours=13), now - 30 * DAY, now - 60 * DAY
    summary = ran(
        applied,
        now,
        "curate_due",
        entry("to_warm", now, token_count=40, last_accessed_at=day),
        entry("to_cold", now, token_count=200, last_accessed_at=month),
        # No rule takes it from COLD, but its score does (bloat, and little recency).
        entry("by_score", now, tier="COLD", token_count=600, last_accessed_at=long),
        entry("from_warm", now, tier="WARM", token_count=9, last_accessed_at=now - 3 * DAY),
        entry("stays", now, token_count=5000),
    )
    assert tiers(applied) == {
        **{"default/to_warm": "WARM", "default/to_cold": "WARM"},  # a rule a look
        **{"default/by_score": "ARCHIVE", "default/from_warm": "COLD", "default/stays": "HOT"},
    }
    (by_score,) = [one for one in summary.done if "default/by_score" in one.keys]
    assert (by_score.action, by_score.rule) == ("demote", "score.demotes")
    assert tokens(summary) == (
        NONE | {"HOT": 240, "WARM": 9, "COLD": 600},
        NONE | {"WARM": 240, "COLD": 9, "ARCHIVE": 600},
    )


def test_a_run_that_archives_names_what_came_into_archive(applied: Jochi, now: datetime) -> None:
    summary = ran(
        applied,
        now,
        "curate_due",
        *(task("w", now, tier="WARM", token_count=25), task("c", now, tier="COLD", token_count=6)),
        # Archived as well, though in no other tier than before: on both sides.
        task("there", now, tier="ARCHIVE", token_count=900),
        task("nowhere", now, token_count=50),
    )
    assert summary.counts["archived"] == 4
    assert tiers(applied) == {f"default/{id}": "ARCHIVE" for id in ("w", "c", "there", "nowhere")}
    assert tokens(summary) == (NONE | {"WARM": 25, "COLD": 6, "ARCHIVE": 900}, NONE | {"ARCHIVE": 981})


def test_a_budgets_run_names_what_went_from_where_to_where(applied: Jochi, now: datetime) -> None:
    """1,600 fit into HOT, 400 into WARM, 200 into COLD."""
    applied.database.run("CREATE (:JochiScopeChange {scope: 'default', at: $now})", {"now": now})
    used = [now - n * timedelta(minutes=1) for n in range(6)]
    summary = ran(
        applied,
        now,
        "enforce_budgets",
        entry("h0", now, token_count=1000, last_accessed_at=used[0]),
        entry("h1", now, token_count=600, last_accessed_at=used[1]),
        entry("h2", now, token_count=300, last_accessed_at=used[2]),
        entry("h3", now, token_count=150, last_accessed_at=used[3]),
        entry("h4", now, token_count=7000, last_accessed_at=used[4]),
        entry("w", now, tier="WARM", token_count=90, last_accessed_at=used[5]),
        due=now + 400 * DAY,
    )
    found = tiers(applied)
    assert found == {
        **{"default/h0": "HOT", "default/h1": "HOT", "default/h2": "WARM", "default/h3": "COLD"},
        **{"default/h4": "ARCHIVE", "default/w": "ARCHIVE"},
    }
    assert tokens(summary) == (
        NONE | {"HOT": 7450, "WARM": 90},
        NONE | {"WARM": 300, "COLD": 150, "ARCHIVE": 7090},
    )


def test_a_run_that_merges_names_what_the_losers_had(applied: Jochi, now: datetime) -> None:
    same = {"content": "one text", "content_hash": "v1:1"}
    pairs = {("a", 3, "HOT", 11): ("b", 1, "COLD", 17), ("c", 3, "WARM", 5): ("d", 1, "HOT", 23)}
    memories = [
        entry(id, now, tier=tier, token_count=n, access_count=used, **same)
        for id, used, tier, n in [*pairs, *pairs.values()]
    ]
    graph.write(applied.database, memories, due=now + 400 * DAY)
    for winner, loser in pairs.items():
        merge_graph.flag(applied.database, f"default/{winner[0]}", f"default/{loser[0]}", now)
    summary = ran(applied, now, "merge_duplicates")
    assert (dict(summary.counts), graph.pruned(applied.database)) == ({"merged": 2}, {"default/b", "default/d"})
    assert tokens(summary) == (NONE | {"COLD": 17, "HOT": 23}, NONE)


def test_batches_of_a_run_add_up(applied: Jochi, now: datetime) -> None:
    """100 a batch."""
    idle = [entry(f"i{n}", now, token_count=n, last_accessed_at=now - timedelta(hours=13)) for n in range(150)]
    summary = ran(applied, now, "curate_due", *idle, notice("x", now, tier="COLD", token_count=7))
    assert dict(summary.counts) == {"demoted": 150, "pruned": 1}
    assert tokens(summary) == (NONE | {"HOT": 149 * 75, "COLD": 7}, NONE | {"WARM": 149 * 75})
