"""Whether a graph is whole, told from its records alone: whatever was interrupted, and in whatever order the rest happened.

A record says "from this to that". So for every memory and property the number of records that lead to a value, less those that
lead away from it, is one for what is there now, less one for what it was made as. That holds for any order of transactions; a
change without its record breaks it, and so does a record without its change.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.faults.everything import FLOOR, REST, TIES, Order, partner

from jochi.database.database import Database
from jochi.forgetting import read_chain
from jochi.forgetting.words import phrase, says

Rows = list[dict[str, Any]]
GONE = "forgotten"
"""What stands in lists in the place of a key that was forgotten."""
TRACKED = ("tier", "state", "needs_consolidation")
ABSENT = "absent"

_MEMORIES = """
MATCH (m) WHERE m:Curated OR m:Tombstone
RETURN m.key AS key, labels(m) AS labels, COUNT { (m)-[r:ABOUT]->() WHERE r.rid IS NOT NULL } AS ties,
  m { .id, .tier, .state, .needs_consolidation, .made_tier, .made_state, .made_needs_consolidation, .tombstone, .merged_into,
      .merged_from, .compressed_at, .content, .access_count, .turns } AS p
"""
_RECORDS = "MATCH (a:CurationAudit) RETURN properties(a) AS a, COUNT { (a)-[:KEEPS]->() } AS copies"


class Seen:
    """All memories and records of a database at one moment.

    ``forgotten``: what was asked to be forgotten, and was. ``bare``: keys that went so, or lost their records.
    """

    def __init__(self, database: Database, forgotten: Sequence[Order] = ()) -> None:
        self.database = database
        self.forgotten = forgotten
        gone = {key for order in forgotten for key in order.keys - order.held}
        # Of a pair either may be in the other when it is forgotten.
        self.bare = gone | {partner(key) for key in gone}
        self.memories: Rows = database.run(_MEMORIES, write=False)
        self.records: Rows = [row["a"] | {"copies": row["copies"]} for row in database.run(_RECORDS, write=False)]
        self.by_key: dict[str, Rows] = defaultdict(list)
        for memory in self.memories:
            self.by_key[memory["key"]].append(memory)
        self.by_id: dict[str, Rows] = defaultdict(list)
        for record in self.records:
            self.by_id[record["id"]].append(record)

    def keyed(self, *actions: str) -> dict[str, Rows]:
        """Records of some actions by the key of their memory."""
        found: dict[str, Rows] = defaultdict(list)
        for record in self.records:
            if record["action"] in actions and record.get("key"):
                found[record["key"]].append(record)
        return found


def _text(value: Any) -> str:
    return ABSENT if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def steps(record: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str]]:
    """What a record says was changed: key, property, before, after."""
    if record["action"] in ("archive_edge", "unarchive_edge"):
        return
    if record.get("keys") and record.get("property") and not record.get("key"):
        for key, before, after in zip(record["keys"], record["before"], record["after"], strict=True):
            yield key, record["property"], before, after
    for name in record.get("properties") or ():
        if name in TRACKED and record.get("key"):
            yield record["key"], name, _text(record.get(f"before_{name}")), _text(record.get(f"after_{name}"))


def changes_are_on_record(seen: Seen) -> list[str]:
    """Tier, state and flag of every memory follow from what it was made as and its records; and each record is needed."""
    balance: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    merged = seen.keyed("merge", "unmerge").keys() | {r["into"] for r in seen.records if r.get("into")}
    for record in seen.records:
        for key, name, before, after in steps(record):
            if name in TRACKED and key in seen.by_key:
                balance[key, name][after] += 1
                balance[key, name][before] -= 1
    wrong = []
    for memory in seen.memories:
        p = memory["p"]
        # A merge moves properties of the one that stays; that is told by its own checks. What isn't ours says nothing of itself.
        if memory["key"] in merged or p.get("merged_from") or p.get("made_tier") is None or memory["key"] in seen.bare:
            continue
        for name in TRACKED:
            expected: Counter[str] = Counter()
            expected[_text(p.get(name))] += 1
            expected[_text(p.get(f"made_{name}"))] -= 1
            said = {value: n for value, n in balance[memory["key"], name].items() if n}
            if said != {value: n for value, n in expected.items() if n}:
                wrong.append(
                    f"{memory['key']}.{name}: {p.get(f'made_{name}')!r} became {p.get(name)!r}, records say {said}"
                )
    return wrong


def the_dead_are_on_record(seen: Seen) -> list[str]:
    """A memory is dead where one more record prunes it than brings it back or purges it, and no key has two nodes."""
    prunes, backs, purges = seen.keyed("prune"), seen.keyed("restore"), seen.keyed("purge")
    merges, unmerges = seen.keyed("merge"), seen.keyed("unmerge")
    wrong = []
    for key in {*seen.by_key, *prunes, *backs, *purges} - seen.bare:
        nodes = seen.by_key.get(key, [])
        dead = [m for m in nodes if "Tombstone" in m["labels"]]
        if len(nodes) > 1:
            wrong.append(f"{key} is there {len(nodes)} times")
        if any("Tombstone" in m["labels"] and len(m["labels"]) > 1 for m in nodes):
            wrong.append(f"{key} is half dead: {nodes[0]['labels']}")
        if any((m["p"].get("tombstone") is True) != ("Tombstone" in m["labels"]) for m in nodes):
            wrong.append(f"{key} says {nodes[0]['p'].get('tombstone')} and is {nodes[0]['labels']}")
        pruned = len(prunes.get(key, [])) - len(backs.get(key, []))
        merged = len(merges.get(key, [])) - len(unmerges.get(key, []))
        if pruned + merged - len(purges.get(key, [])) != len(dead) or any(
            m["p"].get("merged_into") and merged != 1 for m in dead
        ):
            wrong.append(
                f"{key}: {pruned} prunes, {merged} merges, {len(purges.get(key, []))} purges, dead {len(dead)}"
            )
        if not nodes and not purges.get(key):
            wrong.append(f"{key} is gone without being purged")
    return wrong


def what_comes_back_was_pruned(seen: Seen) -> list[str]:
    """Each record that brings back names one that prunes, of the same key and instant; no prune is brought back twice."""
    prunes = Counter((r["key"], r["at"]) for r in seen.records if r["action"] == "prune")
    backs = Counter((r["key"], r["pruned_at"]) for r in seen.records if r["action"] == "restore")
    wrong = [
        f"{key} came back from a prune at {at} that isn't on record" for key, at in backs if (key, at) not in prunes
    ]
    return wrong + [f"{key} came back {n} times from its prune at {at}" for (key, at), n in backs.items() if n > 1]


def relationships_are_there_once(seen: Seen) -> list[str]:
    """Every relationship that was made is there exactly once, unless its memory was purged; a merge moves all of them."""
    rows = seen.database.run(
        "MATCH (m)-[r:ABOUT]->() WHERE r.rid IS NOT NULL RETURN r.rid AS rid, collect(m.key) AS at", write=False
    )
    at = {row["rid"]: row["at"] for row in rows}
    wrong = [f"{rid} is there {len(keys)} times" for rid, keys in at.items() if len(keys) != 1]
    for memory in seen.memories:
        if not (memory["p"].get("id") or "").startswith("twin") or memory["key"] in seen.bare:
            continue
        for j in range(1, TIES + 1):
            holder = at.get(f"{memory['key']}|{j}", [None])[0]
            if holder != (memory["p"].get("merged_into") or memory["key"]):
                wrong.append(
                    f"{memory['key']}|{j} hangs on {holder}, {memory['key']} is merged into {memory['p'].get('merged_into')}"
                )
    return wrong


def merges_are_whole(seen: Seen) -> list[str]:
    """Who was merged is named by the one it lives on in, has no relationships, and the copies that take it back are there."""
    wrong = []
    merges = seen.keyed("merge")
    for memory in seen.memories:
        into = memory["p"].get("merged_into")
        if into is None or memory["key"] in seen.bare:
            continue
        if not any(memory["key"] in (m["p"].get("merged_from") or ()) for m in seen.by_key.get(into, [])):
            wrong.append(f"{memory['key']} was merged into {into}, which doesn't say so")
        if memory["ties"]:
            wrong.append(f"{memory['key']} was merged and still has {memory['ties']} relationships")
        if not any(record["copies"] for record in merges.get(memory["key"], [])):
            wrong.append(f"nothing takes {memory['key']} back")
    for memory in seen.memories:
        for key in memory["p"].get("merged_from") or ():
            if key in seen.by_key and not any(
                m["p"].get("merged_into") == memory["key"] for m in seen.by_key.get(key, [])
            ):
                wrong.append(f"{memory['key']} says that {key} was merged into it, which it wasn't")
    lost = seen.database.run("MATCH (s:CurationSnapshot) WHERE NOT ()-[:KEEPS]->(s) RETURN count(s) AS n", write=False)
    if lost != [{"n": 0}]:
        wrong.append(f"copies that no record keeps: {lost}")
    return wrong


def undos_are_whole(seen: Seen) -> list[str]:
    """What says that it was taken back has a record that takes it back, and the other way round."""
    wrong = []
    backs = {(r["key"], r["pruned_at"]) for r in seen.records if r["action"] == "restore"}
    for record in seen.records:
        if record.get("undone_by"):
            # As it was already: there was nothing to record. Then the memory must be as it was, which its balance says.
            same = record["action"] != "prune" or (record["key"], record["at"]) in backs
            if record["action"] == "prune" and not same:
                wrong.append(f"{record['id']} was undone and {record['key']} never came back")
        if record.get("of") and record["action"] != "unmerge":
            [source] = seen.by_id.get(record["of"], [{}])[:1]
            if not source:
                wrong.append(f"{record['id']} takes {record['of']} back, which isn't there")
            elif record.get("undone_by") or record.get("again"):
                # It was taken back itself, so what it took back may have been done again.
                continue
            elif record["action"] in ("restore", "prune") and source.get("undone_by") != record["run"]:
                wrong.append(f"{record['id']} took {record['of']} back, which says {source.get('undone_by')}")
    for id, same_id in seen.by_id.items():
        # What was forgotten stood in its name, whole or at its end: two of one run that both went are called the same.
        if id.rpartition("/")[2] != GONE and len(same_id) > 1 and same_id[0].get("of"):
            wrong.append(f"{id} is there {len(same_id)} times")
    return wrong


def undos_count_what_they_did(seen: Seen) -> list[str]:
    """An undo's run counts just what its records say; merges and compressions apart, which others may have taken back before it."""
    said: Counter[str] = Counter()
    apart = {record.get("undone_by") for record in seen.records if record["action"] in ("merge", "compress")}
    for record in seen.records:
        said[record["run"]] += record.get("n") or 1
        if record["action"] in ("unmerge", "decompress"):
            apart.add(record["run"])
    rows = seen.database.run("MATCH (r:JochiJobRun {job: 'undo'}) RETURN r.id AS id, r.changed AS changed", write=False)
    # Of what was forgotten the records are gone: of a memory at most that it came back, its state and its edge.
    lost = 3 * len(seen.bare)
    return [
        f"{row['id']} counts {row['changed']}, its records {said[row['id']]}"
        for row in rows
        if row["id"] not in apart and not said[row["id"]] <= row["changed"] <= said[row["id"]] + lost
    ]


