"""Forgetting on a server: hundreds of generated cases of each class, both sides (docs/reference/forgetting.md).

`make forgetting-cases`; `python -m` takes `--seed` and `--of`, too. All of them are in one database, each group in a scope of its
own, written in any order; half of them have vectors, and the server is restarted when half is forgotten. Ends with 1 if a case is
wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from tests.conftest import SETTINGS
from tests.forgetting_cases import CLASSES, Group, Memory, all_groups

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.localserver import LocalServer
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.embeddings import provider
from jochi_workers.embeddings.handler import EmbedHandler
from jochi_workers.handler import Handler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

MADE = ("levels", "process", "meaning")
POLICY = '[policy]\nname = "forgetting"\nextends = "default"\n' + "".join(
    f"[derive.{name}]\nderiving = true\nper_cycle = 100_000\nper_day = 100_000\n"
    "cycle_tokens = 1_000_000_000\nday_tokens = 1_000_000_000\n"
    for name in MADE
)
DAY = timedelta(days=1)
OF_OUTPUTS = ("CompressedContext", "SourceSummary", "Note")
_WHO = re.compile(r"\b(?:also|now) ")
"""Lost or kept, they say nothing of what is forgotten (tests/clause_cases.py)."""
_ALIKE = 0.98
"""Least cosine of a stored vector to that of its text, embedded alone."""

_NODES = (
    "MATCH (n) WHERE NOT (n:JochiProcedure OR n:JochiPolicy OR n:__Neo4jMigration) "
    "RETURN labels(n) AS labels, properties(n) AS said, head([(n)<-[:KEEPS]-(a) | split(a.key, '/')[0]]) AS scope"
)
_LINKS = "MATCH (a)-[r]->() RETURN [type(r)] AS labels, properties(r) AS said, coalesce(a.scope, split(a.key, '/')[0]) AS scope"


@dataclass
class Told:
    """What came of the memories of a class. ``kept``: what had to stay, or what is left of one, is there and recalled."""

    cases: int = 0
    gone: int = 0
    kept: int = 0
    asked: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass
class Store:
    """What is in the database: properties by scope (None: of no scope), nodes and relationships alike."""

    by_scope: dict[str | None, list[tuple[list[str], dict[str, Any]]]]
    memories: dict[str, tuple[list[str], dict[str, Any]]]


def dump(client: Jochi) -> Store:
    """Every property of every node and relationship, but the engine's own code."""
    by_scope: dict[str | None, list[tuple[list[str], dict[str, Any]]]] = defaultdict(list)
    memories = {}
    for query in (_NODES, _LINKS):
        for row in client.database.run(query, write=False):
            said = dict(to_python(row["said"]))
            key = said.get("key")
            scope = (
                row.get("scope")
                or said.get("scope")
                or (key.split("/")[0] if isinstance(key, str) and "/" in key else None)
            )
            by_scope[scope].append((row["labels"], said))
            if {"Curated", "Tombstone"} & set(row["labels"]):
                memories[str(key)] = (row["labels"], said)
    return Store(by_scope, memories)


def write(client: Jochi, groups: Sequence[Group], now: datetime, dice: random.Random) -> None:
    """All memories of all groups in one order of chance; and in each scope two that were pruned, of which one says it."""
    rows = [_row(group, memory, now) for group in groups for memory in group.memories]
    for group in groups:
        for id, text in (("dead", f"They said: {group.asked}"), ("dead-too", "They said nothing")):
            properties = {"read": True, "read_at": now - 30 * DAY, "priority": "normal"}
            rows.append(
                {"kind": "Notification", "scope": group.scope, "id": id, "content": text, "properties": properties}
            )
    dice.shuffle(rows)
    # People first: relationships lead to them.
    rows.sort(key=lambda row: row["kind"] != "Person")
    done = client.remember(rows, now=now - 40 * DAY, on_refused="raise")
    assert done.written + done.reinforced == len(rows)
    pairs = [
        {"one": f"{g.scope}/{m.id}", "other": f"{g.scope}/{other}"}
        for g in groups
        for m in g.memories
        for other in m.same
    ]
    client.database.run(
        "UNWIND $pairs AS p MATCH (a:Curated {key: p.one}), (b:Curated {key: p.other}) CREATE (a)-[:SAME_AS {by: 'an app'}]->(b)",
        {"pairs": pairs},
    )
    sources = [f"{g.scope}/{m.id}" for g in groups for m in g.memories if m.kind == "Source"]
    client.database.run(
        "UNWIND $keys AS key MATCH (s:Curated {key: key}) SET s.salience = 0.19, s.salience_at = $now",
        {"keys": sources, "now": now},
    )


def _row(group: Group, memory: Memory, now: datetime) -> dict[str, Any]:
    properties = dict(memory.properties)
    if memory.kind == "Source":
        begin = datetime(2026, 1, 7, 12, tzinfo=timezone.utc)
        properties |= {"started_at": begin + DAY * int(memory.id[1:]), "processing_status": "raw"}
    links = [{"type": "mentions", "to_key": f"{group.scope}/{other}"} for other in memory.mentions]
    return {
        "kind": memory.kind,
        "scope": group.scope,
        "id": memory.id,
        "content": memory.text,
        "properties": properties,
        "relationships": links,
    }


