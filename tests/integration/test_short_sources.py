"""What comes of short sources that speak of one thing (seed 002, Phases 1 and 2, Storylines), beside what a person would make of
them: tests/short_sources. `pytest -s` prints the figures."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.conftest import PolicyWith, say_go
from tests.short_sources.measure import Result, Story, figures, groups, naive, source_rows, table

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 9, 1, 12, tzinfo=timezone.utc)
DERIVATIONS = ("process", "extract", "storylines")


@pytest.fixture(scope="session")
def reading(policy_with: PolicyWith) -> Any:
    return policy_with("".join(f"[derive.{name}]\nderiving = true\n" for name in DERIVATIONS))


@pytest.fixture
def client(install_once: Any, reading: Any) -> Jochi:
    ready: Jochi = install_once(reading)
    say_go(ready)
    return ready


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, {"now": NOW, **given})]


def work(client: Jochi) -> None:
    makers = [DeriveHandler(each, OfflineMaker(each, Estimate()), Estimate()) for each in map(derivation, DERIVATIONS)]
    worker = Worker(client.engine, [PrepareHandler(Estimate()), *makers])
    worker.run(once=True)
    for maker in makers:
        assert not worker.progress[maker.name].failed, worker.progress[maker.name].reasons


def made(client: Jochi, all_groups: list[dict[str, Any]]) -> list[Result]:
    rows = [row for group in all_groups for row in source_rows(group)]
    for place in range(2):  # some are there before a name is known
        client.remember(rows[place::2], now=NOW, on_refused="raise")
        work(client)
    # Each thing is used, and known for a while.
    run(
        client,
        "MATCH (t:Curated) WHERE t:Person OR t:Concept OR t:Entity SET t.state = 'active', t.created_at = $now - duration('P400D')",
    )
    later = datetime.now(timezone.utc) + timedelta(days=1)
    for job in ("count_mentions", "promote_storylines"):
        run_job(client.engine, job, now=later, drain=True)
    work(client)
    return [_result(client, group) for group in all_groups]


def _result(client: Jochi, group: dict[str, Any]) -> Result:
    result = Result()
    for row in run(
        client,
        "MATCH (s:Curated:Source {scope: $scope}) OPTIONAL MATCH (s)-[:SUMMARIZED_TO]->(p) "
        "RETURN p.keywords AS keywords, p.tags AS tags ORDER BY s.id",
        scope=group["name"],
    ):
        result.keywords.append(row["keywords"] or ())
        result.tags.append(row["tags"] or ())
    for row in run(
        client,
        "MATCH (t:Curated {scope: $scope}) WHERE t:Person OR t:Concept OR t:Entity "
        "RETURN [l IN labels(t) WHERE l IN ['Person', 'Concept', 'Entity']][0] AS kind, t.name AS name, "
        "[(s:Source)-[:mentions]->(t) | toInteger(split(s.id, '-')[-1])] AS numbers",
        scope=group["name"],
    ):
        result.things[row["kind"], row["name"]] = set(row["numbers"])
    result.stories += [
        Story(row["anchor"], row["content"])
        for row in run(
            client,
            "MATCH (s:Curated:Storyline {scope: $scope})-[:about]->(t) RETURN t.name AS anchor, s.content AS content",
            scope=group["name"],
        )
    ]
    return result


@pytest.mark.slow
@pytest.mark.parametrize("unseen", [False, True])
def test_what_comes_of_short_sources(client: Jochi, unseen: bool) -> None:
    """Three of four things, nine of ten mentions of these, hardly anything else; a storyline in the order of time."""
    all_groups = groups(unseen=unseen)
    results = made(client, all_groups)
    sums, naively = figures(all_groups, results), figures(all_groups, [*map(naive, all_groups)])
    shown = [f"unseen: {unseen}", table(sums), "naively", table(naively)]
    for group, result in [] if unseen else zip(all_groups, results, strict=True):
        shown += [group["name"], *map(str, sorted(result.things.items(), key=str)), *map(str, result.stories)]
        shown += map(str, zip(result.keywords, result.tags, strict=True))
    print(*shown, sep="\n")  # noqa: T201
    assert sums["things there"] >= 0.75 * sums["things there of"]
    assert sums["mentions there"] >= 0.8 * sums["mentions there of"]
    assert sums["no things at all"] == 0
    assert sums["other things"] <= 0.4 * sums["other things of"] < naively["other things"]
    assert sums["stories there"] >= 0.5 * sums["stories there of"]