def edges_are_on_record(seen: Seen) -> list[str]:
    """An edge is archived where one more record archives it than brings it back."""
    balance: Counter[str] = Counter()
    for record in seen.records:
        # An undo by force also sets what else differs at an edge that was archived again meanwhile.
        if record["action"] in ("archive_edge", "unarchive_edge") and "state" in record["properties"]:
            balance[record["key"]] += 1 if record["action"] == "archive_edge" else -1
    rows = seen.database.run(
        "MATCH (a)-[r:RELATED_TO]->() WHERE r.eid IS NOT NULL RETURN a.key AS key, r.state = 'archived' AS archived",
        write=False,
    )
    return [
        f"the edge of {r['key']} is archived: {r['archived']}, records: {balance[r['key']]}: "
        f"{[record for record in seen.records if record.get('key') == r['key'] and 'edge' in record['action']]}"
        for r in rows
        if balance[r["key"]] != int(r["archived"])
    ]


def contents_are_on_record(seen: Seen) -> list[str]:
    """A content is a summary where one more record compresses than decompresses; then its copies are there."""
    done, back = seen.keyed("compress"), seen.keyed("decompress")
    wrong = []
    for memory in seen.memories:
        p = memory["p"]
        if p.get("id") != "long" or not memory["labels"]:
            continue
        said = len(done.get(memory["key"], [])) - len(back.get(memory["key"], []))
        short = p.get("content") == "short"
        if said != int(short) or short != (p.get("compressed_at") is not None):
            wrong.append(f"{memory['key']}: {said} compressions in force, content {p.get('content')!r}")
        if short and not any(record["copies"] == 2 for record in done.get(memory["key"], [])):
            wrong.append(f"nothing brings the content of {memory['key']} back")
    return wrong


