"""No policy file talks the circuit breaker out of its bound: what loads prunes no more than that in a run or a day (issue 8)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.oracle import Memory, graph
from tests.tally import examples

from jochi import Jochi
from jochi.compile.policy_data import policy_data
from jochi.compile.rendering import render_one
from jochi.database.database import in_one_map
from jochi.database.server_facts import read_facts
from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi.policy.durations import parse_duration

NOW = datetime(2026, 6, 15, 12, 30, tzinfo=timezone.utc)
GENTLE: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck)}
WINDOWS = ("1s", "1h", "23h", "1439min", "24h", "1d", "25h", "30d")
SHARES = (0.0, 0.01, 0.0999, 0.1, 0.1001, 0.5, 1.0)
FLOORS = (0, 1, 99, 100, 101, 1_000_000)

limits = st.fixed_dictionaries(
    {},
    optional={
        "breaker_window": st.sampled_from(WINDOWS),
        "breaker_share": st.sampled_from(SHARES),
        "breaker_floor": st.sampled_from(FLOORS),
        "breaker_run_share": st.sampled_from(SHARES),
        "breaker_run_floor": st.sampled_from(FLOORS),
        "breaker_pause": st.sampled_from(["1s", "1h"]),
        "tombstone_ttl": st.sampled_from(["1s", "30d"]),
    },
)
# What else a file could say to get more through: other rules, a shorter grace, batches as large as can be.
greed = st.fixed_dictionaries({"after": st.sampled_from(["0s", "7d"]), "batch": st.sampled_from([10, 1000])})


def too_loose(table: dict[str, Any]) -> set[str]:
    """The keys of `[limits]` that are looser than DESIGN §8, written from that page."""
    found = {key for key in ("breaker_share", "breaker_run_share") if table.get(key, 0) > 0.1}
    found |= {key for key in ("breaker_floor", "breaker_run_floor") if table.get(key, 0) > 100}
    window = table.get("breaker_window", "24h")
    return found | ({"breaker_window"} if parse_duration(window) < timedelta(hours=24) else set())


def written(folder: Path, table: dict[str, Any], more: dict[str, Any]) -> Path:
    """A policy file with that `[limits]`, whose rules take every Notification."""
    lines = ["[policy]", 'name = "random"', 'extends = "default"', "[limits]"]
    lines += [f"{key} = {value!r}".replace("'", '"') for key, value in table.items()]
    lines += ["[jobs.curate_due]", f"batch_size = {more['batch']}", "[kinds.Notification]", 'class = "1s"']
    lines += [
        "[[kinds.Notification.rules]]",
        'name = "notification.greedy"',
        'source = "tests"',
        "when = []",
        'clock = ["created_at"]',
    ]
    lines += [f'after = "{more["after"]}"', 'action = "prune"', ""]
    file = folder / "random.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


@given(table=limits, more=greed)
@settings(max_examples=examples(50, 150), **GENTLE)
def test_a_file_that_loosens_it_is_refused_and_says_what_may_be(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, Any], more: dict[str, Any]
) -> None:
    file = written(tmp_path_factory.mktemp("policy"), table, more)
    wrong = too_loose(table)
    if not wrong:
        assert load_policy(file).policy.limits.breaker_share <= 0.1
        return
    with pytest.raises(UsageError, match="tighten the circuit breaker, never loosen it") as refused:
        load_policy(file)
    said = str(refused.value)
    assert all(f"{key}: at " in said for key in wrong)
    assert not any(f"{key}: at " in said for key in {"breaker_share", "breaker_floor", "breaker_window"} - wrong)


counted: Counter[str] = Counter()


@pytest.mark.slow
@pytest.mark.server
@given(table=limits.filter(lambda table: not too_loose(table)), more=greed, cut=st.integers(1, 150))
@settings(max_examples=8, **GENTLE)
@pytest.mark.timeout(3600)
def test_whatever_loads_no_run_and_no_day_goes_beyond_the_bound_and_rails_hold(
    jochi: Jochi, tmp_path_factory: pytest.TempPathFactory, table: dict[str, Any], more: dict[str, Any], cut: int
) -> None:
    policy = load_policy(written(tmp_path_factory.mktemp("policy"), table, more)).policy
    act = render_one("curate/curate_due", policy, read_facts(jochi.database)).sections["act"]
    graph.clear(jochi.database)
    old = {"created_at": NOW - timedelta(days=40)}
    memories = [Memory(f"n{i:04d}", ("Notification",), old, scope=scope) for scope in "ab" for i in range(130)]
    memories += [Memory(f"p{i}", ("Notification",), {**old, "pinned": True}, scope="a") for i in range(5)]
    graph.write(jochi.database, memories, due=NOW)
    keys = [memory.key for memory in memories]
    for run in range(3):
        for start in range(0, len(keys), cut):
            batch = {"now": NOW + timedelta(hours=run), "keys": keys[start : start + cut], "run": f"random/{run}"}
            asked = {**batch, "policy": "random", "job": {"token": run}, "p": policy_data(policy)}
            jochi.database.run(act, in_one_map(asked))
    rows = jochi.database.run(
        "MATCH (a:CurationAudit {action: 'prune'}) RETURN a.run AS run, a.scope AS scope, a.kind AS kind, count(*) AS n"
    )
    day: Counter[tuple[str, str]] = Counter()
    for row in rows:
        assert row["n"] <= 100  # a tenth of 135 is less
        day[row["scope"], row["kind"]] += row["n"]
    assert all(n <= 100 for n in day.values())
    assert not {key for key in graph.pruned(jochi.database) if "/p" in key}
    counted["examples"] += 1
    counted["at the bound"] += sum(n == 100 for n in day.values())
    limit = min(table.get("breaker_floor", 100), 100)
    run_limit = table.get("breaker_run_floor", 100)
    share = max(int(table.get("breaker_share", 0.1) * 135), limit)
    assert all(n <= max(share, limit) for n in day.values())
    assert all(row["n"] <= max(run_limit, int(table.get("breaker_run_share", 0.05) * 135)) for row in rows)


@pytest.mark.slow
@pytest.mark.server
def test_the_bound_was_met() -> None:
    """Some of the policies did take as much as may be taken."""
    assert counted["at the bound"] > 0
