"""The part of the story that the three seeds tell: what agents say, read and do, and what workers make of it (tests/story.py).

One chapter a feature, each in a scope of its own, at moments that are given: so what a chapter returns is the same on every
server and on every day. Keys with random parts and moments aren't returned: counts, outcomes and texts are enough.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from unittest import mock

from tests.one_memory import remember_one

from jochi import Jochi, Turn
from jochi.heartbeat import NewTask
from jochi.text.tokens import Estimate
from jochi.use.sources import unfinished
from jochi.write.ingesting import Message, Source
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue
from jochi_workers.resolve import ResolveHandler
from jochi_workers.worker import Worker

NOW = datetime(2041, 1, 15, 12, tzinfo=timezone.utc)
"""Later than anything in tests/story.py, so that no job has had its walk of the day."""
DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)


def tell(client: Jochi) -> dict[str, Any]:
    """All chapters, by their names."""
    story: dict[str, Any] = {}
    for chapter in CHAPTERS:
        with clocks_at(NOW), tempfile.TemporaryDirectory() as folder:
            story[chapter.__name__] = chapter(client, Path(folder))
    return story


@contextmanager
def clocks_at(moment: datetime) -> Iterator[None]:
    """Workers, and clients that aren't given a moment, go by this one. The runner of jobs doesn't: a leap
    would close the gap guard."""
    workers = mock.patch("jochi_workers.queue._server_clock", return_value=lambda: moment)
    with workers, mock.patch("jochi.clock.now", return_value=moment):
        yield


def work(client: Jochi, *names: str) -> dict[str, int]:
    """Everything that is due, to the end, without a model; how much of each was made. Nothing fails."""
    counter = Estimate()
    makers = [DeriveHandler(one, OfflineMaker(one, counter), counter) for one in map(derivation, names)]
    worker = Worker(client.engine, [PrepareHandler(counter), *makers, ResolveHandler()])
    worker.run(once=True)
    assert not any(worker.progress[name].failed for name in names), worker.progress
    return {name: worker.progress[name].done for name in names}


def run(client: Jochi, *jobs: str, at: datetime = NOW) -> dict[str, int]:
    """How much each job changed. Nothing fails."""
    changed: dict[str, int] = {}
    for job in jobs:
        runs = client.run(job, now=at, drain=True)
        assert not any(each.error or each.quarantined for each in runs), runs
        changed[job] = sum(each.changed for each in runs)
    return changed


def put(client: Jochi, scope: str, kind: str, id: str, content: str, at: datetime = NOW - DAY, **more: Any) -> None:
    remember_one(client, kind, id, content, scope=scope, at=at, **more)


def texts(client: Jochi, scope: str) -> list[tuple[str, str]]:
    """Of all memories of a scope what they are and how what they say begins."""
    text = "MATCH (m:Curated {scope: $scope}) RETURN labels(m) AS labels, m.content AS said"
    rows = client.database.run(text, {"scope": scope}, write=False)
    return sorted((" ".join(sorted(row["labels"])), str(row["said"])[:200]) for row in rows)


def observed(client: Jochi, _folder: Path) -> Any:
    """Turns are buffered, learned from, and lie in boxes and a trace."""
    said = ["I prefer tea", "The bus was green today", "I live in Oslo", "I love jazz", "I never work on Fridays"]
    turns = [
        Turn(text, session="s", scope="observed", speaker="Ann", at=NOW - HOUR + n * MINUTE)
        for n, text in enumerate(said)
    ]
    outcomes = [client.observe(turn, now=turn.at).outcome for turn in [*turns, turns[0]]]
    flushed = len(client.flush("s", scope="observed", now=NOW - MINUTE))
    jobs = run(client, "flush_buffers")
    made = work(client, "learn")
    rows = client.database.run(
        "MATCH (b:Curated:MemoryBox {scope: 'observed'}) RETURN b.key AS key ORDER BY key", write=False
    )
    boxes = [client.box_contents(row["key"]) for row in rows]
    return outcomes, flushed, jobs, made, [sorted(str(one.content) for one in box.memories) for box in boxes]


def ingested(client: Jochi, _folder: Path) -> Any:
    """A team's conversation goes on and is edited; one of its users takes it over; it is summed up and its people are known."""
    lines = [
        "Anna Smith built a boat in Berlin.",
        "Anna Smith sold the boat.",
        "Anna Smith lives in Berlin.",
        "Berlin is far from the sea.",
    ]

    def talk(texts: list[str]) -> Any:
        of = Source("conversation", id="talk", title="Boats")
        return ((of, Message(f"m{n}", NOW - 10 * DAY + n * MINUTE, "Bob", text, text)) for n, text in enumerate(texts))

    told = [
        client.ingest(talk(said), scope="team", now=NOW - 9 * DAY)
        for said in (lines[:3], lines, [*lines[:3], "Berlin is far from the mountains."])
    ]
    [key] = told[0].keys
    taken = client.take_source(key, "ingested", now=NOW - 9 * DAY)
    waits = [(one.state, one.phase, one.why, one.n) for one in unfinished(client.engine)]
    made = work(client, "process", "extract")
    states = [sorted(client.sources(scope=scope)[0].items()) for scope in ("team", "ingested")]
    source = client.source(key)
    assert source is not None
    counted = [(one.sources, one.continued, one.messages, one.edited) for one in told]
    return (
        counted,
        (taken.messages, taken.known),
        made,
        states,
        (source.state, source.messages),
        waits,
        texts(client, "ingested"),
    )