def memories_are_whole(seen: Seen) -> list[str]:
    """Whatever was enrolled, remembered or imported is a memory in full: a key, a kind and a moment to look at it."""
    rows = seen.database.run(
        "MATCH (m:Curated) WHERE m.key IS NULL OR m.key <> m.scope + '/' + m.id AND NOT m:Ticket OR size(labels(m)) < 2 "
        "OR m.next_due IS NULL "
        "RETURN coalesce(m.key, elementId(m)) + ': ' + toString(m.next_due) AS v",
        write=False,
    )  # fmt: skip
    return [f"no whole memory: {row['v']}" for row in rows]


_PLANS = """
MATCH (p:JochiPlan) WHERE p.expires_at IS NOT NULL
OPTIONAL MATCH (r:JochiJobRun {id: p.run})
RETURN p.id AS id, p.state AS state, p.run AS run, p.excluded AS excluded,
  r.changed AS changed, r.finished_at IS NOT NULL AS finished,
  COLLECT { MATCH (x:JochiPlanPart {plan: p.id}) WHERE x.n >= 0 RETURN x {.keys, .excluded, .results, .done} } AS parts
"""


def plans_do_what_they_name(seen: Seen) -> list[str]:
    """A plan's run has records of just the memories that the plan says were done; what was left out isn't among them."""
    acted: dict[str, set[str]] = defaultdict(set)
    left_out: dict[str, set[str]] = defaultdict(set)
    for record in seen.records:
        if record["action"] != "protect":
            acted[record["run"]].update(record.get("keys") or [record["key"]])
        elif record.get("rule") == "plan.excluded":
            left_out[record["run"].rsplit("/", 1)[0]].add(record["key"])
    wrong = []
    for plan in seen.database.run(_PLANS, write=False):
        done: set[str] = set()
        out: set[str] = set()
        places = 0
        for part in plan["parts"]:
            out.update(part["excluded"])
            if part["done"] != len(part["results"]) or (
                plan["state"] == "applied" and part["done"] != len(part["keys"])
            ):
                wrong.append(
                    f"{plan['id']} ({plan['state']}) looked at {part['done']} of {len(part['keys'])}, says {len(part['results'])}"
                )
            said = list(zip(part["keys"], part["results"], strict=False))
            done.update(key for key, outcome in said if outcome in ("applied", "partly"))
            places += sum(outcome in ("applied", "partly") for _key, outcome in said)
            wrong += [
                f"{plan['id']} says of {key}: {outcome}, left out: {key in part['excluded']}"
                for key, outcome in said
                if key != GONE and (outcome == "excluded") != (key in part["excluded"])
            ]
        lost = {GONE} | seen.bare
        if not len(out - lost) <= plan["excluded"] <= len(out) + len(lost) or not left_out[plan["id"]] - lost <= out:
            wrong.append(
                f"{plan['id']} left {plan['excluded']} out, {len(out)} are named, records of {left_out[plan['id']]}"
            )
        if plan["run"] is None:
            continue
        on_record, done = acted[plan["run"]] - lost, done - lost
        if on_record & out:
            wrong.append(f"{plan['run']} did what was left out: {on_record & out}")
        if on_record != done or plan["changed"] != places:
            wrong.append(
                f"{plan['run']} counts {plan['changed']}, says {places} done, records differ in {on_record ^ done}"
            )
        if (plan["state"] == "applied") != plan["finished"]:
            wrong.append(f"{plan['run']} is finished: {plan['finished']}, its plan {plan['state']}")
    return wrong


