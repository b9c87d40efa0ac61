"""The topic index of each scope (seed 003, Consolidation Pass: update topic index)."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

DAY = timedelta(days=1)


def write(jochi: Jochi, rows: list[dict[str, Any]]) -> None:
    jochi.database.run(
        "UNWIND $rows AS row CREATE (m:Curated:MemoryEntry {key: row.scope + '/' + row.id}) SET m += row",
        {"rows": rows},
    )


def walk(jochi: Jochi, now: datetime) -> int:
    return sum(run.changed for run in run_job(jochi.engine, "index_topics", now=now, drain=True))


def test_topics_are_counted_as_plain_python_counts_them(jochi: Jochi, now: datetime) -> None:
    """Scopes whose names lie around the slash, each topic once a memory, wrong types, what nobody may read, what is archived."""
    dice = random.Random(7)
    words = ["Rust", "rust ", "graphs", "Ünïcode", "x" * 100, "x" * 101, " ", "tea", "rain", "日本"]
    scopes = ["a", "a-b", "a.b", "a0", "a!", "b", "Z", "é"]
    rows = [
        {
            "scope": scope,
            "id": f"m{n}",
            "created_at": now - n * DAY,
            dice.choice(["topics", "tags", "keywords"]): dice.sample(words, dice.randint(0, 5)),
            **({"state": "archived"} if n % 11 == 3 else {"access_tier": "PRIVATE"} if n % 11 == 5 else {}),
        }
        for scope in scopes
        for n in range(dice.randint(1, 40))
    ]
    odd: list[Any] = [7, "Rust", [1, 2], True, now]
    write(jochi, [*rows, *({"scope": "odd", "id": f"o{n}", "topics": value} for n, value in enumerate(odd))])
    assert walk(jochi, now) == len(scopes) + 1
    found = {index.scope: index for index in jochi.topics()}
    assert set(found) == {*scopes, "odd"}
    assert found["odd"].topics == ()
    longest, numbers = jochi.policy.policy.topics.longest, jochi.policy.policy.topics
    for scope in scopes:
        held: dict[str, list[str]] = {}
        for row in rows:  # the newest first, as they were made
            if row["scope"] == scope and not {"state", "access_tier"} & row.keys():
                said = next((row[name] for name in ("topics", "tags", "keywords") if name in row), [])
                for topic in {t.strip().lower() for t in said if t.strip() and len(t) <= longest}:
                    held.setdefault(topic, []).append(f"{scope}/{row['id']}")
        expected = sorted(((len(keys), topic) for topic, keys in held.items()), key=lambda each: (-each[0], each[1]))
        assert [(each.n, each.topic) for each in found[scope].topics] == expected
        assert all(list(each.newest) == held[each.topic][: numbers.newest] for each in found[scope].topics)
        assert (found[scope].read, found[scope].cut) == (sum(row["scope"] == scope for row in rows), False)
    shown = CliRunner().invoke(app, ["memory", "topics", "--help"])
    assert shown.exit_code == 0
    assert json.dumps([each.topic for each in found["a"].topics])


def test_a_walk_begins_when_it_is_time_and_what_is_empty_goes(jochi: Jochi, now: datetime) -> None:
    every = jochi.policy.policy.topics.every
    write(jochi, [{"scope": scope, "id": "m", "tags": ["tea"]} for scope in ("s", "t")])
    assert walk(jochi, now) == 2
    jochi.database.run(
        "MATCH (m:Curated {key: 't/m'}) DELETE m CREATE (:Curated {key: 's/n', scope: 's', tags: ['tea']})"
    )
    assert walk(jochi, now + every - DAY / 86400) == 0
    assert jochi.topics(scope="s")[0].topics[0].n == 1
    assert walk(jochi, now + every) == 1
    assert jochi.topics(scope="s")[0].topics[0].n == 2
    assert [index.scope for index in jochi.topics()] == ["s", "t"], "of t it isn't known yet"
    assert walk(jochi, now + 2 * every) == 0
    assert [index.scope for index in jochi.topics()] == ["s"]