def work(client: Jochi, embed: Handler | None, made: Sequence[str] = MADE) -> None:
    """Everything that waits, to the end: counted, embedded, derived; then what is found in it, and derived."""
    counter = Estimate()
    makers = [DeriveHandler(one, OfflineMaker(one, counter), counter) for one in map(derivation, made)]
    handlers: list[Handler] = [PrepareHandler(counter), *([embed] if embed else []), *makers]
    Worker(client.engine, handlers).run(once=True)
    if "meaning" in made:
        now = datetime.now(timezone.utc)
        client.database.run("MATCH (n:Curated:Person) SET n.count_due = $now", {"now": now})
        for job in ("count_mentions", "find_meaning"):
            run_job(client.engine, job, now=now, drain=True)
        Worker(client.engine, handlers).run(once=True)


def prune(client: Jochi, now: datetime) -> None:
    """The notifications of `write` become tombstones."""
    client.database.run("MATCH (n:Curated:Notification) SET n.next_due = $now", {"now": now - DAY})
    run_job(client.engine, "curate_due", now=now, drain=True)


def forget(client: Jochi, groups: Iterable[Group]) -> set[str]:
    """Each group's own request; the keys of what a person is asked about. Of one thing all that says it goes."""
    asked: set[str] = set()
    for group in groups:
        unsure: Literal["ask", "whole"] = "whole" if group.of in ("spelling", "same") else "ask"
        done = client.forget(Request(phrase=group.asked, scope=group.scope, unsure=unsure), wait=0)
        asked |= {target.key for target in done.asked}
    return asked


def judge(client: Jochi, groups: Sequence[Group], asked: set[str], *, recalled: bool = True) -> dict[str, Told]:
    """Both sides of every memory: what must go is nowhere, what must stay is as it has to be and is found by its own words."""
    store, told = dump(client), {of: Told() for of in CLASSES}
    nobody = [text for _, said in store.by_scope.get(None, []) for text in _texts(said)]
    for group in groups:
        mine = told[group.of]
        for memory in group.memories:
            mine.cases += memory.says
            _judge(client, group, memory, store, asked, mine, recalled)
        others = {f"{group.scope}/{m.id}" for m in group.memories if not m.says} | asked
        left = [*_residue(group, store.by_scope.get(group.scope, []), others), *_found(group, nobody)]
        mine.wrong += [f"{group.scope} {group.asked!r}: residue {each!r}" for each in left]
        if recalled:
            for hit in client.recall(group.asked, scope=group.scope, k=20):
                if hit.key not in others and _found(group, [hit.content or ""]):
                    mine.wrong.append(f"{group.scope} {group.asked!r}: recalled {hit.content!r}")
    return told


def _judge(
    client: Jochi, group: Group, memory: Memory, store: Store, asked: set[str], mine: Told, recalled: bool
) -> None:
    key = f"{group.scope}/{memory.id}"
    _, said = store.memories.get(key, ([], {}))
    where = f"{group.scope} {group.asked!r} of {memory.text[:300]!r}"
    if memory.after is None:
        if said:
            mine.wrong.append(f"{where}: is still there")
        else:
            mine.gone += 1
        return
    if key in asked:
        mine.asked += 1
        if said.get("content") != memory.text:
            mine.wrong.append(f"{where}: asked about, and changed to {said.get('content')!r}")
        return
    content = str(said.get("content"))
    if _WHO.sub("", content) != _WHO.sub("", memory.after):
        mine.wrong.append(f"{where}: is {content[:300]!r}, not {memory.after[:300]!r}")
        return
    wanted = {**memory.properties, **memory.then}
    if any(said.get(name) != value for name, value in wanted.items()):
        mine.wrong.append(f"{where}: has { ({name: said.get(name) for name in wanted})!r}, not {wanted!r}")
        return
    if recalled and not _recalled(client, group.scope, key, memory, content):
        mine.wrong.append(f"{where}: isn't recalled")
        return
    mine.gone += memory.says
    mine.kept += 1


def _recalled(client: Jochi, scope: str, key: str, memory: Memory, content: str) -> bool:
    """By its own words, among the first of its scope; a long one also by what was made of it."""
    long = memory.kind in OF_OUTPUTS
    # Sources that an insight was made of are archived, and found where their kind is named.
    archived = memory.kind == "Source"
    kinds = ["Source"] if archived else None
    hits = client.recall(content[:400], scope=scope, k=20 if long else 5, include_archived=archived, kinds=kinds)
    return any(hit.key == key or hit.content == content or (long and hit.key.startswith(f"{key}:")) for hit in hits)


def _residue(
    group: Group, nodes: Iterable[tuple[list[str], dict[str, Any]]], others: set[str]
) -> list[tuple[list[str], str]]:
    made_of_asked = any(key.startswith(f"{group.scope}/") for key in others if key.rpartition("/")[2].startswith("c"))
    found = []
    for labels, said in nodes:
        if said.get("key") in others or (made_of_asked and set(labels) & set(OF_OUTPUTS)):
            continue
        found += [(labels, text) for text in _found(group, _texts(said))]
    return found