_STOPPED = """
MATCH (r:JochiJobRun) WHERE r.stopped OR r.stopped_at IS NOT NULL OR r.approved_at IS NOT NULL
RETURN r.id AS id, r.stopped = true AND r.stopped_at IS NOT NULL AS stopped,
  r.approved_at IS NOT NULL AS approved, r.approved_by AS by,
  [i IN range(0, coalesce(size(r.approved_counts), 0) - 1) |
    [r.stopped_scopes[i] + '/' + r.stopped_kinds[i], r.approved_counts[i]]] AS lifts,
  COUNT { MATCH (j:JochiJob {stopped_run: r.id}) } AS stands
"""


def the_breaker_waits_for_a_go(seen: Seen) -> list[str]:
    """A run that was stopped has its job stand still for it, or a go with all that belongs to it; no more was pruned than that."""
    wrong = []
    lifted: Counter[str] = Counter()
    for run in seen.database.run(_STOPPED, write=False):
        for place, n in run["lifts"] or ():
            lifted[place] += n
        if not run["stopped"] or run["stands"] != int(not run["approved"]):
            wrong.append(
                f"{run['id']} was stopped: {run['stopped']}, has a go: {run['approved']}, {run['stands']} jobs stand still"
            )
        if run["approved"] != bool(run["by"] and run["lifts"]):
            wrong.append(f"{run['id']} has half a go: {run['approved']}, by {run['by']}, {run['lifts']}")
    pruned: Counter[str] = Counter()
    for record in seen.records:
        if record["action"] == "prune" and not record.get("of") and not record["run"].startswith("plan/"):
            pruned[f"{record.get('scope')}/{record.get('kind')}"] += 1
    counted = seen.database.run(
        "MATCH (q:JochiQuota) RETURN q.key AS key, reduce(n = 0, c IN q.counts | n + c) AS n", write=False
    )
    counts = {row["key"]: row["n"] for row in counted}
    wrong += [f"{place} counts {n}, and no more than {FLOOR} may be" for place, n in counts.items() if n > FLOOR]
    return wrong + [
        f"{n} of {place} were pruned, {counts.get(place, 0)} counted and {lifted[place]} let through"
        for place, n in pruned.items()
        if n > counts.get(place, 0) + lifted[place]
    ]


