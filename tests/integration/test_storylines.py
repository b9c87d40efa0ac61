"""Storylines and themes against an oracle in plain Python (seed 002, Hierarchical Memory Promotion; docs/reference/storylines.md).
Which sources a storyline has follows from the graph alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PolicyWith, TestServer, say_go
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.errors import UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

BEGIN = datetime(2026, 1, 7, 12, tzinfo=timezone.utc)
"""Noon of the first day of a window."""
NOW = datetime(2026, 9, 1, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
WEIGHTS = {"call": 2.0, "slack-channel": 0.1}
SOURCES, DAYS, AGE, SEGMENT, ATTACH, MACRO_AGE = 5, 3, 3, 30, 90, 30


@pytest.fixture(scope="session")
def telling(policy_with: PolicyWith) -> Any:
    return policy_with(
        "[derive.process]\nderiving = true\n[derive.storylines]\nderiving = true\n"
        f"source_weights = {{ call = {WEIGHTS['call']}, slack-channel = {WEIGHTS['slack-channel']} }}\n"
        "[derive.macros]\nderiving = true"
    )


@pytest.fixture
def client(install_once: Any, telling: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(telling)
    say_go(ready)
    return ready


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(to_python(row)) for row in client.database.run(cypher, {"now": NOW, **given})]


def _weights(days: Sequence[float], types: Sequence[str]) -> list[Fraction]:
    """Of the sources in the order of their days."""
    kinds = types or [""] * len(days)
    return [Fraction(str(WEIGHTS.get(kind, 1))) for _, kind in sorted(zip(days, kinds, strict=True))]


def expected(days: Sequence[float], types: Sequence[str] = ()) -> dict[date, list[float]]:
    """What a storyline is: by first day of its window the days of the sources that it includes, written anew from the docs.
    ``types``: of each source; none: it counts for one."""
    windows: dict[int, list[datetime]] = {}
    weights: dict[int, Fraction] = {}
    for at, weight in zip(sorted(days), _weights(days, types), strict=True):
        n = ((BEGIN + DAY * at).date() - date(1970, 1, 1)).days // SEGMENT
        windows.setdefault(n, []).append(BEGIN + DAY * at)
        weights[n] = weights.get(n, Fraction(0)) + weight
    full = {n for n, members in windows.items() if weights[n] >= SOURCES and len({at.date() for at in members}) >= DAYS}
    stories: dict[int, list[datetime]] = {}
    waiting: list[int] = []
    home, last = 0, datetime.min.replace(tzinfo=timezone.utc)
    for n, members in sorted(windows.items()):
        near = bool(waiting) and windows[waiting[-1]][-1] > members[0] - ATTACH * DAY
        waiting = [*(waiting if near else ()), n]
        together = sum(weights[each] for each in waiting) >= SOURCES
        if n in full:
            waiting, home, last = [], n, members[-1]
        elif last > members[0] - ATTACH * DAY:
            waiting = []
        elif together and len({at.date() for each in waiting for at in windows[each]}) >= DAYS:
            home, last = waiting[0], members[-1]
            stories[home] = [at for each in waiting[:-1] for at in windows[each]]
            waiting = []
        else:
            continue
        stories.setdefault(home, []).extend(members)
    return {
        date(1970, 1, 1) + n * SEGMENT * DAY: sorted((at - BEGIN) / DAY for at in members)
        for n, members in stories.items()
    }


def put(
    client: Jochi,
    days: Sequence[float],
    anchor: str = "anna",
    state: str = "active",
    scope: str = "default",
    types: Sequence[str] = (),
) -> str:
    """A person whom a source mentions on each of these days; its key."""
    key = f"{scope}/person:{anchor}"
    client.remember(
        [
            {
                "kind": "Person",
                "id": f"person:{anchor}",
                "scope": scope,
                "content": anchor,
                "properties": {"name": anchor.title(), "state": state},
            }
        ],
        now=NOW,
    )
    rows = [
        {
            **{
                "kind": "Source",
                "id": f"{anchor}-{number}",
                "scope": scope,
                "content": f"On day {day} {anchor.title()} painted.",
            },
            "properties": {
                **{"started_at": BEGIN + DAY * day, "processing_status": "raw"},
                **({"source_type": types[number]} if types and types[number] else {}),
            },
            "relationships": [{"type": "mentions", "to_key": key}],
        }
        for number, day in enumerate(days)
    ]
    assert client.remember(rows, now=NOW, on_refused="raise").written == len(days)
    run(client, "MATCH (n:Curated {key: $key}) SET n.count_due = $now", key=key)
    return key


def work(client: Jochi) -> dict[str, int]:
    makers = [derivation(name) for name in ("process", "storylines", "macros")]
    worker = Worker(
        client.engine,
        [
            PrepareHandler(Estimate()),
            *(DeriveHandler(one, OfflineMaker(one, Estimate()), Estimate()) for one in makers),
        ],
    )
    worker.run(once=True)
    assert not any(each.failed for each in worker.progress.values()), worker.progress
    return {name: each.done for name, each in worker.progress.items()}


def night(client: Jochi, at: datetime | None = None) -> dict[str, int]:
    """All that a week's end brings: counting, promotion, and what workers make of it."""
    later = at or datetime.now(timezone.utc) + DAY
    work(client)
    run_job(client.engine, "count_mentions", now=later, drain=True)
    run_job(client.engine, "promote_storylines", now=later, drain=True)
    done = work(client)
    run_job(client.engine, "promote_macros", now=later, drain=True)
    return {**done, "macros": done["macros"] + work(client)["macros"]}


