"""Touches folded by the database against the oracle: random moments out of order, random portions, random days (DESIGN §12)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.oracle.accesses import Ledger, Touch

from jochi import Jochi
from jochi.graph.driver_values import to_python

pytestmark = pytest.mark.server

START = datetime(2026, 3, 1, 22, tzinfo=timezone.utc)
KEYS = ("a/1", "a/2", "b/1", "b/2/with/slashes")
AGENTS = (None, "ada", "bob", "eve", "Zoë", "\U0001f600", "￿", "10", "9")


@dataclass(frozen=True)
class Fold:
    """The jobs run; ``limit`` memories a batch, ``records`` of the touches at hand (the others come later)."""

    after: timedelta
    limit: int
    share: float
    roll: bool


def touches(start: datetime) -> st.SearchStrategy[Touch]:
    return st.builds(
        Touch,
        st.sampled_from(KEYS),
        st.one_of(
            st.integers(-3 * 3600, 600).map(
                lambda s: start + timedelta(seconds=s)
            ),  # the same hours, and a little ahead
            st.integers(-9 * 86_400, 0).map(lambda s: start + timedelta(seconds=s)),
            st.integers(-20, 0).map(lambda days: start.replace(hour=0) + timedelta(days=days, microseconds=-1)),
            st.integers(-20, 0).map(lambda days: start.replace(hour=0) + timedelta(days=days)),
            st.integers(-400, -30).map(lambda days: start + timedelta(days=days)),
        ),
        st.booleans(),
        st.sampled_from(AGENTS),
    )


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[Touch], Fold]]:
    now, steps = START, []
    for _ in range(draw(st.integers(1, 4))):
        after = draw(
            st.sampled_from(
                [timedelta(seconds=10), timedelta(hours=1), timedelta(hours=3), timedelta(days=2), timedelta(days=8)]
            )
        )
        now += after
        some = draw(st.lists(touches(now), max_size=40))
        if some and draw(st.booleans()):
            some += [draw(st.sampled_from(some))] * draw(st.integers(1, 14))  # above a window's limit
        steps.append(
            (some, Fold(after, draw(st.integers(1, 5)), draw(st.sampled_from([1.0, 1.0, 0.5])), draw(st.booleans())))
        )
    return steps


def wipe(client: Jochi) -> None:
    client.database.run("MATCH (n:Curated|JochiAccess|JochiAccessBatch|JochiScope|JochiJobRun) DETACH DELETE n")
    client.database.run(
        "UNWIND $keys AS key CREATE (:Curated:Note {key: key, scope: split(key, '/')[0], created_at: $now, next_due: $now})",
        {"keys": KEYS, "now": START},
    )


def record(client: Jochi, some: list[Touch]) -> None:
    """As the application would: one call for those that agree in everything but the key."""
    calls: dict[tuple[datetime, bool, str | None], list[str]] = defaultdict(list)
    for touch in some:
        calls[touch.at, touch.used, touch.agent].append(touch.key)
    for (at, used, agent), keys in calls.items():
        assert client.touch(keys, used=used, agent=agent, now=at).touched == len(keys)


def stored(client: Jochi) -> dict[str, dict[str, Any]]:
    rows = client.database.run("MATCH (m:Curated) RETURN m.key AS key, properties(m) AS p", write=False)
    found = {row["key"]: to_python(row["p"]) for row in rows}
    for properties in found.values():
        if "agents" in properties:
            # The database orders texts beyond the basic plane now by UTF-16 and now by code points, as it holds them in memory.
            properties["agents"] = sorted(properties["agents"])
    return found


@given(history=histories())
@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target],
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
def test_what_the_database_counts_is_what_the_oracle_counts(
    jochi: Jochi, history: list[tuple[list[Touch], Fold]]
) -> None:
    wipe(jochi)
    rules = jochi.policy.policy.accesses
    ledgers = {key: Ledger(rules.window, rules.per_window, rules.windows_kept, rules.agents_kept) for key in KEYS}
    now, waiting = START, []
    reported: dict[str, list[datetime]] = defaultdict(list)
    for number, (some, fold) in enumerate([*history, ([], Fold(timedelta(seconds=1), 3, 1.0, True))]):
        now += fold.after
        waiting = waiting + some
        portion, waiting = waiting[: round(len(waiting) * fold.share)], waiting[round(len(waiting) * fold.share) :]
        record(jochi, portion)
        jochi.database.run("MATCH (j:JochiJob {name: 'fold_accesses'}) SET j.batch_size = $n", {"n": fold.limit})
        runs = jochi.run("fold_accesses", drain=True, now=now)
        assert [run.error for run in runs if run.error] == []
        assert sum(run.tally.get("records", 0) for run in runs) == len(portion)
        touched = set()
        for key, ledger in ledgers.items():
            mine = [touch for touch in portion if touch.key == key]
            ledger.fold(mine, now)
            touched |= {key} if mine else set()
            reported[key.split("/")[0]] += [min(touch.at, now) for touch in mine if touch.used]
        if fold.roll:
            jochi.run("roll_access_days", drain=True, now=now)
        for key, properties in stored(jochi).items():
            if not ledgers[key].recalls:
                assert "recall_count" not in properties
                continue
            wanted = ledgers[key].expected(now)
            compared = wanted if key in touched else {k: v for k, v in wanted.items() if not k.startswith("access_")}
            if fold.roll:
                compared = wanted
            assert {name: properties.get(name) for name in compared} == compared, (number, key)
    scopes = jochi.database.run(
        "MATCH (s:JochiScope) RETURN s.name AS name, s.first_access_at AS a, s.last_access_at AS z"
    )
    assert {row["name"]: (row["a"].to_native(), row["z"].to_native()) for row in scopes} == {
        name: (min(moments), max(moments)) for name, moments in reported.items() if moments
    }
    jochi.database.run(
        "MATCH (j:JochiJob {name: 'fold_accesses'}) SET j.batch_size = $n",
        {"n": jochi.policy.policy.jobs["fold_accesses"].batch_size},
    )
