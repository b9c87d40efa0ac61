"""Levels of contexts as seed 001 has them: chain, time, lifetimes, what they hold, and the way along them by key
(docs/reference/derivations.md). How they are made, made anew and taken back: test_derivations.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PolicyWith, TestServer, say_go
from tests.integration.test_forget import said_anywhere
from tests.one_memory import remember_one
from typer.testing import CliRunner

from jochi import Jochi, Turn
from jochi.cli.app import app
from jochi.errors import UsageError
from jochi.forgetting import VARIABLE, Request
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.derive import derivation, levels
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.models import ProviderUnusable
from jochi_workers.prepare import PrepareHandler
from jochi_workers.queue import Queue
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
DAY = timedelta(days=1)
LEVELS = derivation("levels")
SUMMARY_DAYS, KEYWORDS_DAYS = 60.0, 0.5


def talk(thing: str = "lighthouse", said: str = "") -> str:
    return "\n".join(
        f"Ann: The keeper of the {thing} painted stair number {n} in the old tower.\nBob: And the {thing} was quiet. {said}"
        for n in range(24)
    )


@pytest.fixture(scope="session")
def with_days(policy_with: PolicyWith) -> Any:
    numbers = (
        f"least = 300.0, summary = 0.1, keywords = 0.03, summary_days = {SUMMARY_DAYS}, keywords_days = {KEYWORDS_DAYS}"
    )
    return policy_with(f"[derive.levels]\nderiving = true\nnumbers = {{ {numbers} }}")


@pytest.fixture
def client(install_once: Any, with_days: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jochi:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    ready: Jochi = install_once(with_days)
    say_go(ready)
    return ready


def work(client: Jochi) -> int:
    """Everything that is due, to the end; how many levels were made."""
    worker = Worker(
        client.engine, [PrepareHandler(Estimate()), DeriveHandler(LEVELS, OfflineMaker(LEVELS, Estimate()), Estimate())]
    )
    worker.run(once=True)
    return worker.progress["levels"].done


def put(client: Jochi, id: str, content: str, days: float = 40, scope: str = "default", **more: Any) -> None:
    remember_one(client, "CompressedContext", id, content, scope=scope, at=NOW - days * DAY, **more)


def run(client: Jochi, cypher: str, **given: Any) -> list[dict[str, Any]]:
    return client.database.run(cypher, {"now": NOW, **given})


def there(client: Jochi, key: str) -> dict[str, Any]:
    [row] = run(client, "MATCH (m:Curated {key: $key}) RETURN properties(m) AS p", key=key)
    return dict(to_python(row["p"]))


def change(client: Jochi, key: str, **values: Any) -> None:
    run(client, "MATCH (m:Curated {key: $key}) SET m += $values", key=key, values=values)


def say(client: Jochi, key: str, content: str) -> None:
    change(client, key, content=content, prepare_due=NOW, content_hash=None)


def prune(client: Jochi, key: str) -> None:
    change(client, key, expires_at=NOW - DAY, next_due=NOW - DAY, created_at=NOW - 90 * DAY, hold_until=None)
    run_job(client.engine, "curate_due", now=NOW)


def purge(client: Jochi) -> None:
    run_job(client.engine, "purge_tombstones", now=NOW + 31 * DAY, drain=True)


def test_the_chain_by_any_key(
    client: Jochi, server: TestServer, monkeypatch: pytest.MonkeyPatch, with_days: Any
) -> None:
    put(client, "talk", talk())
    work(client)
    ids = ["talk", "talk:summary", "talk:keywords"]
    whole, summary, keywords = (there(client, f"default/{id}") for id in ids)
    assert [m["compression_level"] for m in (whole, summary, keywords)] == ["full", "summary", "keywords"]
    assert [m.get("parent_context_id") for m in (whole, summary, keywords)] == [*ids[1:], None]
    assert [m.get("child_context_ids") for m in (whole, summary, keywords)] == [None, ids[:1], ids[1:2]]
    # A use of one level is a use of that level.
    client.touch(["default/talk:summary"], agent="a", now=NOW)
    run_job(client.engine, "fold_accesses", now=NOW, drain=True)
    for id in ids:
        found = client.levels(f"default/{id}")
        assert (found.level, [one.key for one in found.levels]) == (
            ("full", "summary", "keywords")[ids.index(id)],
            [f"default/{each}" for each in ids],
        )
    assert [one.access_count for one in found.levels] == [0, 1, 0]
    assert [one.last_accessed_at for one in found.levels] == [None, NOW, None]
    assert [one.content for one in found.levels] == [m["content"] for m in (whole, summary, keywords)]
    assert [one.ratio for one in found.levels] == [
        None,
        pytest.approx(summary["token_count"] / whole["token_count"]),
        pytest.approx(keywords["token_count"] / summary["token_count"]),
    ]
    # What an app links over scopes is none of it; a level that was pruned is left out, what lies behind it isn't.
    run(
        client,
        "MATCH (m:Curated {key: 'default/talk'}) "
        "CREATE (m)-[:SUMMARIZED_TO]->(:Curated:CompressedContext {key: 'other/x', scope: 'other'})",
    )
    prune(client, "default/talk:summary")
    assert [one.key for one in client.levels("default/talk").levels] == ["default/talk", "default/talk:keywords"]
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    command = ["--policy", str(with_days.path), "memory", "levels"]
    told = CliRunner().invoke(app, [*command, "default/talk:keywords", "--json"])
    assert [one["level"] for one in json.loads(told.stdout)["levels"]] == ["full", "keywords"]
    assert "lighthouse" in CliRunner().invoke(app, [*command, "default/talk"]).stdout
    client.remember([{"kind": "Belief", "id": "b", "content": "No context."}], on_refused="raise")
    for key in ("default/talk:summary", "default/b", "default/none", "talk"):
        with pytest.raises(UsageError, match="no live context has this key"):
            client.levels(key)


class Line:
    """What lines up in time, by plain Python: of one scope, level and sender, by moment."""

    def __init__(self, client: Jochi) -> None:
        self.client = client
        self.days: dict[str, float] = {}

    def put(self, id: str, days: float, **more: Any) -> None:
        put(self.client, id, talk(f"tower{id}"), days, **more)
        self.days[id] = days

    def pairs(self) -> Iterator[tuple[str, str | None]]:
        ids = sorted(self.days, key=lambda id: -self.days[id])
        yield from zip(ids, [None, *ids[:-1]], strict=True)

    def check(self) -> None:
        """By key in both directions, and by FOLLOWS, which leads on through what was pruned."""
        next_: str | None = None
        for id, before in reversed(list(self.pairs())):
            for level in ("", ":keywords"):
                found = self.client.levels(f"default/{id}{level}")
                assert found.previous == (f"default/{before}{level}" if before else None)
                assert found.next == (f"default/{next_}{level}" if next_ else None)
                text = (
                    "MATCH path = (:Curated {key: $key})-[:FOLLOWS*1..5]->(p:Curated) RETURN p.key AS key "
                    "ORDER BY length(path) LIMIT 1"
                )
                rows = run(self.client, text, key=found.key)
                assert [row["key"] for row in rows] == ([found.previous] if before else [])
            next_ = id


def test_contexts_follow_each_other_in_time(client: Jochi) -> None:
    line = Line(client)
    put(client, "elsewhere", talk(), 24.5, scope="other")
    put(client, "hers", talk(), 24.4, sender_hash="s1")
    put(client, "no-moment", talk(), 24.3)
    change(client, "default/no-moment", created_at="yesterday")
    # The newest first, then before all, then between; each is made before the next one is written.
    for id, days in (("a", 20), ("c", 24), ("d", 26), ("b", 22)):
        line.put(id, days)
        work(client)
        line.check()
    line.put("e", 28)
    line.put("f", 21)
    work(client)
    line.check()
    for key in ("other/elsewhere", "default/hers", "default/no-moment"):
        found = client.levels(key)
        assert (found.previous, found.next) == (None, None)
    assert there(client, "default/hers:keywords")["sender_hash"] == "s1"
    # What an app has linked stays, and is the way where nothing else is known.
    run(
        client,
        "MATCH (a:Curated {key: 'default/hers'}), (b:Curated {key: 'default/e'}), (c:Curated {key: 'default/no-moment'}) "
        "CREATE (a)-[:FOLLOWS]->(b), (c)-[:FOLLOWS]->(b)",
    )
    say(client, "default/hers", talk("windmill"))
    assert work(client) == 2
    assert client.levels("default/no-moment").previous == "default/e"
    assert run(client, "MATCH ({key: 'default/hers'})-[f:FOLLOWS]->(x) RETURN x.key AS key") == [{"key": "default/e"}]
    run(client, "MATCH ({key: 'default/hers'})-[f:FOLLOWS]->() DELETE f")
    # One between them goes for a while …
    moment = there(client, "default/c")["created_at"]
    days = line.days.pop("c")
    for level in ("", ":summary", ":keywords"):
        prune(client, f"default/c{level}")
    line.check()
    client.restore([f"default/c{level}" for level in ("", ":summary", ":keywords")])
    change(client, "default/c", created_at=moment, expires_at=None)
    line.days["c"] = days
    line.check()
    # … another for good, also by an order to forget it.
    for level in ("", ":summary", ":keywords"):
        prune(client, f"default/b{level}")
    purge(client)
    del line.days["b"]
    assert run(client, "MATCH (n:Curated|Tombstone) WHERE n.key STARTS WITH 'default/b' RETURN n.key") == []
    line.check()
    assert not client.forget(Request(keys=("default/f", "default/d"))).held
    del line.days["f"], line.days["d"]
    line.check()
    # And what was moved in time is elsewhere once it is made anew.
    change(client, "default/e", created_at=NOW - 19 * DAY)
    say(client, "default/e", talk("windmill"))
    line.days["e"] = 19
    work(client)
    line.check()


def expiry(client: Jochi, level: str, key: str = "default/talk") -> Any:
    return there(client, f"{key}:{level}").get("expires_at")


def test_levels_expire_but_not_the_whole_text(client: Jochi) -> None:
    put(client, "talk", talk())
    work(client)
    assert "expires_at" not in there(client, "default/talk")
    for level, days in (("summary", SUMMARY_DAYS), ("keywords", KEYWORDS_DAYS)):
        made = there(client, f"default/talk:{level}")
        assert made["expires_at"] - made["derived_at"] == days * DAY
    # Each making gives the time anew. What a person said instead stays, also that it has no end.
    first = expiry(client, "summary")
    change(client, "default/talk:keywords", expires_at=NOW + 999 * DAY)
    say(client, "default/talk", talk("windmill"))
    assert work(client) == 2
    assert first < expiry(client, "summary")
    assert expiry(client, "keywords") == NOW + 999 * DAY
    change(client, "default/talk:keywords", expires_at=None)
    say(client, "default/talk", talk("garden"))
    assert work(client) == 2
    assert expiry(client, "keywords") is None
    # A level that isn't wanted any more ends at once, and has its time again when it is.
    say(client, "default/talk", "Only a word is left.")
    work(client)
    ended = there(client, "default/talk:summary")
    assert ended["expires_at"] == ended["derived_ended_at"] < ended["derived_expires_at"]
    say(client, "default/talk", talk())
    work(client)
    again = there(client, "default/talk:summary")
    assert again["expires_at"] - again["derived_at"] == SUMMARY_DAYS * DAY
    # An undo gives back the deadline with the content.
    [last] = run(client, "MATCH (a:CurationAudit {form: 'remade', key: 'default/talk:summary'}) RETURN max(a.at) AS at")
    client.undo(last["at"].to_native())
    back = there(client, "default/talk:summary")
    assert (back["expires_at"], back["derived_ended_at"]) == (ended["expires_at"], ended["derived_ended_at"])


def test_odd_counts_of_tokens_stop_no_keywords(client: Jochi) -> None:
    put(client, "talk", talk())
    put(client, "other", talk("mill"))
    assert work(client) == 4
    for odd in ("many", float("nan"), None):
        for name in ("talk", "other"):
            change(client, f"default/{name}", token_count=odd)
            say(
                client,
                f"default/{name}:summary",
                f"Bob said {odd} things about the {name}. The keeper painted the mill.",
            )
        change(client, "default/other:summary", token_count=odd)
        assert work(client) == 2, odd


READ = """
MATCH (m:Mine) ORDER BY m.id
RETURN labels(m) AS labels, properties(m) AS properties,
  COLLECT { MATCH (m)-[r]-() WHERE type(r) <> 'DERIVED_FROM' RETURN type(r) } AS links