_TEXTS = """
MATCH (n) WHERE NOT n:JochiProcedure AND NOT n:JochiPolicy
WITH labels(n) AS place, properties(n) AS p
UNWIND keys(p) AS name
UNWIND CASE WHEN p[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN p[name] ELSE [p[name]] END AS text
WITH place, name, text WHERE text IS :: STRING NOT NULL AND text CONTAINS ' of s'
RETURN place, name, text
UNION
MATCH ()-[r]->()
WITH type(r) AS type, properties(r) AS p
UNWIND keys(p) AS name
WITH type, name, p[name] AS text WHERE text IS :: STRING NOT NULL AND text CONTAINS ' of s'
RETURN [type] AS place, name, text
"""


def what_was_forgotten_is_gone(seen: Seen) -> list[str]:
    """No memory, no record and no copy has it, in no scope and under no key; of what was cut the rest is there."""
    gone: set[str] = set()
    said: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    wrong = []
    for order in seen.forgotten:
        for key in order.keys - order.held:
            if not order.cut:
                gone.add(key)
            wrong += [
                f"of {key} {memory['p'].get('content')!r} is left"
                for memory in seen.by_key.get(key, [])
                if order.cut and memory["p"].get("content") != REST
            ]
        if order.said is not None and not order.held:
            said[order.said.rsplit(" ", 1)[1]].append(phrase(order.said))
    wrong += [f"{key} was forgotten and is there" for key in gone if key in seen.by_key]
    for record in seen.records:
        named = {*(record.get("keys") or ()), record.get("key"), record.get("into")} & gone
        if named:
            wrong.append(f"{record['id']} ({record['action']}) names what was forgotten: {named}")
    for row in seen.database.run(_TEXTS, write=False) if said else ():
        for scope in set(re.findall(r"\bs\d+\b", row["text"])):
            wrong += [
                f"{row['place']}.{row['name']} says {row['text']!r}"
                for words in said[scope]
                if says(row["text"], words)
            ]
    return wrong