def stories(client: Jochi, key: str) -> dict[date, list[float]]:
    found = run(
        client,
        "MATCH (n:Curated {key: $key})<-[:about]-(st:Curated:Storyline)-[:includes]->(s:Curated:Source) "
        "RETURN date(right(st.key, 10)) AS begins, s.started_at AS at ORDER BY at",
        key=key,
    )
    told: dict[date, list[float]] = {}
    for row in found:
        told.setdefault(row["begins"], []).append((row["at"] - BEGIN) / DAY)
    return told


FULL = (0, 1, 2, 3, 4)


DAYS_OF: list[tuple[float, ...]] = [
    FULL,
    FULL[:4],
    (0, 1, 2, 2.1, 2.2),
    (0, 1, 1.1, 1.2, 1.3),
    (0, 1, 1.1, 1.2, 1.3, 260),  # days enough, but not in that window
    (*FULL, *(day + 30 for day in FULL)),
    (*FULL, 40, 93),
    (*FULL, 95),
    (-60, *FULL, 40),
    (*FULL, 40, *(day + 70 for day in FULL), 150, 260),
    (0, 20, 40, 60, 80),  # a mail every few weeks: no window has enough, all together have
    (0, 20, 40, 60, 151),  # nor have they together
    (0, 50, 120, 200, 280, 360, 460),
    (0, 1, 40, *(day + 60 for day in FULL), 100),
]


def test_which_storylines_there_are_and_what_they_include(client: Jochi) -> None:
    keys = [put(client, days, anchor=f"anna{n}") for n, days in enumerate(DAYS_OF)]
    night(client)
    for key, days in zip(keys, DAYS_OF, strict=True):
        wanted = expected(days)
        assert stories(client, key) == wanted, days
        [row] = run(client, "MATCH (n:Curated {key: $key}) RETURN n.has_meso AS meso, n.has_macro AS macro", key=key)
        assert (row["meso"], row["macro"]) == (True if wanted else None, True if len(wanted) >= 2 else None), days
    # The same again changes nothing.
    run(client, "MATCH (n:Person) SET n.count_due = $now")
    assert night(client) == {"prepare": 0, "process": 0, "storylines": 0, "macros": 0}


def test_a_source_counts_for_as_many_as_its_kind_weighs(client: Jochi) -> None:
    """Both sides of five sources: by calls for two, by channels for a tenth of one, and by what isn't named for one."""
    cases = [
        ((0, 1, 2), ("call", "call", "text-note"), 1),
        ((0, 1, 2), ("call", "text-note", "text-note"), 0),
        # Enough of them, on too few days.
        ((0, 1, 1.1), ("call", "call", "call"), 0),
        ((*FULL[:4], *(n / 20 for n in range(1, 11))), ("",) * 4 + ("slack-channel",) * 10, 1),
        ((*FULL[:4], *(n / 20 for n in range(1, 10))), ("",) * 4 + ("slack-channel",) * 9, 0),
    ]
    keys = [put(client, days, anchor=f"anna{n}", types=types) for n, (days, types, _) in enumerate(cases)]
    night(client)
    for key, (days, types, told) in zip(keys, cases, strict=True):
        assert stories(client, key) == expected(days, types), types
        assert len(expected(days, types)) == told