"""


def test_disenrolled_contexts_are_as_they_were(client: Jochi) -> None:
    """Nothing of the engine's leads from them any more (docs/how-to/enrol-existing-nodes.md)."""
    for n in (1, 2):
        run(
            client,
            "CREATE (:CompressedContext:Mine {id: $id, content: $text, created_at: $now - duration({days: $n}), sender_hash: 'x'})",
            id=f"own{n}",
            text=talk(f"tower{n}"),
            n=n,
        )
    before = client.database.run(READ)
    assert client.enrol("CompressedContext").enrolled == 2
    assert work(client) == 4
    links = [row["links"] for row in client.database.run(READ)]
    assert [sorted(each) for each in links] == [["FOLLOWS", "SUMMARIZED_TO"]] * 2
    client.disenrol("CompressedContext")
    assert client.database.run(READ) == before
    assert work(client) == 0


@pytest.mark.parametrize(("days", "fits"), [(0.0, False), (0.01, True), (36_500.0, True), (36_500.1, False)])
def test_days_have_bounds(policy_with: PolicyWith, days: float, fits: bool) -> None:
    tables = f"[derive.levels]\nnumbers = {{ summary_days = {days} }}"
    if fits:
        assert policy_with(tables).policy.derive["levels"].numbers["summary_days"] == days
    else:
        with pytest.raises(UsageError, match="summary_days must be above 0 and at most 36500"):
            policy_with(tables)