def _found(group: Group, texts: Iterable[str]) -> list[str]:
    """The texts that have what is to be nowhere, as words: letters and digits on neither side."""
    pattern = _pattern(group.residue)
    return [text for text in texts if pattern.search(_plain(text))]


def _pattern(residue: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<![\w@+.-]){re.escape(_plain(each))}(?![\w@-])" for each in residue))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _texts(said: Mapping[str, Any]) -> list[str]:
    found = []
    for value in said.values():
        found += [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    return found


def vectors(client: Jochi, embed: EmbedHandler) -> list[str]:
    """Memories whose vector isn't that of what they say now."""
    import numpy as np

    found = [(key, said) for key, (_, said) in dump(client).memories.items() if said.get("embedding")]
    texts = [str(said["content"]) for _, said in found]
    made = np.array(
        [each.vector for at in range(0, len(texts), 64) for each in embed.provider.embed(texts[at : at + 64])]
    )
    stored = np.array([said["embedding"] for _, said in found])
    cosines = (made * stored).sum(axis=1) / np.linalg.norm(made, axis=1) / np.linalg.norm(stored, axis=1)
    return [f"{key}: {cosine:.2f}" for (key, _), cosine in zip(found, cosines, strict=True) if cosine < _ALIKE]


def learned_again(client: Jochi, groups: Sequence[Group], asked: set[str]) -> tuple[int, list[str]]:
    """Writes every text once more under another id: how many were refused, and those that weren't, or were and should stay."""
    rows, says = [], []
    for group in groups:
        for memory in group.memories:
            if f"{group.scope}/{memory.id}" in asked or (memory.properties and memory.says):
                continue
            rows.append(
                {"kind": "MemoryEntry", "scope": group.scope, "id": f"again-{memory.id}", "content": memory.text}
            )
            says.append(memory.says)
    done = client.remember(rows, now=datetime.now(timezone.utc), on_refused="report")
    refused = {each.index for each in done.results if each.reason == "forgotten"}
    wrong = [
        f"{rows[at]['scope']}: {'learned again' if out else 'refused'}: {rows[at]['content'][:200]!r}"
        for at, out in enumerate(says)
        if out != (at in refused)
    ]
    return len(refused), wrong


def table(told: Mapping[str, Told], title: str) -> Table:
    shown = Table("class", "cases", "gone", "kept", "asked", "wrong", title=title)
    for of, each in told.items():
        if each.cases:
            shown.add_row(of, *(f"{n:,}" for n in (each.cases, each.gone, each.kept, each.asked, len(each.wrong))))
    return shown


def main() -> int:
    """Plays all of it on a server of its own."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--of", action="append", choices=CLASSES, help="only this class, more than once for several")
    given = options.parse_args()
    dice, console = random.Random(given.seed), Console(width=120)
    groups = list(all_groups(given.cases, given.seed, given.of or CLASSES))
    dice.shuffle(groups)
    half = len(groups) // 2
    wrong: Counter[str] = Counter()

    def show(what: str, told: Mapping[str, Told] | Sequence[str]) -> None:
        lines = [line for each in told.values() for line in each.wrong] if isinstance(told, Mapping) else list(told)
        if isinstance(told, Mapping):
            console.print(table(told, what))
        else:
            console.print(f"{what}: {len(lines)} wrong")
        for line in lines[:40]:
            console.print(line, markup=False, highlight=False)
        wrong[what] += len(lines)

    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = str(Path(folder, "forget.key"))
        policy = Path(folder, "policy.toml")
        policy.write_text(POLICY)
        local, loaded = LocalServer("forgetting", home=Path(folder)), load_policy(policy)
        embed = EmbedHandler(provider("minilm"), loaded.policy.embedding)
        try:
            with local.start(settings=SETTINGS).driver() as driver:
                client = Jochi(driver, policy=loaded)
                client.install(arm=False)
                client.apply()
                now = datetime.now(timezone.utc)
                write(client, groups[::2], now, dice)
                work(client, embed)
                write(client, groups[1::2], now, dice)
                prune(client, now)
                work(client, None)
                console.print(f"written: {len(groups)} groups, {len(dump(client).memories):,} memories")
                asked = forget(client, groups[:half])
                show("the first half", judge(client, groups[:half], asked))
            local.stop()
            with local.start(settings=SETTINGS).driver() as driver:
                client = Jochi(driver, policy=loaded)
                asked |= forget(client, groups[half:])
                show("after a restart, all", judge(client, groups, asked))
                work(client, embed)
                show("made anew by a worker", judge(client, groups, asked))
                show("vectors", vectors(client, embed))
                refused, lines = learned_again(client, groups, asked)
                show(f"learned again ({refused:,} refused)", lines)
                for job in ("purge_tombstones", "prune_runs", "expire_audit"):
                    run_job(client.engine, job, now=now + 400 * DAY, drain=True)
                show("purged", judge(client, groups, asked, recalled=False))
        finally:
            local.reset()
    return 1 if wrong.total() else 0


if __name__ == "__main__":
    sys.exit(main())
