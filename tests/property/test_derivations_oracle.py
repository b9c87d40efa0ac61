"""Random graphs of memories, things they are about, and digests that are themselves about other things, under everything that can
happen to an input: each digest says what its inputs say, was made of just these, and nothing of what was forgotten is left
(DESIGN §13; docs/reference/derivations.md). The derivation is the one of docs/how-to/write-a-derivation.md."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests import how_to_derive, merge_graph
from tests.conftest import PolicyWith, say_go, wipe_memories

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.jobs.runner import run_job
from jochi.operate.work import status
from jochi.text.content import content_hash, text_hash
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.language.sentences import sentences
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
MEMORIES, THINGS = 4, 3
"""Few, so that chains, diamonds and shared inputs are common."""

memory, thing = st.integers(0, MEMORIES - 1), st.integers(0, THINGS - 1)
steps = st.one_of(
    st.tuples(st.just("say"), memory),
    st.tuples(st.just("prune"), memory),
    st.tuples(st.just("restore"), memory),
    st.tuples(st.just("merge"), memory, memory),
    st.tuples(st.just("unmerge"), memory),
    st.tuples(st.just("forget"), memory),
    st.tuples(st.just("link"), memory, thing),
    st.tuples(st.just("stack"), thing, thing),
    st.tuples(st.just("drop"), thing),
)


class World:
    """One database, and all that ever happens in it."""

    def __init__(self, client: Jochi, links: list[tuple[int, int]]) -> None:
        self.client = client
        self.said = 0
        self.forgotten: list[str] = []
        for n in range(MEMORIES):
            self.write("MemoryEntry", f"m{n}", self.text(), n)
        for n in range(THINGS):
            self.write("Concept", f"c{n}", f"Thing number {n}.", n)
        for pair in links:
            self.link(*pair)
        self.work()

    def text(self) -> str:
        self.said += 1
        return f"Somebody saw word{self.said}x today. It was a long walk."

    def write(self, kind: str, id: str, content: str, n: int) -> None:
        rows = [{"kind": kind, "id": id, "content": content, "content_hash": content_hash(content)}]
        assert self.client.remember(rows, now=NOW - 40 * DAY + n * DAY, on_refused="raise").written == 1

    def run(self, cypher: str, **given: Any) -> list[dict[str, Any]]:
        return self.client.database.run(cypher, {"now": NOW, **given})

    def work(self) -> None:
        digest = derivation("digest")
        handlers = [PrepareHandler(Estimate()), DeriveHandler(digest, OfflineMaker(digest, Estimate()), Estimate())]
        Worker(self.client.engine, handlers).run(once=True)
        left = status(self.client.engine)["digest"]
        assert (left.waiting, left.later, left.put_aside) == (0, 0, 0)

    def changed(self, thing: int) -> None:
        self.run("CREATE (:JochiInputChange {key: $key, at: $now})", key=f"default/c{thing}")

    def say(self, n: int) -> None:
        self.run(
            "MATCH (m:Curated {key: $key}) SET m.content = $text, m.prepare_due = $now REMOVE m.content_hash, m.content_key",
            key=f"default/m{n}",
            text=self.text(),
        )

    def prune(self, n: int) -> None:
        self.run(
            "MATCH (m:Curated {key: $key}) SET m.expires_at = $past, m.next_due = $past, m.hold_until = null",
            key=f"default/m{n}",
            past=NOW - DAY,
        )
        run_job(self.client.engine, "curate_due", now=NOW)

    def restore(self, n: int) -> None:
        self.client.restore([f"default/m{n}"])
        self.run("MATCH (m:Curated {key: $key}) SET m.expires_at = null", key=f"default/m{n}")

    def merge(self, a: int, b: int) -> None:
        if a == b:
            return
        self.run(
            "MATCH (m:Curated) WHERE m.key IN $keys SET m.hold_until = null", keys=[f"default/m{a}", f"default/m{b}"]
        )
        merge_graph.flag(self.client.database, f"default/m{a}", f"default/m{b}", NOW - DAY)
        run_job(self.client.engine, "merge_duplicates", now=NOW, drain=True)

    def unmerge(self, n: int) -> None:
        self.client.unmerge([f"default/m{n}"])

    def forget(self, n: int) -> None:
        found = self.run(
            "MATCH (m {key: $key}) WHERE m:Curated OR m:Tombstone RETURN m.content AS c", key=f"default/m{n}"
        )
        before, one = self.merged(), self.merged().get(f"default/m{n}", {f"default/m{n}"})
        done = self.client.forget(Request(keys=(f"default/m{n}",)))
        assert not done.held
        assert before.keys() - self.merged().keys() <= one, "others stay, whatever was made of them together"
        self.forgotten += [word for row in found for word in row["c"].split() if word.startswith("word")]

    def merged(self) -> dict[str, set[str]]:
        """All memories, and of each those that it was merged with, whichever survived, and itself."""
        rows = self.run(
            "MATCH (m) WHERE m.key STARTS WITH 'default/m' AND (m:Curated OR m:Tombstone) "
            "RETURN m.key AS key, coalesce(m.merged_from, []) + coalesce([m.merged_into], []) AS others"
        )
        groups = {row["key"]: {row["key"]} for row in rows}
        for row in rows * len(rows):
            one = groups[row["key"]].union(*(groups.get(other, {other}) for other in row["others"] if other))
            groups |= dict.fromkeys(one, one)
        return groups

    def link(self, n: int, thing: int) -> None:
        self.run(
            "MATCH (m:Curated {key: $m}) MATCH (c:Curated {key: $c}) MERGE (m)-[:ABOUT]->(c)",
            m=f"default/m{n}",
            c=f"default/c{thing}",
        )
        self.changed(thing)

    def stack(self, lower: int, upper: int) -> None:
        """The digest of one thing is about another; also about itself, or round in a circle."""
        self.run(
            "MATCH (m:Curated {key: $m}) MATCH (c:Curated {key: $c}) MERGE (m)-[:ABOUT]->(c)",
            m=f"default/c{lower}:digest",
            c=f"default/c{upper}",
        )
        self.changed(upper)

    def drop(self, thing: int) -> None:
        """All that a thing's digest is about it isn't any more."""
        things = self.run(
            "MATCH (:Curated {key: $d})-[a:ABOUT]->(c) DELETE a RETURN c.id AS id", d=f"default/c{thing}:digest"
        )
        for row in things:
            self.changed(int(row["id"][1:]))

    def outputs(self) -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
        """Content and provenance of each digest that lives."""
        rows = self.run(
            "MATCH (d:Curated:Synthesis) RETURN d.key AS key, d.content AS content, "
            "COLLECT { MATCH (d)-[f:DERIVED_FROM]->(i) RETURN [i.key, f.content_hash] ORDER BY i.key } AS of"
        )
        return {row["key"]: (row["content"], tuple((key, hash) for key, hash in row["of"])) for row in rows}


def check(world: World) -> None:
    """Every digest against plain Python, from what stands in the graph beside it."""
    outputs = world.outputs()
    circle = _ancestors(outputs)
    rows = world.run(
        "MATCH (c:Curated:Concept) RETURN c.key AS key, "
        "COLLECT { MATCH (m:Curated)-[:ABOUT]->(c) RETURN m {.key, .content, .content_hash} } AS about"
    )
    for row in rows:
        key = f"{row['key']}:digest"
        # Nothing is made of itself, also not round a corner.
        inputs = {each["key"]: each for each in row["about"] if key not in {each["key"], *circle.get(each["key"], ())}}
        if not inputs:
            gone = world.run("MATCH (d:Curated {key: $key}) WHERE d.expires_at IS NULL RETURN d.key AS key", key=key)
            assert gone == [], f"{key} has nothing to say and no end"
            continue
        content, of = outputs[key]
        assert sorted(content.split("\n")) == sorted(sentences(each["content"])[0].text for each in inputs.values())
        assert of == tuple(sorted((each["key"], each["content_hash"]) for each in inputs.values()))
    for word in world.forgotten:
        found = world.run(
            "MATCH (n) WHERE any(name IN keys(n) WHERE toStringOrNull(n[name]) CONTAINS $word) RETURN labels(n) AS labels",
            word=f"{word} ",
        )
        assert found == [], f"{word} was forgotten"


def _ancestors(outputs: dict[str, tuple[str, tuple[tuple[str, str], ...]]]) -> dict[str, set[str]]:
    """Of each digest all that it was made of, in all generations."""
    found: dict[str, set[str]] = {}
    for key in outputs:
        open_, seen = [key], set[str]()
        while open_:
            for before, _ in outputs.get(open_.pop(), ("", ()))[1]:
                if before not in seen:
                    seen.add(before)
                    open_.append(before)
        found[key] = seen
    return found


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with how_to_derive.written(tmp_path_factory.mktemp("checkout")) as policy:
        yield policy


@pytest.fixture
def client(
    install_once: Any, policy_with: PolicyWith, tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(policy_with(tables))
    say_go(ready)
    return ready


def test_what_the_page_builds(client: Jochi) -> None:
    world = World(client, [(0, 0), (1, 0)])
    assert set(how_to_derive.files()) >= {"policy.toml", "procedures/derive/digest/store.cypher.j2"}
    content, of = world.outputs()["default/c0:digest"]
    assert content == "Somebody saw word2x today.\nSomebody saw word1x today."
    assert [key for key, _ in of] == ["default/m0", "default/m1"]
    [row] = world.run(
        "MATCH (d:Curated {key: $key})-[:SUMS_UP]->(c) RETURN d.derived_hash AS hash, c.key AS of",
        key="default/c0:digest",
    )
    assert row == {"hash": text_hash(content), "of": "default/c0"}
    # Another scope's memory is in no prompt of this one.
    world.run(
        "MATCH (c:Curated {key: 'default/c0'}) CREATE (m:Curated:MemoryEntry {key: 'other/x', scope: 'other', id: 'x', "
        "content: 'A secret of others.', created_at: $now})-[:ABOUT]->(c)"
    )
    batch = Queue(client.engine, "digest").peek("default/c0")
    assert [each["key"] for each in batch.rows[0]["inputs"]] == ["default/m1", "default/m0"]


def test_a_pruned_input_that_comes_back_is_in_the_output_again(client: Jochi) -> None:
    world = World(client, [(0, 0), (1, 0)])
    for step, inputs in (("prune", ["default/m1"]), ("restore", ["default/m0", "default/m1"])):
        getattr(world, step)(0)
        world.work()
        check(world)
        assert [key for key, _ in world.outputs()["default/c0:digest"][1]] == inputs


def test_what_ended_goes_on_when_there_is_something_to_say_again(client: Jochi) -> None:
    """By what comes back and by what is new; also where it was pruned for that meanwhile."""
    key = "default/c0:digest"
    for step in (("restore", 0), ("link", 1, 0)):
        client.database.run("MATCH (n:Curated|Tombstone|JochiWork|JochiInputChange|CurationAudit) DETACH DELETE n")
        world = World(client, [(0, 0)])
        world.prune(0)
        world.work()
        [row] = world.run("MATCH (d:Curated {key: $key}) RETURN d.expires_at = d.derived_ended_at AS ended", key=key)
        assert row["ended"]
        if step[0] == "restore":
            old = "MATCH (d:Curated {key: $key}) SET d.created_at = $now - duration('P40D'), d.next_due = $now"
            world.run(old, key=key)
            run_job(client.engine, "curate_due", now=datetime.now(timezone.utc) + DAY)
            assert key not in world.outputs()
        getattr(world, step[0])(*step[1:])
        world.work()
        check(world)
        assert world.run("MATCH (d:Curated {key: $key}) RETURN d.expires_at AS at", key=key) == [{"at": None}]


@pytest.mark.exhaustive
def test_a_ring_of_any_length_is_not_made_of_itself(client: Jochi) -> None:
    world = World(client, [(0, 0)])
    for n in range(THINGS, 12):
        world.write("Concept", f"c{n}", f"Thing number {n}.", n)
    world.work()
    for n in range(11):
        world.stack(n, n + 1)
        world.work()
    world.stack(11, 0)
    world.work()
    check(world)
    world.say(0)
    world.work()
    check(world)
    assert "word1x" not in world.outputs()["default/c0:digest"][0]


def test_a_target_that_is_pruned_ends_its_output(client: Jochi) -> None:
    world = World(client, [(0, 0)])
    world.run("MATCH (c:Curated {key: 'default/c0'}) SET c.expires_at = $past, c.next_due = $past", past=NOW - DAY)
    run_job(client.engine, "curate_due", now=NOW)
    world.say(0)
    world.work()
    [row] = world.run("MATCH (d:Curated {key: 'default/c0:digest'}) RETURN d.derived_ended_at IS NOT NULL AS ended")
    assert row["ended"]


def test_a_forgotten_memory_is_in_no_generation(client: Jochi) -> None:
    """Also not in copies of what was made of it earlier: it was pruned meanwhile, and made part of another thing."""
    world = World(client, [(0, 0), (1, 0), (2, 1)])
    for step in (("stack", 0, 1), ("prune", 0), ("forget", 0), ("forget", 1)):
        getattr(world, step[0])(*step[1:])
        world.work()
        check(world)
    assert "default/c0:digest" not in world.outputs()
    assert [key for key, _ in world.outputs()["default/c1:digest"][1]] == ["default/m2"]


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.generate],
)
@given(
    links=st.lists(st.tuples(memory, thing), min_size=2, max_size=6, unique=True),
    done=st.lists(steps, min_size=2, max_size=6),
)
def test_outputs_say_what_their_inputs_say_and_an_undo_gives_back_what_they_said(
    client: Jochi, links: list[tuple[int, int]], done: list[tuple[Any, ...]]
) -> None:
    wipe_memories(client.database)
    say_go(client)
    world = World(client, links)
    check(world)
    for name, *about in done:
        before = world.outputs()
        [row] = world.run("RETURN datetime.realtime() AS moment")
        getattr(world, name)(*about)
        world.work()
        check(world)
    if done[-1][0] != "forget":
        # What the last step had made anew says again what it said, and what it made first is gone.
        taken = client.undo(row["moment"].to_native())
        assert set(taken.counts) <= {"undone"}
        assert world.outputs() == before
