"""How long a memory really lives: examples, by the engine itself, as docs/reference/rules-and-rails.md shows them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.pages import REFERENCE, says

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import replay
from jochi.operate.rule_tables import rule_tables
from jochi.policy import load_policy

PAGE = "rules-and-rails.md"
BORN = datetime(2026, 3, 1, 9, 0, tzinfo=timezone.utc)
DAY = timedelta(days=1)
LONG = 400
SCORED = 200
"""Days that facts are followed: scores change no more after 180, and a fact is looked at every day."""


@dataclass(frozen=True)
class Example:
    """What is written at BORN, and what an app does to it later (days after BORN, the words for it, Cypher on `m` or touches).

    ``owner``: what a Person has whose note it is. ``days``: how long it is followed.
    """

    title: str
    labels: str
    properties: dict[str, Any]
    later: tuple[tuple[float, str, str | int], ...] = field(default=())
    owner: dict[str, Any] | None = None
    days: int = LONG


EXAMPLES = (
    Example(
        "A Notification that is read on its second day",
        "Notification",
        {"read": False, "priority": "normal"},
        ((2, "the app marks it read", "SET m.read = true, m.read_at = $now, m.next_due = $now"),),
    ),
    Example(
        "A Belief held with confidence 0.8, used once on its tenth day and never again",
        "Belief",
        {"state": "active", "confidence": 0.8},
        ((10, "one used access", 1),),
    ),
    Example(
        "A Task that is completed on its third day",
        "Task",
        {"status": "in_progress"},
        ((3, "the app completes it", "SET m.status = 'completed', m.completed_at = $now, m.next_due = $now"),),
    ),
    Example(
        "A Reflection that is consolidated on its fifth day, used ten times in a row on the thirtieth",
        "Reflection",
        {"consolidated": False},
        (
            (5, "the app consolidates it", "SET m.consolidated = true, m.consolidated_at = $now, m.next_due = $now"),
            (30, "ten used accesses", 10),
        ),
    ),
    Example("A Concept with salience 0.5 that nobody uses", "Concept", {"state": "candidate", "salience": 0.5}),
    Example(
        "A Concept with confidence 0.4, used ten times on its fiftieth day and once on its 350th",
        "Concept",
        {"state": "candidate", "salience": 0.5, "confidence": 0.4},
        ((50, "ten used accesses", 10), (350, "one used access", 1)),
    ),
    Example(
        "An ephemeral Source that is used on its twentieth and fortieth day",
        "Source",
        {"state": "candidate", "salience": 0.5, "ttl_policy": "ephemeral"},
        ((20, "one used access", 1), (40, "one used access", 1)),
    ),
    Example("A Fact with confidence 0.8 that nobody uses", "Fact", {"confidence": 0.8}, days=SCORED),
    Example(
        "A Fact with confidence 0.97 and importance 0.9, used on its fifth day",
        "Fact",
        {"confidence": 0.97, "importance": 0.9},
        ((5, "one used access", 1),),
        days=SCORED,
    ),
    Example("A speculative Fact (confidence 0.1) that nobody confirms", "Fact", {"confidence": 0.1}),
    Example(
        "A speculative Fact (confidence 0.1) of importance 0.3, confirmed on its twentieth day",
        "Fact",
        {"confidence": 0.1, "importance": 0.3},
        ((20, "a later extraction confirms it", "SET m.confirmed_at = $now, m.next_due = $now"),),
        days=SCORED,
    ),
    Example(
        "The same of importance 0.2",
        "Fact",
        {"confidence": 0.1, "importance": 0.2},
        ((20, "a later extraction confirms it", "SET m.confirmed_at = $now, m.next_due = $now"),),
        days=SCORED,
    ),
    Example(
        "A commitment (a Fact) that is fulfilled on its tenth day",
        "Fact",
        {"confidence": 0.8, "category": "commitment"},
        ((10, "the app marks it resolved", "SET m.resolved = true, m.resolved_at = $now, m.next_due = $now"),),
    ),
    Example("A Note for a month, its owner clean", "Note", {"lifetime": "month"}, owner={"is_dirty": False}),
    Example("A Note for a month whose owner stays dirty", "Note", {"lifetime": "month"}, owner={"is_dirty": True}),
    Example(
        "A Note for a month whose dirty owner is consolidated in its 33rd day",
        "Note",
        {"lifetime": "month"},
        ((32.5, "the app consolidates the owner", "MATCH (m)<-[:HAS_NOTE]-(o) SET o.is_dirty = false"),),
        owner={"is_dirty": True},
    ),
)


def lived(client: Jochi, examples: tuple[Example, ...]) -> list[list[tuple[timedelta, str]]]:
    """Of each every change, with its time after BORN: the queue is worked at each instant at which something comes due. They live
    at the same time, each in a scope of its own."""
    for i, example in enumerate(examples):
        client.database.run(
            "CREATE (:JochiScope {name: $scope, first_access_at: $before}) "
            f"CREATE (m:Curated:{example.labels}) SET m = $p, m.id = 'm', m.scope = $scope, m.key = $scope + '/m', m.tier = 'HOT', "
            "m.created_at = $born, m.next_due = $born "
            "FOREACH (o IN CASE WHEN $owner IS NULL THEN [] ELSE [$owner] END | CREATE (n:Curated:Person)-[:HAS_NOTE]->(m) "
            "SET n = o, n.id = 'o', n.scope = $scope, n.key = $scope + '/o', n.created_at = $born, n.next_due = $never)",
            {
                "scope": f"docs{i}",
                "before": BORN - 30 * DAY,
                "p": example.properties,
                "born": BORN,
                "owner": example.owner,
                "never": BORN + 2 * LONG * DAY,
            },
        )
    happened: list[list[tuple[timedelta, str]]] = [[] for _ in examples]
    deeds = [[(BORN + days * DAY, words, what) for days, words, what in example.later] for example in examples]
    while events := _next_events(client, examples, deeds):
        now = min(at for at, _ in events.values())
        before = _states(client)
        done = [i for i, (at, is_deed) in events.items() if at == now and is_deed]
        for i in done:
            _, words, what = deeds[i].pop(0)
            happened[i].append((now - BORN, words))
            _do(client, f"docs{i}/m", what, now)
            became = _becoming(before[f"docs{i}/m"], _states(client)[f"docs{i}/m"])
            happened[i] += [(now - BORN, one) for one in became]
        if done:  # what it makes due is looked at next
            continue
        replay(client.engine, {"curate_due": DAY}, start=now, end=now)
        after = _states(client)
        for key in (f"docs{i}/m" for i, (at, _) in events.items() if at == now):
            looked = _changes(before[key], after[key], key, client)
            happened[int(key[4:-2])] += [(now - BORN, one) for one in looked]
    return happened


def _next_events(
    client: Jochi, examples: tuple[Example, ...], deeds: list[list[tuple[datetime, str, str | int]]]
) -> dict[int, tuple[datetime, bool]]:
    """What comes next to each that is followed still: when, and whether it is what an app does, which comes first of the two."""
    rows = client.database.run("MATCH (m:Curated {id: 'm'}) RETURN m.scope AS scope, m.next_due AS due", write=False)
    found = {}
    for row in map(to_python, rows):
        i = int(row["scope"].removeprefix("docs"))
        due = row["due"]
        if due is None:
            continue
        at, is_deed = (deeds[i][0][0], True) if deeds[i] and deeds[i][0][0] <= due else (due, False)
        if at < BORN + examples[i].days * DAY:
            found[i] = (at, is_deed)
        else:
            client.database.run("MATCH (m:Curated {key: $key}) SET m.next_due = null", {"key": f"{row['scope']}/m"})
    return found


def _becoming(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What uses did to a memory with salience."""
    if before.get("salience") == after.get("salience"):
        return []
    salience = f"salience {after['salience']:.2f}"
    return [salience if before["state"] == after["state"] else f"{before['state']} → {after['state']}, {salience}"]