def test_the_anchor_must_be_used_and_known_for_a_while(client: Jochi) -> None:
    cases = [("active", AGE + 0.1, 1), ("core", 9, 1), ("candidate", 9, 0), ("active", AGE - 0.1, 0)]
    keys = [put(client, FULL, state=state, anchor=f"anna{n}") for n, (state, _, _) in enumerate(cases)]
    work(client)
    run_job(client.engine, "count_mentions", now=datetime.now(timezone.utc) + DAY, drain=True)
    for key, (_, age, told) in zip(keys, cases, strict=True):
        [row] = run(client, "MATCH (n:Curated {key: $key}) RETURN n.first_mentioned_at AS at", key=key)
        assert row["at"] == BEGIN
        # What is known for so long: seen from such a night, when no other has its turn.
        run(client, "MATCH (n:Person) SET n.promote_due = CASE n.key WHEN $key THEN $at END", key=key, at=BEGIN)
        run_job(client.engine, "promote_storylines", now=BEGIN + age * DAY, drain=True)
        assert work(client)["storylines"] == told
        if not told:  # it waits for the next night
            [row] = run(client, "MATCH (n:Curated {key: $key}) RETURN n.promote_due AS at", key=key)
            assert row["at"] == BEGIN + (age + 1) * DAY


@pytest.fixture
def short_nights(client: Jochi) -> Jochi:
    """A run of the job has one batch of two anchors."""
    client.database.run("MATCH (j:JochiJob {name: 'promote_storylines'}) SET j.batch_size = 2, j.max_batches = 1")
    return client


def test_a_run_that_is_over_before_all_had_their_turn_goes_on_in_the_next(short_nights: Jochi) -> None:
    client = short_nights
    for n in range(5):
        put(client, FULL, anchor=f"anna{n}")
    work(client)
    later = datetime.now(timezone.utc) + DAY
    run_job(client.engine, "count_mentions", now=later, drain=True)
    selected = []
    for left in (3, 1, 0):
        selected += [each.selected for each in run_job(client.engine, "promote_storylines", now=later)]
        text = "MATCH (j:JochiJob {name: 'promote_storylines'}) RETURN j.next_start <= j.last_finished_at AS at_once"
        assert run(client, text) == [{"at_once": left > 0}]
    assert selected == [2, 2, 1]
    assert work(client)["storylines"] == 5, "each once"


def test_text_counts_and_a_new_source(client: Jochi) -> None:
    key = put(client, (*FULL, 5))
    night(client)
    [row] = run(client, "MATCH (st:Storyline) RETURN st {.*} AS st")
    story = row["st"]
    assert (story["source_count"], story["state"], story["title"]) == (6, "active", "Anna, from 2026-01-07")
    assert (story["first_source_at"], story["last_source_at"]) == (BEGIN, BEGIN + 5 * DAY)
    assert story["content"].startswith("2026-01-07: On day 0 Anna painted.")
    assert len(run(client, "MATCH (:Storyline)-[d:DERIVED_FROM]->(:SourceSummary) RETURN d")) == 6
    client.remember(
        [
            {
                "kind": "Source",
                "id": "new",
                "content": "Then Anna sang.",
                "properties": {"started_at": BEGIN + 6 * DAY},
                "relationships": [{"type": "mentions", "to_key": key}],
            }
        ],
        now=NOW,
    )
    run(client, "MATCH (n:Curated {key: $key}) SET n.count_due = $now", key=key)
    assert night(client)["storylines"] == 1
    [row] = run(client, "MATCH (st:Storyline) RETURN st {.*} AS st")
    assert (row["st"]["source_count"], "Anna sang" in row["st"]["content"]) == (7, True)


@pytest.mark.exhaustive
def test_undo_of_the_night(client: Jochi) -> None:
    key = put(client, (*FULL, *(day + 30 for day in FULL)))
    night(client)
    assert len(stories(client, key)) == 2
    for rule in ("derive.macros", "derive.storylines"):
        for row in run(client, "MATCH (a:CurationAudit {rule: $rule}) RETURN DISTINCT a.run AS run", rule=rule):
            client.undo(row["run"])
    assert stories(client, key) == {}
    assert run(client, "MATCH (m:Curated:Macro) RETURN m.key") == []


