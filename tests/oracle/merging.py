"""What a merge of two memories leaves, and what takes it back (seed 000, Option B, Merge strategy; DESIGN §10; peers A1).

Whether two may merge at all is for thresholds, clusters and guard to say; here is what happens then. Ours, where the seed is
silent:
- The higher MVS survives; tie: the older, then the key. What can't be dated counts as youngest.
- A merge takes the loser from all queries, so it is destructive: a rail that blocks the loser holds it up, 24 hours of grace
  and unfolded touches among them (then counts add up). No swapping instead: else a newborn would win because it is new. A lock
  or quarantine of the survivor holds it up, too.
- Two that differ in kind, scope, who may see them, when they must go or whether they are archived don't merge: one of the two
  orders would be lost. An absent order differs from any.
- Counts add up; absent is 0. Day buckets add up by day, and those that the newest day leaves behind fall out. Windows add up by
  their start, the newest 168 stay. A 7-day count without days can't be placed: it adds to its like only, and gives way to days.
- Used at: the newest two distinct moments of both. Recalled at: the newest. Agents and lists of tags unite.
- created_at stays the survivor's: an earlier one would bring its TTL forward, though it was said twice. ``first_seen_at`` keeps
  the earliest.
- Confidence: the greater of what is left of both at ``now``. Not more: two memories of one text aren't two witnesses, and more
  could put it under rail 5. A Belief's stands from ``now`` on, as what it lost stays lost. Importance: the greater. Salience:
  the greater at ``now``.
- Tier: the nearer of the two, with its reason and time.
- Content, embedding, tokens and whatever else is the app's stay the survivor's, and nothing absent is filled in: absence may
  mean something, and the tombstone keeps it all. What can't be read on the survivor stays as it is, on the loser it adds
  nothing.
- Provenance: ``merged_from`` names all that went in, ``merged_hashes`` their content hashes, by which a duplicate that is
  written again is recognised; ``merged_at``. Revision goes up, so that a stale object can't save over it; due at once; its
  score is stale.
- The loser is a tombstone like any, with ``merged_into`` and every property it had; relationships it has none left.
- Relationships move with type, direction and properties; peers made one generic type of them. Those between the two vanish, and
  our flags SIMILAR_TO of the loser, which were about its text. A loop of the loser's on itself moves and is one of the
  survivor's.
- Duplicates: same type, ends and properties, but for confidence, last_reinforced_at, next_due and created_at. Of the k of one
  and the n of the other the greater number stays, the surer of the surest two first: it brings all four (absent confidence is
  1.0, as for edges; tie: the later anchor). Two that differ in anything else say two things and stay both, parallel. A
  confidence that is no number makes a difference, too.
- Unmerge takes back property by property and relationship by relationship what still is as the merge left it, and names what
  isn't instead of overwriting it (DESIGN §10). Only ``merged_from`` and ``merged_hashes`` lose what the merge brought, whatever
  came since, for who lives is in nobody; ``merged_at`` goes with the last of them and else stays that of a later merge. It sets
  no hold: that the two stay apart is for the record of decisions, or it would be no inverse.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.oracle import decay
from tests.oracle.counts import DAYS, buckets
from tests.oracle.due import EVER
from tests.oracle.edges import Edge, anchor_of, confidence_of
from tests.oracle.memory import Memory, is_number
from tests.oracle.rails import FLAG_RAILS, blocking_rails
from tests.oracle.reading import number
from tests.oracle.rules_living import SALIENT
from tests.oracle.salience import salience_now
from tests.oracle.tiers import TIERS

MUST_AGREE = ("access_tier", "sensitivity", "expires_at", "ttl_policy")
COUNTS = ("access_count", "recall_count", "recall_frequency")
LISTS = ("tags", "keywords", "topics", "aliases")
WINDOWS_KEPT = 168
OUR_FLAG = "SIMILAR_TO"
_COMBINED = ("confidence", "last_reinforced_at", "next_due", "created_at")
_BEYOND = datetime.max.replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Rel:
    """A relationship, from one node's key to another's."""

    id: str
    type: str
    start: str
    end: str
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Graph:
    """Nodes by key, relationships by id."""

    nodes: dict[str, Memory]
    rels: dict[str, Rel]


@dataclass(frozen=True)
class Record:
    """The two nodes and every relationship at one of them, before and after; what unmerge needs."""

    survivor: str
    loser: str
    before: Graph
    after: Graph


def survivor(left: Memory, right: Memory, mvs: Mapping[str, float]) -> tuple[Memory, Memory]:
    """(who survives, who is merged into it); ``mvs`` by key."""
    first, second = sorted((left, right), key=lambda m: (-mvs[m.key], m.moment("created_at") or _BEYOND, m.key))
    return first, second


def hindrances(kept: Memory, loser: Memory, now: datetime) -> frozenset[str]:
    """What forbids to merge them now: names of properties in which they differ, and of rails."""
    differ = {name for name in MUST_AGREE if kept.get(name) != loser.get(name)}
    differ |= {"kind"} if set(kept.labels) != set(loser.labels) else set()
    differ |= {"scope"} if kept.scope != loser.scope else set()
    differ |= {"state"} if (kept.get("state") == "archived") != (loser.get("state") == "archived") else set()
    return frozenset(differ | blocking_rails(loser, now) | (blocking_rails(kept, now) & FLAG_RAILS))


def merge(graph: Graph, kept: str, loser: str, now: datetime, first: datetime | None) -> tuple[Graph, Record]:
    """The graph after it, and the record; ``first``: when their scope first reported an access, None if it never did."""
    two = {kept, loser}
    touched = {id: rel for id, rel in graph.rels.items() if {rel.start, rel.end} & two}
    nodes = {
        kept: combined(graph.nodes[kept], graph.nodes[loser], now, first),
        loser: tombstone(graph.nodes[loser], graph.nodes[kept], now),
    }
    rels = {rel.id: rel for rel in moved(touched.values(), kept, loser)}
    others = {id: rel for id, rel in graph.rels.items() if id not in touched}
    before = Graph({key: graph.nodes[key] for key in two}, touched)
    return Graph(graph.nodes | nodes, others | rels), Record(kept, loser, before, Graph(nodes, rels))


def unmerge(graph: Graph, record: Record) -> tuple[Graph, frozenset[str]]:
    """The graph without that merge, and what changed since and stays: keys with the property, ids of relationships."""
    gone = frozenset(record.before.nodes) - frozenset(graph.nodes)
    if gone:
        return graph, gone
    changed: set[str] = set()
    nodes, rels = dict(graph.nodes), dict(graph.rels)
    for key, was in record.before.nodes.items():
        left, stands = record.after.nodes[key], graph.nodes[key]
        labels = was.labels if stands.labels == left.labels else stands.labels
        changed |= set() if stands.labels == left.labels else {f"{key}:labels"}
        properties = dict(stands.properties)
        for name in {*was.properties, *left.properties}:
            if key == record.survivor and was.properties.get(name) == left.properties.get(name):
                continue  # No doing of the merge.
            if stands.properties.get(name) != left.properties.get(name):
                changed.add(f"{key}.{name}")
            elif name in was.properties:
                properties[name] = was.properties[name]
            else:
                properties.pop(name, None)
        if key == record.survivor:
            claims, settled = _without_claims(stands, was, left, record.loser)
            changed -= {f"{key}.{name}" for name in settled}
            properties = {n: v for n, v in (properties | claims).items() if v is not None or n not in claims}
        nodes[key] = replace(stands, labels=labels, properties=properties)
    for id in {*record.before.rels, *record.after.rels}:
        back = record.before.rels.get(id)
        if graph.rels.get(id) != record.after.rels.get(id) or (back and not {back.start, back.end} <= set(nodes)):
            changed.add(id)
        elif back:
            rels[id] = back
        else:
            rels.pop(id)
    return Graph(nodes, rels), frozenset(changed)


def _without_claims(stands: Memory, was: Memory, left: Memory, loser: str) -> tuple[dict[str, Any], frozenset[str]]:
    """What it says of who went in, without the one that goes, and which names that settles: those of others stay."""
    claims: dict[str, Any] = {}
    settled: set[str] = set()
    for name in ("merged_from", "merged_hashes"):
        now, before, after = (memory.get(name) for memory in (stands, was, left))
        if now == after and loser not in _texts(before):
            claims[name] = before
        elif now is None or _is_texts(now):
            brought = {x for x in _texts(after) if x not in _texts(before)} | {loser}
            claims[name] = [x for x in now or [] if x not in brought] or None
            settled.add(name)
    at, at_left = stands.get("merged_at"), left.get("merged_at")
    if "merged_from" in claims and claims["merged_from"] is None:
        claims["merged_at"] = None
        settled.add("merged_at")
    elif isinstance(at, datetime) and isinstance(at_left, datetime) and at > at_left:
        settled.add("merged_at")
    return claims, frozenset(settled)


def tombstone(loser: Memory, kept: Memory, now: datetime) -> Memory:
    """What is left of the one that was merged away."""
    said = {"tombstone": True, "deleted_at": now, "tombstone_labels": sorted(loser.labels), "merged_into": kept.key}
    return replace(loser, labels=("Tombstone",), properties=loser.properties | said)


def combined(kept: Memory, loser: Memory, now: datetime, first: datetime | None) -> Memory:
    """The survivor with what the other adds to it."""
    changes: dict[str, Any] = {name: _added(kept.get(name), loser.get(name)) for name in COUNTS}
    changes |= _days(kept, loser) | _used(kept, loser) | _sure(kept, loser, now, first) | _provenance(kept, loser, now)
    changes["access_windows"] = _windows(kept.get("access_windows"), loser.get("access_windows"))
    changes |= {name: _united(kept.get(name), loser.get(name)) for name in LISTS}
    agents = _united(kept.get("agents"), loser.get("agents"))
    changes["agents"] = sorted(agents) if _is_texts(agents) else agents
    changes |= _nearer(kept, loser)
    properties = kept.properties | changes
    return replace(kept, properties={name: value for name, value in properties.items() if value is not None})


def _is_count(value: Any) -> bool:
    return is_number(value) and value >= 0


def _added(mine: Any, other: Any) -> Any:
    if not _is_count(other) or (mine is not None and not _is_count(mine)):
        return mine
    return other + (mine or 0)


def _days(kept: Memory, loser: Memory) -> dict[str, Any]:
    mine, other = buckets(kept), buckets(loser)
    unreadable = mine is None and (kept.has("access_days") or kept.has("access_day"))
    if other is None or unreadable:
        both = mine is None and other is None and not unreadable
        return {"access_count_7d": _added(kept.get("access_count_7d"), loser.get("access_count_7d"))} if both else {}
    newest = max([*other, *(mine or {})])
    total = Counter(mine or {}) + Counter(other)
    days = [total[newest - timedelta(days=i)] for i in range(DAYS)]
    return {"access_day": newest, "access_days": days, "access_count_7d": sum(days)}


def _windows(mine: Any, other: Any) -> Any:
    if not _is_windows(other) or (mine is not None and not _is_windows(mine)):
        return mine
    total = Counter[int]()
    for held in (mine or [], other):
        for start, n in zip(held[::2], held[1::2], strict=True):
            total[start] += n
    newest = sorted(total, reverse=True)[:WINDOWS_KEPT]
    return [value for start in newest for value in (start, total[start])] or mine


def _is_windows(value: Any) -> bool:
    return isinstance(value, list) and len(value) % 2 == 0 and all(isinstance(n, int) and n >= 0 for n in value)


def _used(kept: Memory, loser: Memory) -> dict[str, Any]:
    def readable(*names: str) -> list[datetime]:
        return [m for memory in (kept, loser) for name in names if (m := memory.moment(name)) is not None]

    found: dict[str, Any] = {"first_seen_at": min(readable("created_at", "first_seen_at"), default=None)}
    used = sorted(set(readable("last_accessed_at", "prev_accessed_at")), reverse=True)
    if all(kept.get(name) is None or kept.moment(name) for name in ("last_accessed_at", "prev_accessed_at")):
        found |= dict(zip(("last_accessed_at", "prev_accessed_at"), used, strict=False))
    if kept.get("last_recalled_at") is None or kept.moment("last_recalled_at"):
        found["last_recalled_at"] = max(readable("last_recalled_at"), default=None)
    return found


def _sure(kept: Memory, loser: Memory, now: datetime, first: datetime | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    left = [_confidence(memory, now, first) for memory in (kept, loser)]
    known = [value for value in left if value is not None]
    if known and (left[0] is not None or kept.get("confidence") is None):
        found["confidence"] = max(known)
        if "Belief" in kept.labels:
            found |= {"confidence_at": now, "confidence_lost": None, "confidence_lost_at": None}
        elif found["confidence"] != left[0]:
            found["confidence_at"] = loser.get("confidence_at")
    important = [number(memory, "importance", math.nan, most=1) for memory in (kept, loser)]
    if kept.get("importance") is None or important[0] is not None:
        found["importance"] = max((v for v in important if v is not None and not math.isnan(v)), default=None)
    present = [salience_now(memory, now, first) for memory in (kept, loser)]
    if set(SALIENT) & set(kept.labels) and present[0] is not None:
        found |= {"salience": max(v for v in present if v is not None), "salience_at": now}
    return found


def _confidence(memory: Memory, now: datetime, first: datetime | None) -> float | None:
    if memory.get("confidence") is None or number(memory, "confidence", 0, most=1) is None:
        return None
    return decay.confidence(memory, now, first) if "Belief" in memory.labels else number(memory, "confidence", 0)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _united(mine: Any, other: Any) -> Any:
    if not _is_texts(other) or (mine is not None and not _is_texts(mine)):
        return mine
    return list(dict.fromkeys([*(mine or []), *other])) or mine


def _nearer(kept: Memory, loser: Memory) -> dict[str, Any]:
    mine, other = kept.get("tier"), loser.get("tier")
    if other not in TIERS or mine not in TIERS or TIERS.index(mine) <= TIERS.index(other):
        return {}
    return {name: loser.get(name) for name in ("tier", "tier_from", "tier_reason", "tier_at")}


def _provenance(kept: Memory, loser: Memory, now: datetime) -> dict[str, Any]:
    said = loser.get("content_hash")
    hashes = [said] if isinstance(said, str) and said != kept.get("content_hash") else []
    before = {name: [*_texts(kept.get(name)), *_texts(loser.get(name))] for name in ("merged_from", "merged_hashes")}
    revision = kept.get("revision")
    owned = kept.get("duplicate_of") == loser.key
    return {
        "merged_from": sorted({*before["merged_from"], loser.key}),
        "merged_hashes": sorted({*before["merged_hashes"], *hashes} - {kept.get("content_hash")}) or None,
        "merged_at": now,
        "revision": _added(revision, 1),
        "next_due": now,
        "mvs": None,
        "duplicate_of": None if owned else kept.get("duplicate_of"),
        "content_key": loser.get("content_key") if owned else kept.get("content_key"),
    }


def _texts(value: Any) -> list[str]:
    return value if _is_texts(value) else []


def moved(rels: Iterable[Rel], kept: str, loser: str) -> list[Rel]:
    """The relationships of both as the survivor has them afterwards."""
    groups: dict[tuple[Any, ...], tuple[list[Rel], list[Rel]]] = {}
    for rel in sorted(rels, key=lambda rel: rel.id):
        of_loser = loser in (rel.start, rel.end)
        if {rel.start, rel.end} == {kept, loser} or (of_loser and rel.type == OUR_FLAG):
            continue
        now = replace(rel, start=kept if rel.start == loser else rel.start, end=kept if rel.end == loser else rel.end)
        groups.setdefault(_meaning(now), ([], []))[of_loser].append(now)
    return [rel for mine, others in groups.values() for rel in _together(mine, others)]


def _meaning(rel: Rel) -> tuple[Any, ...]:
    sure = rel.properties.get("confidence")
    combinable = _COMBINED if sure is None or is_number(sure) else ()
    rest = sorted((name, repr(value)) for name, value in rel.properties.items() if name not in combinable)
    return rel.type, rel.start, rel.end, tuple(rest)


def _together(mine: list[Rel], others: list[Rel]) -> list[Rel]:
    """Where both have some: the greater number of them, the k-th surest of the two, the survivor's ids first."""
    if not mine or not others:
        return [*mine, *others]
    ranked = [sorted(some, key=_surer, reverse=True) for some in (mine, others)]
    best = [max(some, key=_surer) for some in zip(*ranked, strict=False)]
    best += max(ranked, key=len)[len(best) :]
    ids = [rel.id for rel in (*mine, *others)]
    return [replace(rel, id=id) for rel, id in zip(best, ids, strict=False)]


def _surer(rel: Rel) -> tuple[float, datetime, str]:
    """By confidence, then by its anchor; what is left is settled, too, so that no order of merges matters."""
    of = Edge(rel.start, rel.end, **{name: rel.properties.get(name) for name in _COMBINED if name != "next_due"})
    return confidence_of(of) or 0.0, anchor_of(of) or EVER, repr(sorted(rel.properties.items(), key=repr))