def storied(client: Jochi, _folder: Path) -> Any:
    """Sources about one person: storylines, a theme, a description and what they come to; and the way down again."""
    begin, person = datetime(2040, 11, 7, 12, tzinfo=timezone.utc), "storied/person:anna"
    put(client, "storied", "Person", "person:anna", "Anna", NOW - 60 * DAY, name="Anna", state="active")
    mentions = [{"type": "mentions", "to_key": person}]
    for day in (*range(5), *range(30, 35)):
        said = f"On day {day} Anna painted picture {day} again. It rained."
        at = {"started_at": begin + day * DAY, "processing_status": "raw"}
        put(client, "storied", "Source", f"s{day}", said, NOW - 20 * DAY, relationships=mentions, **at)
    noted = [{"type": "HAS_NOTE", "to_key": person, "direction": "in"}]
    for text in ("Anna works at the harbour.", "Anna has a red beard."):
        put(client, "storied", "Note", text[:12], text, lifetime="forever", relationships=noted)
    marks = {"key": person, "now": NOW}
    client.database.run(
        "MATCH (n:Curated {key: $key}) SET n.count_due = $now, n.is_dirty = true, n.last_accessed_at = $now", marks
    )
    told: list[Any] = [work(client, "process")]
    told += [run(client, "count_mentions", "promote_storylines"), work(client, "storylines")]
    told += [run(client, "promote_macros"), work(client, "storylines", "macros")]
    told += [run(client, "consolidate"), work(client, "describe"), run(client, "find_meaning"), work(client, "meaning")]
    client.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    found = [
        client.explore("painted", scope="storied", granularity=n, k=3, include_archived=True, xray=True).places
        for n in (1, 2, 3)
    ]
    below = client.drill_down([found[2][0].key, person])
    rows = client.database.run(
        "MATCH (m:Curated {scope: 'storied', derived_by: 'meaning'}) RETURN m.key AS key ORDER BY key", write=False
    )
    told += [[sorted(place.kind for place in places) for places in found]]
    told += [[(place.key, sorted(one.key for one in place.members)) for place in below]]
    told += [sorted(one.key for one in client.originals(rows[0]["key"]).originals), texts(client, "storied")]
    return told


def levelled(client: Jochi, _folder: Path) -> Any:
    """A long context has a summary and keywords; once it is short they end."""
    said = "\n".join(
        f"Ann: The keeper of the lighthouse painted stair number {n} in the old tower.\nBob: And the lighthouse was quiet."
        for n in range(24)
    )
    put(client, "levelled", "CompressedContext", "talk", said)
    first = work(client, "levels")
    found = client.levels("levelled/talk:keywords")
    seen = len(Queue(client.engine, "levels").peek("levelled/talk").rows)
    client.database.run(
        "MATCH (m:Curated {key: 'levelled/talk'}) SET m.content = 'short', m.prepare_due = $now REMOVE m.content_hash",
        {"now": NOW},
    )
    second = work(client, "levels")
    ended = (
        "MATCH (m:Curated {scope: 'levelled'}) WHERE m.derived_ended_at IS NOT NULL RETURN m.key AS key ORDER BY key"
    )
    return first, [(one.key, one.level) for one in found.levels], seen, second, client.database.run(ended, write=False)