def test_what_is_forgotten_is_in_no_story(client: Jochi) -> None:
    key = put(client, (*FULL, *(day + 30 for day in FULL)))
    client.remember(
        [
            {
                "kind": "Source",
                "id": "secret",
                "content": "Zanzibar hides the gold.",
                "properties": {"started_at": BEGIN + 3 * DAY},
                "relationships": [{"type": "mentions", "to_key": key}],
            }
        ],
        now=NOW,
    )
    night(client)
    assert run(client, "MATCH (m:Macro)-[:groups]->(st:Storyline) RETURN count(st) AS n") == [{"n": 2}]
    assert run(
        client, "MATCH (m:Curated) WHERE m.content CONTAINS 'Zanzibar' AND m:Storyline RETURN count(m) AS n"
    ) == [{"n": 1}]
    client.forget(Request(keys=("default/secret",)), verify=True)
    night(client)
    said = "MATCH (n) WHERE any(name IN keys(n) WHERE toStringOrNull(n[name]) CONTAINS 'Zanzibar') RETURN count(n) AS n"
    assert run(client, said) == [{"n": 0}]
    assert stories(client, key) == expected((*FULL, *(day + 30 for day in FULL)))
    assert run(client, "MATCH (m:Curated:Macro)-[:groups]->(st:Curated:Storyline) RETURN count(st) AS n") == [{"n": 2}]


def test_nobody_elses_sources_are_in_it(client: Jochi) -> None:
    key = put(client, FULL[:4])
    put(client, FULL[:4], scope="bob")
    run(client, "MATCH (n:Curated {key: $key}), (s:Source {scope: 'bob'}) CREATE (s)-[:mentions]->(n)", key=key)
    night(client)
    assert stories(client, key) == {}


def test_three_granularities_and_down_again(
    client: Jochi, server: TestServer, telling: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By words alone; the vectors stand for what is near in meaning."""
    key = put(client, (*FULL, *(day + 30 for day in FULL)))
    put(client, FULL, scope="bob")
    night(client)
    macro, story, source = "default/macro:person:anna", "default/storyline:person:anna:2026-01-07", "default/anna-4"

    def near(which: str, cosine: float) -> None:
        vector = [cosine, (1 - cosine**2) ** 0.5, *[0.0] * 382]
        label = {"macro": "Macro", "story": "Storyline", "source": "SourceSummary"}[which]
        run(
            client,
            f"MATCH (m:{label} {{scope: 'default'}}) SET m.embedding = $v, m.embedding_model = $model",
            v=vector,
            model=client.policy.policy.embedding.model,
        )

    for granularity, kind in ((1, "Source"), (2, "Storyline"), (3, "Macro")):
        found = client.explore("painted", granularity=granularity, k=4)
        assert {place.kind for place in found.places} - {"Person"} == {kind}
        assert len(found.keys) == len(set(found.keys)) == {1: 4, 2: 2, 3: 1}[granularity]
        assert all(place.key.startswith("default/") for place in found.places)
    [theme] = client.explore("painted", granularity=3).places
    assert (theme.key, [one.key for one in theme.members]) == (
        macro,
        ["default/storyline:person:anna:2026-02-06", story],
    )
    assert (theme.source_count, theme.started_at, theme.ended_at) == (10, BEGIN, BEGIN + 34 * DAY)
    told, anna, of_summary = client.drill_down([story, key, "default/none", source + ":summary"])
    assert [one.key for one in told.members] == [f"default/anna-{n}" for n in (4, 3, 2, 1, 0)]
    assert told.members[0].content == "On day 4 Anna painted."
    assert [one.kind for one in anna.members] == ["Macro", "Storyline", "Storyline"]
    assert (of_summary.key, of_summary.asked, [one.key for one in of_summary.members]) == (
        source,
        source + ":summary",
        [key],
    )
    # The coarsest that is nearly as near as the nearest; without vectors the coarsest that has any.
    assert client.explore("painted", granularity="auto").granularity == 3
    asked = [1.0, *[0.0] * 383]
    for cosines, chosen in (((0.9, 0.9, 0.849), 2), ((0.9, 0.9, 0.851), 3), ((0.9, 0.84, 0.84), 1)):
        for which, cosine in zip(("source", "story", "macro"), cosines, strict=True):
            near(which, cosine)
        assert client.explore(vector=asked, granularity="auto").granularity == chosen
    assert [place.key[:4] for place in client.explore("painted", scope="bob", granularity=2).places] == ["bob/"]
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    command = ["--policy", str(telling.path), "explore"]
    assert macro in CliRunner().invoke(app, [*command, "painted", "--granularity", "3", "--json"]).stdout
    assert "2026-02-06" in CliRunner().invoke(app, [*command, macro, "--drill"]).stdout
    assert isinstance(CliRunner().invoke(app, [*command, "x", "--granularity", "4"]).exception, UsageError)
    with pytest.raises(UsageError):
        client.explore("painted", granularity=4)  # type: ignore[arg-type]