def marks(client: Jochi, id: str) -> list[tuple[Any, ...]]:
    """Type, personal and access tier of the whole text, its summary and keywords."""
    found = [there(client, f"default/{id}{level}") for level in ("", ":summary", ":keywords")]
    return [tuple(m.get(name) for name in ("content_type", "contains_pii", "access_tier")) for m in found]


def test_all_levels_say_what_the_whole_text_holds(client: Jochi) -> None:
    liking, personal = "I love the sea.", "Please send it to keeper@example.com tomorrow."
    put(client, "plain", talk(said=liking))
    put(client, "personal", talk(said=personal))
    put(client, "public", talk(said=personal), access_tier="PUBLIC")
    put(client, "given", talk(said=liking), content_type="insight", contains_pii=True)
    put(client, "german", "\n".join(f"Anna: Der Turm hat {n} Stufen, und das Meer war ruhig." for n in range(60)))
    work(client)
    assert marks(client, "plain") == [("preference", False, None)] * 3
    assert marks(client, "personal") == [("task", True, None), *[("task", True, "SENSITIVE")] * 2]
    assert marks(client, "public") == [("task", True, "PUBLIC")] * 3
    assert marks(client, "given") == [("insight", True, None), *[("insight", True, "SENSITIVE")] * 2]
    assert marks(client, "german") == [(None, None, None)] * 3
    # Another text, other marks; but what its app said stays, and who may see an output isn't loosened by itself.
    change(client, "default/plain:summary", access_tier="PUBLIC")
    for id in ("plain", "personal", "given"):
        say(client, f"default/{id}", talk("windmill", personal if id == "plain" else liking))
    work(client)
    assert marks(client, "plain") == [("task", True, None), *[("task", True, "PUBLIC")] * 2]
    assert marks(client, "personal") == [("preference", False, None), *[("preference", False, "SENSITIVE")] * 2]
    assert marks(client, "given") == [("insight", True, None), *[("insight", True, "SENSITIVE")] * 2]