def forgetting_has_its_receipts(seen: Seen) -> list[str]:
    """Nothing is half forgotten, and each receipt names the one before it."""
    rows = seen.database.run("MATCH (f:JochiForgetting) WHERE f.id <> 'gate' RETURN f.id AS id", write=False)
    wrong = [f"{row['id']} was never ended" for row in rows]
    chain = read_chain(seen.database)
    return wrong + ([] if chain.broken_at is None else [f"the receipt {chain.broken_at} doesn't fit"])


CHECKS: tuple[Callable[[Seen], list[str]], ...] = (
    changes_are_on_record,
    the_dead_are_on_record,
    what_comes_back_was_pruned,
    relationships_are_there_once,
    merges_are_whole,
    undos_are_whole,
    undos_count_what_they_did,
    edges_are_on_record,
    contents_are_on_record,
    memories_are_whole,
    plans_do_what_they_name,
    the_breaker_waits_for_a_go,
    what_was_forgotten_is_gone,
    forgetting_has_its_receipts,
)


def faults(
    database: Database,
    touched: Mapping[str, int] | None = None,
    said: Iterable[str] = (),
    turned: Mapping[str, int] | None = None,
    forgotten: Sequence[Order] = (),
    receipts: Iterable[str] = (),
) -> dict[str, list[str]]:
    """What is wrong, by check; nothing where all is whole. ``touched``: touches that were acknowledged, by key; ``said``: memories
    that were; ``turned``: an agent's writes that were, by key; ``forgotten``: requests to forget that were; ``receipts``: hashes of
    theirs."""
    seen = Seen(database, forgotten)
    found = {check.__name__: check(seen) for check in CHECKS}
    waiting = Counter(row["k"] for row in database.run("MATCH (a:JochiAccess) RETURN a.key AS k", write=False))
    found["touches_count_once"] = [
        f"{key}: {n} touches, {seen.by_key[key][0]['p'].get('access_count')} counted, {waiting[key]} wait"
        for key, n in (touched or {}).items()
        if key.rsplit("/", 1)[1].startswith("heavy")
        and key not in seen.bare
        and (seen.by_key[key][0]["p"].get("access_count") or 0) + waiting[key] != n
    ]
    # More than were acknowledged: one whose answer was lost may have arrived, and then be sent again by the driver.
    purged = seen.keyed("purge")
    found["no_write_is_lost"] = [
        f"{key}: {n} writes, {[memory['p'].get('turns') for memory in seen.by_key.get(key, [])]} there"
        for key, n in (turned or {}).items()
        if key not in purged
        and key not in seen.bare
        and not any((memory["p"].get("turns") or 0) >= n for memory in seen.by_key.get(key, []))
    ]
    found["nothing_said_is_lost"] = [key for key in said if key not in {*seen.by_key, *purged, *seen.bare}]
    kept = {receipt.hash for receipt in read_chain(database).receipts} if receipts else set()
    found["no_receipt_is_lost"] = [hash for hash in receipts if hash not in kept]
    return {name: wrong for name, wrong in found.items() if wrong}