def profiled(client: Jochi, _folder: Path) -> Any:
    """What somebody wants and how they work; reflections become one; what all of it is about."""
    told = [
        ("preference", "Ann likes tea."),
        ("skill", "Ann writes Rust."),
        ("principle", "Ann never works on Fridays."),
    ]
    for n, (category, said) in enumerate(told):
        put(client, "profiled", "Fact", f"f{n}", said, category=category, tags=["tea", f"topic {n}"])
    for n in range(2):
        put(
            client,
            "profiled",
            "Reflection",
            f"r{n}",
            " ".join(f"I plan before I write page {i}{n}." for i in range(200)),
        )
    jobs = run(client, "consolidate_profiles", "consolidate_identity", "index_topics")
    made = work(client, "profile", "identity")
    [index] = client.topics(scope="profiled")
    return jobs, made, [(one.topic, one.n) for one in index.topics], texts(client, "profiled")


def in_context(client: Jochi, folder: Path) -> Any:
    """A file of what an agent starts with: written, edited by a person, compared; and an old one taken over."""
    scope, file, old = "in_context", folder / "MEMORY.md", folder / "OLD.md"
    put(client, scope, "Fact", "likes", "Ann prefers tea with lemon.", category="preference")
    put(client, scope, "Task", "stairs", "Paint the stairs of the tower.", status="in_progress")
    put(client, scope, "Note", "tower", "The tower has no lift.")
    asked = [len(client.context(scope, at=NOW).entries), client.write_context(file, scope, now=NOW).rewritten]
    text = file.read_text().replace("no lift", "a lift now").replace("- Paint", "- Sweep")
    file.write_text("\n".join(line for line in text.splitlines() if "lemon" not in line) + "\n")
    done = client.write_context(file, scope, now=NOW + MINUTE)
    old.write_text("# Notes\n\n## Todo\n\n- [ ] Call the pilot\n\n## Learned\n\n- Fog comes from the east.\n")
    migrated = client.migrate_context(old, "old_context", now=NOW)
    jobs = run(client, "make_manifests", at=NOW + HOUR)
    difference = client.context_diff(scope)
    kept = sorted(each.scope for each in client.contexts())
    metrics = client.context_metrics()
    edits = sorted((edit.edit, edit.outcome) for edit in done.taken_in)
    changed = [sorted(line.text for line in lines) for lines in (difference.came, difference.left)]
    dropped = [client.drop_context(scope), client.drop_context(scope)]
    return (
        asked,
        edits,
        [said.section for said, _ in migrated.memories],
        jobs,
        changed,
        kept,
        metrics is not None,
        dropped,
    )


def beating(client: Jochi, folder: Path) -> Any:
    """Tasks: written, claimed, read, reported, paused, and shown in a file."""
    scope, heart = "beating", client.heartbeat
    outcomes = [
        heart.add(NewTask(id, f"Do {id}.", "every 15min"), scope=scope, now=NOW - HOUR) for id in ("a", "b", "c", "a")
    ]
    paused = [heart.pause("c", scope=scope, now=NOW), heart.resume("c", scope=scope, now=NOW - HOUR)]
    quick = [task.id for task, _ in heart.start(scope=scope).quick]
    claims = {claim.task.id: claim for claim in heart.due("ann", scope=scope, now=NOW)}
    loaded = [heart.load(id, scope=scope, fresh=True, now=NOW) for id in sorted(claims)]
    first, second, _ = sorted(claims)
    reports = [
        heart.done(first, claims[first].token, scope=scope, now=NOW),
        heart.failed(second, claims[second].token, "too far", scope=scope, now=NOW),
    ]
    synced = heart.sync(folder / "HEARTBEAT.md", scope=scope, now=NOW)
    listed = [(task.id, task.execution_count, task.error_count) for task in heart.ls(scope=scope)]
    task = heart.task("a", scope=scope)
    return (
        outcomes,
        paused,
        quick,
        loaded,
        [report.next_due for report in reports],
        synced.rewritten,
        listed,
        task.revision,
    )