def test_what_an_app_says_meanwhile_stays(client: Jochi) -> None:
    put(client, "talk", talk(said="I love the sea."))
    Worker(client.engine, [PrepareHandler(Estimate())]).run(once=True)
    queue = Queue(client.engine, "levels", clock=lambda: NOW)
    batch = queue.lease()
    change(client, "default/talk", content_type="insight")
    made = DeriveHandler(LEVELS, OfflineMaker(LEVELS, Estimate()), Estimate()).handle(batch.rows).done
    assert queue.finish(batch, made).done == 1
    whole = there(client, "default/talk")
    assert (whole["content_type"], whole["contains_pii"]) == ("insight", False)


def test_without_the_extra_nothing_is_invented(
    client: Jochi, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    put(client, "talk", talk(said="I love the sea."))
    work(client)

    def missing(_text: str) -> Any:
        raise ProviderUnusable("the package spacy is not installed")

    levels.say_once.cache_clear()
    monkeypatch.setattr(levels, "read", missing)
    say(client, "default/talk", talk("windmill", "Please send it to keeper@example.com tomorrow."))
    put(client, "given", talk(), content_type="task")
    assert work(client) == 4
    assert marks(client, "talk") == [(None, None, None)] * 3
    assert marks(client, "given") == [("task", None, None)] * 3
    assert (
        caplog.text.count("made without keywords, content_type and contains_pii: the package spacy is not installed")
        == 1
    )


CHATS = Path(__file__).parents[1] / "memory_files" / "chats"


def observe(client: Jochi, rows: list[dict[str, Any]], session: str = "chat") -> None:
    """Turn by turn, each when it is said, and the database hands on what is due."""
    for row in rows:
        at = datetime.fromisoformat(row["at"])
        client.observe(Turn(row["content"], session=session, speaker=row["name"], at=at), now=at)
        run_job(client.engine, "flush_buffers", now=at, drain=True)
    client.flush(session, now=at)


def chat(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CHATS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def parts(client: Jochi) -> dict[str, list[str]]:
    """The batches of each part of the conversation that has levels, by the first one's key."""
    rows = run(
        client,
        "MATCH (b:Curated:TurnBatch)-[:SUMMARIZED_TO]->(s:Curated {derived_by: 'levels'}) WITH s, b ORDER BY b.key "
        "RETURN s.derived_for AS first, collect(b.key) AS keys ORDER BY first",
    )
    return {row["first"]: row["keys"] for row in rows}


def outputs(key: str) -> tuple[str, str]:
    return f"{key}:context:summary", f"{key}:context:keywords"


def test_a_conversation_that_is_observed_has_levels_part_by_part(client: Jochi) -> None:
    turns = chat("work_en")
    later = [turn | {"at": (datetime.fromisoformat(turn["at"]) + 120 * DAY).isoformat()} for turn in turns]
    observe(client, turns)
    made, known = work(client), parts(client)
    assert made == 2 * len(known) > 0
    first, old = next(iter(known.items()))
    assert first == old[0]
    # By the key of any turns of it, and of any output.
    for key in (old[3], *outputs(first)):
        found = client.levels(key)
        assert [one.key for one in found.levels] == [*old, *outputs(first)]
    summary, keywords = found.levels[-2:]
    whole = sum(one.token_count for one in found.levels[:-2])
    assert 0.05 < summary.token_count / whole <= 0.1
    assert summary.ratio == pytest.approx(summary.token_count / whole)
    assert 0 < keywords.token_count <= 0.03 * whole + 1
    # Nothing is made again of the same turns; what comes later changes the part that it belongs to.
    run(client, "MATCH (b:TurnBatch) CREATE (:JochiInputChange {key: b.key, at: $now})")
    assert work(client) == 0
    before = [there(client, key) for key in outputs(first)]
    observe(client, later[:24])
    assert work(client) == 2
    [second] = {*parts(client)} - {*known}
    young = parts(client)[second]
    assert client.levels([*known][-1]).next == outputs(second)[0]
    observe(client, later[24:28])
    assert work(client) == 2
    assert len(parts(client)[second]) > len(young)
    assert [there(client, key) for key in outputs(first)] == before


def test_a_part_has_twenty_batches_however_many_are_written_at_once(client: Jochi) -> None:
    """A session whose turns waited, as after an outage."""
    for n in range(5 * 43):
        client.observe(Turn(f"The keeper painted stair {n}.", session="chat", at=NOW), now=NOW)
    client.flush("chat", now=NOW)
    rows = run(
        client,
        "MATCH (b:TurnBatch) WITH b ORDER BY b.key RETURN b.level_line AS part, collect(b.key) AS keys ORDER BY part",
    )
    assert [(len(row["keys"]), row["part"]) for row in rows] == [
        (size, f"/turns/{row['keys'][0]}") for size, row in zip((20, 20, 3), rows, strict=True)
    ]


def test_of_what_stays_of_a_part_levels_are_made_anew_by_themselves(client: Jochi) -> None:
    turns = chat("work_en")
    observe(client, turns[:24])
    assert work(client) == 2
    [(first, known)] = parts(client).items()
    assert len(known) > 5
    forgotten = (first, known[3])
    done = client.forget(Request(keys=forgotten), verify=True)
    assert (done.held, list(done.left), parts(client)) == ({}, [], {})
    assert work(client) == 2
    rest = [key for key in known if key not in forgotten]
    assert parts(client) == {rest[0]: rest}
    assert client.forget(Request(keys=(known[4],)), verify=True).left == ()
    assert work(client) == 2
    # What is said next belongs to it.
    observe(client, turns[24:30])
    assert work(client) == 2
    [(same, more)] = parts(client).items()
    assert same == rest[0]
    assert len(more) > len(rest)
    # One that was pruned doesn't know the key of its part any more either, and is restored without it.
    prune(client, more[1])
    assert client.forget(Request(keys=(same,)), verify=True).left == ()
    client.restore([more[1]])
    assert [key for key in (*forgotten, same) if said_anywhere(client, key)] == []
    assert work(client) == 2
    assert parts(client) == {more[2]: more[2:]}
    change(client, more[1], hold_until=None)
    # Of nothing nothing is made, and nothing waits for it.
    assert not client.forget(Request(keys=tuple(more))).held
    assert work(client) == 0
    assert run(client, "MATCH (n:Curated|Tombstone|JochiWork|JochiInputChange) RETURN n.key AS key") == []
    observe(client, turns[30:])
    assert work(client) == 2
    [(again, _)] = parts(client).items()
    assert again not in known


def test_a_conversation_that_is_ingested_has_levels(client: Jochi, tmp_path: Path) -> None:
    lines = (CHATS / "familie_de.jsonl").read_text(encoding="utf-8").splitlines()
    file = tmp_path / "familie.jsonl"
    file.write_text("\n".join(lines[:40]), encoding="utf-8")
    [source] = client.ingest(file).keys
    assert work(client) == 2
    assert [one.key for one in client.levels(source).levels] == [source, *outputs(source)]
    client.ingest(file)
    assert work(client) == 0
    was = there(client, outputs(source)[0])
    file.write_text("\n".join(lines), encoding="utf-8")
    assert client.ingest(file).continued == 1
    assert work(client) == 2
    assert there(client, outputs(source)[0])["content"] != was["content"]
    assert not client.forget(Request(keys=(source,))).held
    assert run(client, "MATCH (n:Curated|Tombstone) WHERE n.key STARTS WITH $key RETURN n.key", key=source) == []
    assert work(client) == 0


def test_undo_and_prune_leave_nothing_half_done(client: Jochi, tmp_path: Path) -> None:
    turns = chat("work_en")
    observe(client, turns[:20])
    file = tmp_path / "familie.jsonl"
    file.write_text((CHATS / "familie_de.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    [source] = client.ingest(file).keys
    assert work(client) == 4
    [(first, known)] = parts(client).items()
    observe(client, turns[20:26])
    assert work(client) == 2
    keys = (*outputs(first), *outputs(source))
    made = [there(client, key) for key in keys]
    grown = parts(client)
    [cycle] = run(client, "MATCH (a:CurationAudit {form: 'remade'}) RETURN DISTINCT a.run AS run")
    done = client.undo(cycle["run"])
    assert done.counts == {"undone": 6}
    # Turns and source are as nobody had made anything of them, but for their words.
    assert (
        run(client, "MATCH (m:Curated) WHERE m.derived_by IS NOT NULL OR m:CompressedContext RETURN m.key AS key") == []
    )
    [left] = run(
        client,
        "MATCH (m:Curated) RETURN count(m) = $n AS same, count(m.content) AS texts, count(m.compression_level) AS marks",
        n=len(grown[first]) + 1,
    )
    assert left == {"same": True, "texts": len(grown[first]) + 1, "marks": 0}
    for key in (first, source):
        assert {one.level for one in client.levels(key).levels} == {"full"}
    assert done.run is not None
    assert client.undo(done.run).counts == {"undone": 6}
    names = ("content", "derived_for", "child_context_ids", "level_line", "level_place")
    assert [{name: there(client, key).get(name) for name in names} for key in keys] == [
        {name: each.get(name) for name in names} for each in made
    ]
    assert parts(client) == grown
    # What is pruned is in the levels that outlive it, and they aren't made anew for it.
    for key in (source, known[0], known[2]):
        prune(client, key)
    assert work(client) == 0
    assert [one.key for one in client.levels(outputs(source)[1]).levels] == [*outputs(source)]
    assert [one.key for one in client.levels(outputs(first)[0]).levels] == [
        *(key for key in grown[first] if key not in (known[0], known[2])),
        *outputs(first),
    ]
    client.restore([known[2]])
    assert work(client) == 0
    assert known[2] in {one.key for one in client.levels(outputs(first)[0]).levels}
    # It goes with what is forgotten though it was pruned; the hold that undo gave would keep it.
    for key in keys:
        change(client, key, hold_until=None)
    assert not client.forget(Request(keys=(source, known[0]))).held
    assert work(client) == 2
    assert {*parts(client)} == {known[1]}
    assert run(client, "MATCH (n:Curated|Tombstone) WHERE n.key IN $keys RETURN n.key AS key", keys=keys) == []