def _do(client: Jochi, key: str, what: str | int, at: datetime) -> None:
    if isinstance(what, str):
        client.database.run(f"MATCH (m:Curated {{key: $key}}) {what}", {"key": key, "now": at})
        return
    for n in range(what):
        client.touch([key], used=True, now=at + n * timedelta(seconds=1))
    client.run("fold_accesses", drain=True, now=at + timedelta(minutes=1))


def _states(client: Jochi) -> dict[str, dict[str, Any]]:
    rows = client.database.run(
        "MATCH (m) WHERE m.id = 'm' AND (m:Curated OR m:Tombstone) RETURN m.key AS key, properties(m) AS p, m:Tombstone AS dead",
        write=False,
    )
    return {row["key"]: {**to_python(row["p"]), "dead": row["dead"]} for row in rows}


def _rule_of(client: Jochi, key: str, action: str) -> str:
    """The rule of its last record of an action."""
    [row] = client.database.run(
        "MATCH (a:CurationAudit {key: $key, action: $action}) RETURN a.rule AS rule ORDER BY a.at DESC LIMIT 1",
        {"key": key, "action": action},
        write=False,
    )
    return str(row["rule"])


def _changes(before: dict[str, Any], after: dict[str, Any], key: str, client: Jochi) -> list[str]:
    """What a look did."""
    if after["dead"]:
        return [f"pruned by `{_rule_of(client, key, 'prune')}`"]
    told = []
    if before.get("state") != "archived" and after.get("state") == "archived":
        told.append(f"archived by `{after['tier_reason']}`: out of recall unless asked for, tier ARCHIVE")
    else:
        if before.get("state") != after.get("state"):
            rule = _rule_of(client, key, "state")
            told.append(f"{before.get('state', 'candidate')} → {after['state']} by `{rule}`")
        if before["tier"] != after["tier"]:
            told.append(f"{before['tier']} → {after['tier']} by `{after['tier_reason']}`")
    if bool(before.get("needs_consolidation")) != bool(after.get("needs_consolidation")):
        told.append("flagged `needs_consolidation`" if after.get("needs_consolidation") else "flag taken off")
    return told


def _span(after: timedelta) -> str:
    hours, minutes = divmod(int(after.total_seconds()) // 60, 60)
    days, hours = divmod(hours, 24)
    return f"{days} d" + (f" {hours} h" if hours or minutes else "") + (f" {minutes} min" if minutes else "")


@pytest.mark.server
@pytest.mark.slow
def test_the_page_says_what_the_engine_does(install_once: Callable[[Any], Jochi]) -> None:
    client = install_once(load_policy())
    client.apply()
    told = []
    for example, changes in zip(EXAMPLES, lived(client, EXAMPLES), strict=True):
        rows = [f"| {_span(after)} | {words} |" for after, words in changes]
        told.append("\n".join([f"**{example.title}**", "", "| after | what happens |", "|---|---|", *rows]) + "\n")
    says(PAGE, {"lifetimes": "\n".join(told)})


def test_the_page_has_the_rules_of_the_shipped_policy() -> None:
    says(PAGE, {"rules": rule_tables(load_policy().policy)})


def test_the_page_explains_every_condition_by_name() -> None:
    """What the tables show in italics has a row, and so has nothing else."""
    text = (REFERENCE / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| \*([^*]+)\* \| \S", text, re.MULTILINE)
    assert sorted(rows) == [name.replace("_", " ") for name in load_policy().policy.predicates_used(all_of_them=True)]