def acting(client: Jochi, folder: Path) -> Any:
    """What an agent may do, what it did, and the guidelines that follow."""
    scope, good = "acting", {"confidence": 0.8, "lifecycleState": "active", "importance": 0.6, "source": "extraction"}
    verdicts = [
        client.may_act("update_note", {**good, "confidence": sure}, scope=scope, id=f"d{sure}", now=NOW + sure * MINUTE)
        for sure in (0.6, 0.8)
    ]
    added = client.report_action("update_note", "failed", good, scope=scope, id="d0.8")
    file = folder / "memory-actions.jsonl"
    rows = [
        {
            "action": "store_note",
            "outcome": "failed",
            "scope": scope,
            "id": f"n{n}",
            "at": (NOW - n * MINUTE).isoformat(),
        }
        for n in range(30)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    from_file = client.add_actions([file], now=NOW)
    jobs = run(client, "learn_guidelines", "expire_actions", at=NOW + HOUR)
    known = [
        (one.id, one.action, one.verdict, one.outcome) for one in client.actions(scope=scope, limit=5, now=NOW + HOUR)
    ]
    lines = [(each.scope, each.lines, each.read) for each in client.guidelines(scope=scope)]
    return [(v.allowed, v.rule) for v in verdicts], added.added, from_file.added, jobs, known, lines


def mirrored(client: Jochi, folder: Path) -> Any:
    """A folder of files that says what a scope says: made, edited by a person, brought up to date."""
    scope, where = "mirrored", folder / "memory"
    put(client, scope, "Fact", "tea", "Ann prefers tea with lemon.", category="preference")
    put(client, scope, "Person", "ann", "Ann", name="Ann Brown")
    first = client.write_mirror(where, scope, now=NOW)
    [page] = (path for path in where.rglob("*.md") if "lemon" in path.read_text())
    page.write_text(page.read_text().replace("with lemon", "with milk"))
    edited = client.check_mirror(where, scope, now=NOW + HOUR)
    put(client, scope, "Fact", "chess", "Ann plays chess.", NOW + HOUR, category="preference")
    second = client.write_mirror(where, scope, now=NOW + 2 * HOUR)
    after = client.check_mirror(where, scope, now=NOW + 2 * HOUR)
    counts = [(each.whole, len(each.written), len(each.removed), len(each.taken_in)) for each in (first, second)]
    return counts, edited.is_none, after.is_none, texts(client, scope)


def stored(client: Jochi, _folder: Path) -> Any:
    """Values of agents under namespaces and keys."""
    items, space = client.items("stored"), ("prefs", "ui")
    items.put(space, "theme", {"theme": "dark"}, ttl=60)
    items.put(space, "theme", {"theme": "light"}, ttl=30)
    items.put(("prefs",), "tea", {"text": "with lemon"})
    client.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    one = items.get(space, "theme")
    found = [[(each.key, each.value) for each in items.search(("prefs",), query=query)] for query in (None, "lemon")]
    items.delete(("prefs",), "tea")
    return one and one.value, found, items.namespaces(), items.get(("prefs",), "tea")


def replaced(client: Jochi, _folder: Path) -> Any:
    """One statement gives way to another wherever it is said, and what was made of it goes."""
    put(client, "replaced", "MemoryEntry", "both", "Ann works at Acme and lives in Lyon.")
    put(client, "replaced", "MemoryEntry", "bob", "Bob lives in Lyon.")
    client.database.run(
        "MATCH (m:Curated {key: 'replaced/both'}) "
        "CREATE (d:Curated:Note {key: 'replaced/sum', scope: 'replaced', id: 'sum', content: 'A flat in Lyon.', "
        "derived_by: 'levels', derived_for: 'replaced/both', created_at: $now, revision: 1})-[:DERIVED_FROM]->(m)",
        {"now": NOW - DAY},
    )
    done = client.supersede("where Ann lives", "Ann lives in Oslo.", scope="replaced", now=NOW)
    assert done.run is not None
    return done.replaced, done.remade, client.undo(done.run, now=NOW + HOUR).left, texts(client, "replaced")


CHAPTERS: tuple[Callable[[Jochi, Path], Any], ...] = (
    observed,
    ingested,
    storied,
    levelled,
    profiled,
    in_context,
    beating,
    acting,
    mirrored,
    stored,
    replaced,
)
