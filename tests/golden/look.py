"""What the engine decides, as facts: (what, day, key) and its fields."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.golden.coded import coded
from tests.golden.store import DAYS, day

from jochi import Jochi
from jochi.curate.explain import Explanation
from jochi.jobs.runner import run_job
from jochi.use.edges import Edge

JOBS = (
    "fold_accesses",
    "roll_access_days",
    "curate_due",
    "enforce_budgets",
    "settle_slots",
    "find_duplicates",
    "merge_duplicates",
    "sweep_orphans",
    "schedule_edges",
    "decay_edges",
    "hygiene",
    "purge_tombstones",
)
"""In this order at each instant; the rest of the jobs waits for nothing here."""


@dataclass(frozen=True)
class Fact:
    """What is decided ``what`` (a plan, a record …) about ``key`` on that day."""

    what: str
    at: int
    key: str
    fields: dict[str, Any]


Properties = dict[str, Any]
_FREE = {"id", "run", "audit", "curation_audit", "curation_run", "enrolled_run", "policy", "content", "embedding"}
"""Ids made anew each time, and texts that no decision changes."""
_OF_THE_CLOCK = {"enrolled_at", "decided_at"}


def fact(what: str, at: int, key: str, **fields: Any) -> Fact:
    """One; fields without a value are left out."""
    plain = {name: _rounded(coded(value)) for name, value in fields.items()}
    return Fact(what, at, key, {n: v for n, v in plain.items() if v not in (None, [], {})})


def _rounded(value: Any) -> Any:
    """Two ways to compute one number may differ in the last digits; an instant is a short text."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        if [*value] == ["at"]:
            return str(value["at"]).removesuffix("Z").removesuffix(":00")
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


# -- what is decided --------------------------------------------------------------------------------------------------


def plans(client: Jochi) -> Iterator[Fact]:
    """The plan of each instant, by group."""
    for at in DAYS:
        plan = client.plan(day(at))
        yield fact("plan", at, "", looked_at=plan.looked_at, rails=plan.rails, edges=plan.edges, merges=plan.merges)
        for group in plan.groups:
            key = f"{group.kind}/{group.rule}/{group.outcome}"
            yield fact("plan", at, key, n=group.n, scopes=group.scopes)
        for quota in plan.quotas:
            yield fact("quota", at, f"{quota.scope}/{quota.kind}", n=quota.n)


def explanations(client: Jochi, keys: Sequence[str], *, whole: bool) -> Iterator[Fact]:
    """Each key at the instant that it was drawn for, every third at the next one, too.

    ``whole``: with rules and rails one by one."""
    said: dict[str, dict[str, Any]] = {}
    for number, key in enumerate(keys):
        turn = DAYS.index(int(key.split("/", 1)[1][1:4]))
        for at in (DAYS[turn], DAYS[(turn + 1) % len(DAYS)])[: 1 if number % 3 else 2]:
            one = client.explain(key, at=day(at))
            yield _explained(one, at)
            if whole:
                yield _rules(one, at, said)
    for name, texts in said.items():
        yield fact("rule", 0, name, **texts)


def _explained(one: Explanation, at: int) -> Fact:
    changes = [
        " ".join(str(part) for part in (c.action, c.rule, c.from_, c.to, c.flag, c.state, coded(c.due)["at"]) if part)
        for c in one.changes
    ]
    blocks = {rail.rail: [rail.until, rail.current] for rail in one.rails if rail.blocks}
    fields = {"kind": one.kind, "outcome": one.outcome, "rule": one.rule, "next": one.next_look}
    return fact("explain", at, one.key, **fields, blocks=blocks, changes=sorted(changes))


def _rules(one: Explanation, at: int, said: dict[str, dict[str, Any]]) -> Fact:
    """Of each rule that comes to be due when, what its conditions find (a ! before what isn't met) and what its clock says; of the
    rest, and of rails that don't block, a hash of the same."""
    fields, rest = {}, []
    for rule in one.rules:
        texts = {"source": rule.source, "action": rule.action, "after": rule.after}
        texts |= {f"requires {condition['property']}": condition.get("required") for condition in rule.conditions}
        said[rule.rule] = said.get(rule.rule, {}) | texts
        found = [
            rule.due,
            [_found(condition) for condition in rule.conditions],
            [moment.get("current", moment.get("value")) for moment in rule.clock],
            rule.unknown,
        ]
        if rule.due is None:
            rest.append([rule.rule, *found])
        else:
            fields[rule.rule] = found if rule.unknown else found[:-1]
    for rail in one.rails:
        said[f"rail {rail.rail}"] = {"required": rail.required}
    passed = [[rail.rail, rail.until, rail.current] for rail in one.rails if not rail.blocks]
    return fact("rules", at, one.key, **fields, never=_hash(rest), passed=_hash(passed))


def _found(condition: Any) -> Any:
    current = condition.get("current")
    return current if condition.get("met") else ["!", current]


def _hash(value: Any) -> str:
    text = json.dumps(_rounded(coded(value)), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# -- what is done -----------------------------------------------------------------------------------------------------


def lives(client: Jochi, *, hashed: bool = False) -> Iterator[Fact]:
    """Runs the jobs at each instant, and says what changed since the one before; ``hashed``: of each memory when, and one hash."""
    looks: dict[str, list[tuple[int, str]]] = defaultdict(list)
    known = _nodes(client)
    edges = _edges(client)
    for at in DAYS:
        now = day(at)
        _use(client, known, now)
        for job in JOBS:
            runs = run_job(client.engine, job, now=now, drain=True)
            assert [run.error for run in runs if run.error] == [], job
            tally: dict[str, int] = defaultdict(int)
            for run in runs:
                for name, n in run.tally.items():
                    tally[name] += n
            tally.pop("retried", None)
            yield fact("job", at, job, **tally)
        # A look takes one step between tiers and is followed by the next at once: nothing is left to do when this is looked at.
        for minutes in (15, 30, 45):
            later = run_job(client.engine, "curate_due", now=now + timedelta(minutes=minutes), drain=True)
            assert [run.error for run in later if run.error] == []
        found, after = _nodes(client), _edges(client)
        for key in sorted({*known, *found}):
            fields = _changed(known.get(key, {}), found.get(key, {}), now)
            if fields and hashed:
                looks[key].append((at, _hash(fields)))
            elif fields:
                yield fact("left", at, key, **fields)
        for key in sorted({*edges, *after}):
            fields = _changed(edges.get(key, {}), after.get(key, {}), now)
            if fields:
                yield fact("edge", at, key, **fields)
        known, edges = found, after
    for key, changes in looks.items():
        yield fact("left", DAYS[-1], key, days=[at for at, _ in changes], hash=_hash(changes))
    for tier, held in client.tiers().by_tier().items():
        yield fact("tier", DAYS[-1], str(tier), held=held)


def _use(client: Jochi, known: Iterable[str], now: datetime) -> None:
    """What agents do before each instant: each time other memories are used."""
    keys = sorted(key for key in known if key.startswith(("default/", "other/", "team/")))
    if not keys:
        return
    turn = DAYS.index((now - day(0)).days)
    client.touch(keys[turn :: len(DAYS) * 3], agent=f"agent{turn % 5}", now=now)
    client.touch(keys[turn + 1 :: len(DAYS) * 4], used=False, now=now)
    client.reinforce([Edge("facts/city0", "SAME_ENTITY", "facts/city1")], now=now)


def records(client: Jochi) -> Iterator[Fact]:
    """What is on record of it, a memory at a time whether it was written one by one or as lists."""
    rows = client.database.run("MATCH (a:CurationAudit) RETURN properties(a) AS a", write=False)
    found: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for row in rows:
        audit = row["a"]
        named = audit.get("keys")
        for i, key in enumerate(named if named else [audit.get("key")]):
            one = {n: v[i] if named and isinstance(v, list) and len(v) == len(named) else v for n, v in audit.items()}
            at = (coded_day(one.pop("at")), str(key))
            fields = {
                n: coded(v) for n, v in one.items() if n not in _FREE | {"keys", "n", "key", "scope"} and v is not None
            }
            found[("record", *at)].append(json.dumps(_rounded(fields), sort_keys=True))
    for (what, at_day, key), texts in sorted(found.items()):
        for number, text in enumerate(sorted(texts)):
            yield fact(what, at_day, f"{key}#{number}" if number else key, **json.loads(text))


def coded_day(at: Any) -> int:
    """The number of the day that an instant of a run is."""
    return round((at.to_native() - day(0)).total_seconds() / 86400)


def _nodes(client: Jochi) -> dict[str, Properties]:
    rows = client.database.run(
        "MATCH (m) WHERE m.key IS NOT NULL AND (m:Curated OR m:Tombstone) "
        "RETURN m.key AS key, labels(m) AS labels, properties(m) AS p",
        write=False,
    )
    return {row["key"]: _comparable(row["p"]) | {"labels": sorted(row["labels"])} for row in rows}


def _edges(client: Jochi) -> dict[str, Properties]:
    rows = client.database.run(
        "MATCH (a)-[r]->(b) WHERE r.id IS NOT NULL OR type(r) = 'SIMILAR_TO' AND a.key + b.key IS NOT NULL "
        "RETURN coalesce(r.id, a.key + ' ~ ' + b.key) AS key, type(r) AS type, properties(r) AS p",
        write=False,
    )
    return {row["key"]: _comparable(row["p"]) | {"type": row["type"]} for row in rows}


def _comparable(properties: Properties) -> Properties:
    return {n: _rounded(coded(v)) for n, v in properties.items() if n not in _FREE | _OF_THE_CLOCK | {"key", "scope"}}


def _changed(before: Properties, after: Properties, now: datetime) -> Properties:
    """The fields that differ; what is gone is "gone", and this very instant "now"."""
    said = _rounded(coded(now))
    return {
        name: "gone" if name not in after else "now" if after[name] == said else after[name]
        for name in {*before, *after}
        if before.get(name) != after.get(name)
    }


def budgets(client: Jochi) -> Iterator[Fact]:
    """What the budgets would move at first, and what they can't."""
    plan = client.plan_budgets(most=1_000)
    for move in plan.moves:
        yield fact("budget", 0, f"{move.scope} {move.before} {move.after}", n=move.n, tokens=move.tokens)
    for over in plan.overflows:
        yield fact("overflow", 0, f"{over.scope} {over.tier}", **asdict(over))
