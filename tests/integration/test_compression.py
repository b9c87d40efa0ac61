"""Shortening long memories of the archive: who is, what it leaves, what stops it, and that it comes back
(docs/reference/compression.md)."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TestServer, say_go
from tests.unit.stub_chat import Answer, stub_server
from tests.work import work_of
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.compile.policy_data import policy_data
from jochi.operate.work import status
from jochi.policy import load_policy
from jochi.text.content import content_hash
from jochi.text.tokens import Estimate
from jochi_workers.derive.compress import CompressHandler, Rejected, Summary
from jochi_workers.derive.compress.extractive import ExtractiveSummariser
from jochi_workers.derive.compress.model_summariser import ModelSummariser, instructions
from jochi_workers.models import Model
from jochi_workers.queue import Queue, retry
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, tzinfo=timezone.utc)
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
TEXT = "\n".join(
    ["Ann: On 8 May 2026 we moved web-03 to the rack in Berlin."]
    + [
        f"Bob: It was a rather quiet afternoon and we talked about this and that, {word}ly."
        for word in ("slow", "calm", "glad", "quiet", "happi", "warm", "kind", "soft", "gent", "free", "open", "mild")
    ]
    + ["Ann: The rack in Berlin holds 42 servers and web-03 is the last of 42 servers."] * 2
    + ["Bob: Afterwards there was some talk about the weather and how the garden was coming along in the rain."] * 12
)


def put(client: Jochi, id: str, kind: str = "CompressedContext", **properties: Any) -> str:
    given = {
        "key": f"s/{id}",
        "id": id,
        "scope": "s",
        "tier": "ARCHIVE",
        "content": TEXT,
        "content_hash": content_hash(TEXT),
        "token_count": 700,
        "token_counter": "estimate:chars/4",
        "created_at": NOW - 100 * DAY,
        "revision": 3,
        "embedding": [0.5] * 384,
        "embedding_model": "all-MiniLM-L6-v2-int8",
        "embedding_hash": "h",
        "compression_level": "full" if kind == "CompressedContext" else None,
    } | properties
    client.database.run(f"CREATE (m:Curated:{kind}) SET m = $given", {"given": given})
    return f"s/{id}"


def look(client: Jochi, key: str) -> dict[str, Any]:
    [row] = client.database.run("MATCH (m:Curated {key: $key}) RETURN properties(m) AS p", {"key": key}, write=False)
    return dict(row["p"])


def queue(client: Jochi, now: datetime = NOW, **asks: Any) -> Queue:
    return Queue(client.engine, "compress", clock=lambda: now, asks=asks)


def leased(client: Jochi, now: datetime = NOW, limit: int = 100, **asks: Any) -> list[str]:
    return sorted(row["key"] for row in queue(client, now, **asks).lease(limit).rows)


class Says:
    """A model that says what it is told to, and counts what it is asked."""

    name, model, paid, fixed, prompt, overhead = "stub", "m", True, False, "v1", 4_000

    def __init__(self, *answers: Summary | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.most: list[int] = []

    def summarise(self, text: str, most_tokens: int) -> Summary:
        self.asked.append(text)
        self.most.append(most_tokens)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@cache
def good() -> str:
    """A summary that passes; not at import, which each worker does."""
    return ExtractiveSummariser(Estimate()).summarise(TEXT, len(TEXT) // 8).text


def work(client: Jochi, provider: Any = None, now: datetime = NOW) -> dict[str, Any]:
    """One lease, handled and stored as the worker does."""
    handler = CompressHandler(
        provider or ExtractiveSummariser(Estimate()), client.policy.policy.compression, Estimate()
    )
    asked = queue(client, now, **handler.asks)
    batch = asked.lease(handler.most)
    outcome = handler.handle(batch.rows)
    done = asked.finish(batch, outcome.done)
    failed = asked.fail(batch, outcome.failed, outcome.spent)
    left = {r.key for r in outcome.done} | outcome.failed.keys()
    asked.release(batch, [row["key"] for row in batch.rows if row["key"] not in left], outcome.spent)
    return {
        "done": done.done,
        "outdated": done.outdated,
        "failed": dict(outcome.failed),
        "quarantined": failed.quarantined,
        "held": batch.held,
        "leased": len(batch.rows),
    }


@pytest.fixture
def client(jochi: Jochi) -> Jochi:
    say_go(jochi)
    return jochi


def test_the_original_gives_way_and_comes_back_to_the_letter(client: Jochi) -> None:
    key = put(client, "a", needs_compression=True)
    before = look(client, key)
    done = {"done": 1, "outdated": 0, "failed": {}, "quarantined": (), "held": None, "leased": 1}
    assert work(client) | {"held": None} == done
    after = look(client, key)
    assert after["content"] != TEXT
    assert after["token_count"] == Estimate().count(after["content"]) <= Estimate().count(TEXT) / 2
    assert after["content_hash"] == after["compressed_hash"] == content_hash(after["content"])
    assert (after["compression_level"], after["revision"], after["compressed_by"]) == ("summary", 4, "extractive")
    assert after["prepare_due"] is not None
    assert not {"embedding", "embedding_hash", "needs_compression"} & after.keys()
    [audit] = client.database.run(
        "MATCH (a:CurationAudit {key: $key})-[k:KEEPS]->(s:CurationSnapshot) WITH a, k, s ORDER BY k.role "
        "RETURN properties(a) AS a, collect(k.role) AS roles, collect(s.content) AS contents",
        {"key": key},
    )
    assert (
        audit["a"].items()
        >= {
            "action": "compress",
            "rule": "compression.archive",
            "scope": "s",
            "kind": "CompressedContext",
            "tokens_before": 700,
            "policy": client.policy.label,
        }.items()
    )
    assert audit["roles"] == ["after", "before"]
    assert audit["contents"] == [after["content"], TEXT]
    assert leased(client, NOW + DAY) == [], "a summary isn't summarised again"

    assert [one.outcome for one in client.decompress([key], dry_run=True, now=NOW)] == ["would_decompress"]
    assert look(client, key) == after
    [result] = client.decompress([key], now=NOW + MINUTE)
    assert (result.outcome, result.tokens, result.changed) == ("decompressed", 700, ())
    again = look(client, key)
    ours = {"revision", "hold_until", "next_due", "last_curated_at", "curation_action", "prepare_due"}
    assert {n: v for n, v in again.items() if n not in ours} == {n: v for n, v in before.items() if n not in ours}
    assert again["revision"] == 5
    assert leased(client, NOW + 29 * DAY) == [], "held"
    assert leased(client, NOW + 31 * DAY) == [key]
    assert [one.outcome for one in client.decompress([key, "s/none"], now=NOW)] == ["not_compressed", "not_found"]
    [left] = client.database.run("MATCH (s:CurationSnapshot) RETURN count(*) AS n")
    assert left["n"] == 0


SHORTENED: list[tuple[dict[str, Any], bool]] = [
    ({"token_count": 500}, False), ({"token_count": 501}, True), ({"token_count": None}, False),
    ({"token_count": "700"}, False), ({"tier": "COLD"}, False), ({"compression_level": "summary"}, False),
    ({"compression_level": None}, True), ({"pinned": True}, False), ({"pinned": "no"}, False),
    ({"ttl_policy": "keep_forever"}, False), ({"hold_until": NOW + MINUTE}, False), ({"hold_until": NOW - MINUTE}, True),
    ({"locked_by": "ann", "locked_at": NOW}, False), ({"created_at": NOW - timedelta(hours=23)}, False),
    ({"created_at": NOW - timedelta(hours=25)}, True), ({"created_at": None}, False),
    ({"agents": ["a", "b", "c", "d"]}, False), ({"quarantined_until": NOW + MINUTE}, False),
    ({"content": 5}, False), ({"kind": "Belief", "state": "archived"}, False), ({"kind": "MemoryEntry"}, True),
    ({"tombstone": True}, False), ({"kind": "MemoryEntry", "compressed_hash": content_hash(TEXT)}, False),
    ({"kind": "MemoryEntry", "compressed_hash": "of another"}, True),
]  # fmt: skip


def test_who_is_shortened(client: Jochi) -> None:
    keys = [put(client, f"m{i}", **properties) for i, (properties, _taken) in enumerate(SHORTENED)]
    assert leased(client) == sorted(key for key, (_properties, taken) in zip(keys, SHORTENED, strict=True) if taken)


BETWEEN = (
    "SET m.content = 'another'", "SET m.pinned = true", "SET m.tier = 'HOT'",
    "SET m.hold_until = datetime('2027-01-01T00:00Z')", "SET m.locked_by = 'ann', m.locked_at = $now",
    "CREATE (:JochiAccess {key: m.key})", "CREATE (:JochiPause {key: 'scope/' + m.scope})", "SET m.tombstone = true",
)  # fmt: skip


def test_what_happens_between_wins(client: Jochi) -> None:
    keys = [f"s{i}/m" for i in range(len(BETWEEN) + 2)]
    for i, key in enumerate(keys):
        put(client, "m", key=key, scope=f"s{i}")
    handler = CompressHandler(ExtractiveSummariser(Estimate()), client.policy.policy.compression, Estimate())
    some = queue(client)
    batch, later = some.lease(len(keys) - 1), some.lease(1)
    done = handler.handle(batch.rows).done
    [row] = later.rows
    spared, *changed = sorted(r["key"] for r in batch.rows)
    assert {spared, *changed, row["key"]} == set(keys)
    for key, change in zip(changed, BETWEEN, strict=True):
        client.database.run(f"MATCH (m:Curated {{key: $key}}) {change}", {"key": key, "now": NOW})
    before = {key: look(client, key) for key in changed}
    finished = queue(client).finish(batch, done)
    assert (finished.done, finished.outdated) == (1, len(BETWEEN))
    assert {key: look(client, key) for key in changed} == before
    [left] = client.database.run("MATCH (s:CurationSnapshot)<-[:KEEPS]-(a) RETURN collect(DISTINCT a.key) AS keys")
    assert left["keys"] == [spared]
    client.database.run("MATCH (p:JochiPump) SET p.applied_at = null")
    finished = queue(client).finish(later, handler.handle(later.rows).done)
    assert (finished.done, finished.outdated, look(client, row["key"])["content"]) == (0, 1, TEXT)


def test_nothing_before_somebody_said_go(jochi: Jochi) -> None:
    put(jochi, "a")
    assert work(jochi)["held"] == "nothing is compressed before `jochi apply`"
    worker = Worker(
        jochi.engine, [CompressHandler(ExtractiveSummariser(Estimate()), jochi.policy.policy.compression, Estimate())]
    )
    worker.run(once=True)
    assert worker.progress["compress"].note == "nothing is compressed before `jochi apply`", "and it ends"
    say_go(jochi)
    jochi.database.run("MATCH (p:JochiPump) SET p.enabled = false")
    assert work(jochi)["held"] == "the engine is paused"
    jochi.database.run("MATCH (p:JochiPump) SET p.enabled = true")
    assert work(jochi)["done"] == 1


def test_so_many_a_cycle(client: Jochi) -> None:
    for n in range(12):
        put(client, f"m{n:02}", token_count=700 + n, needs_compression=True if n == 3 else None)
    assert leased(client, limit=1) == ["s/m03"], "what its score asks for comes first"
    assert leased(client, limit=1) == ["s/m11"], "then the longest"
    assert len(leased(client)) == 8
    assert queue(client).lease(5).held == "what may be done in this cycle is done"
    assert len(leased(client, NOW + 5 * MINUTE)) == 10, "the lease is over"


def test_a_lease_is_one_workers_alone_and_runs_out(client: Jochi) -> None:
    key = put(client, "a")
    first = queue(client).lease(1)
    assert leased(client, NOW + MINUTE) == []
    late = NOW + 5 * MINUTE
    assert leased(client, late) == [key]
    handler = CompressHandler(ExtractiveSummariser(Estimate()), client.policy.policy.compression, Estimate())
    finished = queue(client, late).finish(first, handler.handle(first.rows).done)
    assert (finished.done, finished.outdated, look(client, key)["content"]) == (0, 1, TEXT)


def test_a_summary_that_fails_its_checks_is_counted_tried_again_and_put_aside(client: Jochi) -> None:
    key = put(client, "a")
    says = Says(Summary("Ann moved.", 10, 5))
    moment = NOW
    for n in (1, 2, 3):
        result = work(client, says, moment)
        assert result["failed"] == {key: "lost number"}
        assert result["quarantined"] == ((key,) if n == 3 else ())
        moment += timedelta(hours=1)
    assert look(client, key)["content"] == TEXT
    assert work(client, says, moment)["leased"] == 0
    left = status(client.engine, moment)["compress"]
    assert (left.put_aside, left.rejected, spent(client, moment)) == (1, {"lost number": 3}, (3, 30, 15))
    assert retry(client.engine, moment) == 1
    assert work(client, Says(Summary(good(), 10, 5)), moment + timedelta(minutes=5))["done"] == 1


def test_what_always_fails_alike_is_tried_once(client: Jochi) -> None:
    key = put(client, "a", content="word " * 700)
    assert work(client)["quarantined"] == (key,)


LONG = "word " * 6_000


def test_tokens_are_reserved_settled_and_capped(client: Jochi) -> None:
    for id in "ab":
        put(client, id, content=LONG, token_count=6_000)
    paid = {"paid": True, "overhead": 400}
    batch = queue(client, **paid).lease(5)
    assert len(batch.rows) == 1, "one of them alone fits into 50,000 tokens"
    assert batch.rows[0]["charge"]["tokens_in"] == 30_400
    assert batch.rows[0]["charge"]["tokens_out"] == 3_000
    assert queue(client, **paid).lease(5).held == "the tokens or the money of this cycle are used up"
    queue(client).release(batch)
    assert spent(client) == (0, 0, 0)
    again = queue(client, **paid).lease(5)
    queue(client).fail(
        again, {again.rows[0]["key"]: "cut off"}, {again.rows[0]["key"]: {"used_in": 100, "used_out": 7}}
    )
    assert spent(client) == (1, 100, 7)
    assert len(queue(client, **paid).lease(5).rows) == 1
    assert len(leased(client)) == 0, "what costs nothing is never too dear, but here all are leased"


def spent(client: Jochi, now: datetime = NOW) -> tuple[int, int, int]:
    """What the day has asked for so far: memories, tokens sent, tokens received."""
    today = status(client.engine, now)["compress"].spent or {}
    return today["items"], today["tokens_in"], today["tokens_out"]


@pytest.mark.parametrize(("overhead", "rows"), [(400, 2), (401, 1)])
def test_up_to_the_cap_and_no_further(client: Jochi, overhead: int, rows: int) -> None:
    """Two of 20,000 bytes and 4,600 tokens that they may become are 2 × 400 short of it."""
    for id in "ab":
        put(client, id, content="word " * 4_000, token_count=9_200)
    held = queue(client, paid=True, overhead=overhead)
    assert len(held.lease(5).rows) == rows
    assert spent(client)[1:] == (rows * (20_000 + overhead), rows * 4_600)
    assert spent(client)[1] + spent(client)[2] <= client.policy.policy.compression.cycle_tokens


@pytest.mark.slow
def test_twenty_workers_do_not_overspend_together(client: Jochi) -> None:
    for i in range(40):
        put(client, f"m{i:02}", content="word " * 4_000, token_count=9_200)
    start = threading.Barrier(20)

    def ask(_worker: int) -> int:
        start.wait()
        return len(queue(client, paid=True, overhead=400).lease(1).rows)

    with ThreadPoolExecutor(20) as pool:
        taken = list(pool.map(ask, range(20)))
    assert sum(taken) == 2
    assert spent(client) == (2, 2 * 20_400, 2 * 4_600), "50,000 are just enough for two"
    assert status(client.engine, NOW)["compress"].waiting == 38


def capped(client: Jochi, **caps: Any) -> dict[str, Any]:
    """What a paid worker is told under the client's policy with other caps."""
    data = policy_data(client.policy.policy)
    data["derive"]["compress"] |= caps
    return {"paid": True, "overhead": 400, "p": data}


def test_one_scope_does_not_use_up_what_all_have(client: Jochi) -> None:
    for scope in ("s", "t"):
        for i in range(3):
            put(client, f"{scope}{i}", key=f"{scope}/{i}", scope=scope, content="word " * 400, token_count=700)
    one = 2_400 + 350
    asked = capped(client, scope_tokens=2 * one)
    assert leased(client, **asked) == ["s/0", "s/1", "t/0", "t/1"]
    assert leased(client, NOW + MINUTE, **asked) == [], "they wait for another day"
    assert [key[0] for key in leased(client, NOW + DAY, **asked)] == ["s", "s", "t", "t"], "the day before is over"
    short = capped(client, scope_tokens=2 * one - 1)
    assert len(leased(client, NOW + 2 * DAY, **short)) == 2


def test_so_many_a_minute(client: Jochi) -> None:
    for i in range(5):
        put(client, f"m{i}")
    asked = capped(client, per_minute=2)
    assert len(leased(client, **asked)) == 2
    assert (
        queue(client, NOW + timedelta(seconds=59), **asked).lease(5).held == "what may be done in this minute is done"
    )
    assert len(leased(client, NOW + MINUTE, **asked)) == 2


FAMILY = "\U0001f468\u200d\U0001f469"
TEXTS = ("word ", "\u00e4\u00df ", "\u201cyes\u201d ", "\u65e5\u672c\u8a9e", FAMILY)


def test_what_is_reserved_surely_covers_a_request(client: Jochi) -> None:
    """Whatever language it is in: by its bytes, which no tokenizer makes more tokens of."""
    sizes = {
        put(client, f"m{i}", content=t * 200, token_count=600): len((t * 200).encode()) for i, t in enumerate(TEXTS)
    }
    handler = CompressHandler(Says(Summary("x")), client.policy.policy.compression, Estimate())
    rows = queue(client, **handler.asks).lease(5).rows
    assert {row["key"] for row in rows} == sizes.keys()
    for row in rows:
        size = sizes[row["key"]]
        assert size <= row["charge"]["tokens_in"] - Says.overhead <= 2 * size
        # And no more is asked for than that, however the worker counts.
        handler.handle([{**row, "charge": {**row["charge"], "tokens_out": 3}}])
    assert handler.provider.most == [3] * 5  # type: ignore[attr-defined]


def test_what_a_whole_cap_may_not_be_enough_for_stops_no_other(client: Jochi) -> None:
    big = put(client, "big", content="word " * 12_000, token_count=12_000)
    huge = put(client, "huge", content="word " * 40_000, token_count=40_000)
    small = put(client, "small")
    batch = queue(client, paid=True, overhead=400).lease(5)
    assert [row["key"] for row in batch.rows] == [small]
    assert batch.dropped == 2
    assert leased(client, NOW + DAY + MINUTE) == [big, huge, small], "what takes no tokens takes them"


def test_a_reservation_is_settled_once(client: Jochi) -> None:
    """A worker that loses its connection doesn't know whether it was, and says it again."""
    put(client, "a")
    asked = queue(client, paid=True, overhead=400)
    first, used = asked.lease(5), {"s/a": {"used_in": 100, "used_out": 7}}
    for _ in range(3):
        asked.fail(first, {"s/a": "cut off"}, used)
        asked.release(first, ["s/a"], used)
    assert spent(client) == (1, 100, 7)
    second = queue(client, NOW + DAY, paid=True, overhead=400).lease(5)
    for _ in range(2):
        asked.release(second)
    assert spent(client, NOW + DAY) == (0, 0, 0)
    assert spent(client) == (1, 100, 7)


def test_a_worker_that_is_ended_while_it_asks_leaves_what_it_may_have_cost(client: Jochi) -> None:
    put(client, "a")

    class Ended(Says):
        def summarise(self, text: str, most_tokens: int) -> Summary:
            raise KeyboardInterrupt

    handler = CompressHandler(Ended(), client.policy.policy.compression, Estimate())
    with pytest.raises(KeyboardInterrupt):
        Worker(client.engine, [handler]).run(once=True)
    left = status(client.engine)["compress"]
    assert left.spent is not None
    assert left.spent["tokens_in"] >= len(TEXT)
    assert (left.waiting, left.later) == (1, 0), "it is given back"


def test_another_content_written_since_stays(client: Jochi) -> None:
    key = put(client, "a")
    assert work(client)["done"] == 1
    client.database.run("MATCH (m:Curated {key: $key}) SET m.content = 'mine'", {"key": key})
    before = look(client, key)
    assert [one.outcome for one in client.decompress([key], now=NOW)] == ["changed"]
    assert look(client, key) == before


def test_what_was_taken_back_already_is_as_before_for_an_undo(client: Jochi) -> None:
    keys = [put(client, one) for one in ("a", "b")]
    assert work(client)["done"] == 2
    client.decompress([keys[0]], now=NOW)
    run = f"compress/{NOW:%Y-%m-%dT%H:%M:%SZ}"
    assert client.undo(run, dry_run=True, now=NOW).counts == {"as_before": 1, "undone": 1}
    assert client.undo(run, now=NOW).counts == {"as_before": 1, "undone": 1}


def rewritten(client: Jochi, key: str) -> str:
    """Its app writes another long content, which is shortened as well."""
    text = TEXT.replace("Berlin", "Munich")
    client.database.run(
        "MATCH (m:Curated {key: $key}) SET m.content = $text, m.content_hash = $hash, m.token_count = 700, "
        "m.compression_level = 'full'",
        {"key": key, "text": text, "hash": content_hash(text)},
    )
    return text


@pytest.mark.parametrize("later", [MINUTE, 10 * MINUTE], ids=["in one run", "in two runs"])
def test_an_undo_takes_back_the_compression_of_its_run_and_no_later_one(client: Jochi, later: timedelta) -> None:
    key = put(client, "a")
    assert work(client)["done"] == 1
    text = rewritten(client, key)
    assert work(client, now=NOW + later)["done"] == 1
    short = look(client, key)
    rows = client.database.run("MATCH (a:CurationAudit {action: 'compress'}) RETURN a.run AS run ORDER BY a.at")
    first, second = (row["run"] for row in rows)
    if first != second:
        for dry in (True, False):
            done = client.undo(first, dry_run=dry, now=NOW + DAY)
            assert [(row.key, row.outcome) for row in done.rows] == [(key, "no_record")]
        assert look(client, key) == short
    for dry in (True, False):
        assert client.undo(second, dry_run=dry, now=NOW + DAY).counts == (
            {"undone": 1} if first != second else {"undone": 1, "no_record": 1}
        )
    assert look(client, key)["content"] == text


def test_what_a_compression_leaves_when_it_is_taken_back_is_named(client: Jochi) -> None:
    key = put(client, "a")
    work(client)
    client.database.run("MATCH (m:Curated {key: $key}) SET m.compression_level = 'keywords'", {"key": key})
    done = client.undo(f"compress/{NOW:%Y-%m-%dT%H:%M:%SZ}", now=NOW)
    assert (done.counts, done.left) == ({"partly": 1}, 1)
    assert [(row.key, row.outcome, row.changed) for row in done.rows] == [(key, "partly", ("compression_level",))]


def test_a_hold_is_made_longer_and_never_shorter(client: Jochi) -> None:
    longest = NOW + 300 * DAY
    holds = {None: NOW + 30 * DAY, NOW + DAY: NOW + 30 * DAY, longest: longest, "for ever": "for ever"}
    keys = {put(client, f"m{i}"): hold for i, hold in enumerate(holds)}
    work(client)
    for key, hold in keys.items():
        client.database.run("MATCH (m:Curated {key: $key}) SET m.hold_until = $hold", {"key": key, "hold": hold})
    assert [one.outcome for one in client.decompress(list(keys), now=NOW)] == ["decompressed"] * 4
    assert [look(client, key)["hold_until"] for key in keys] == list(holds.values())


def test_a_cycle_is_undone_like_any_run_and_its_record_outlasts_the_time_of_records(client: Jochi) -> None:
    keys = [put(client, one) for one in ("a", "b", "c")]
    before = {key: look(client, key) for key in keys}
    assert work(client)["done"] == 3
    [[run]] = [
        list(row.values())
        for row in client.database.run("MATCH (a:CurationAudit {action: 'compress'}) RETURN DISTINCT a.run")
    ]
    assert run == f"compress/{NOW:%Y-%m-%dT%H:%M:%SZ}"
    listed = next(found for found in client.runs() if found.job == "compress")
    (shown,) = client.runs(run)
    assert (listed.id, listed.scanned, listed.changed, dict(listed.counts)) == (run, 3, 3, {"compressed": 3})
    assert (listed.errors, listed.seconds, listed.policy, listed.status) == (0, 0, client.policy.label, "ok")
    assert listed.version is not None
    was, left = sum(before[key]["token_count"] for key in keys), sum(look(client, key)["token_count"] for key in keys)
    assert (listed.tokens_before["ARCHIVE"], listed.tokens_after["ARCHIVE"]) == (was, left)
    assert sum(listed.tokens_before.values()) == was
    assert [(done.action, done.n, done.keys) for done in shown.done] == [("compress", 3, tuple(keys))]
    # Nobody else has the long content: the record stays as long as it is needed.
    client.run("expire_audit", now=NOW + 400 * DAY)
    assert len(client.database.run("MATCH (a:CurationAudit {action: 'compress'})-[:KEEPS]->(s) RETURN s")) == 6
    client.database.run("MATCH (m {key: 's/b'}) SET m.content = 'another', m.content_hash = 'x'")

    would = client.undo(run, dry_run=True, now=NOW + DAY)
    done = client.undo(run, now=NOW + DAY)
    assert would.counts == done.counts == {"undone": 2, "conflict": 1}
    assert [(row.key, row.outcome, row.changed) for row in done.rows] == [("s/b", "conflict", ("content",))]
    for key in ("s/a", "s/c"):
        after = look(client, key)
        assert {
            name: after.get(name)
            for name in ("content", "content_hash", "token_count", "embedding", "compression_level")
        } == {
            name: before[key].get(name)
            for name in ("content", "content_hash", "token_count", "embedding", "compression_level")
        }
        assert after["hold_until"] == NOW + DAY + client.policy.policy.rails.hold
    assert client.undo(run, now=NOW + DAY).counts == {"conflict": 1}
    assert [row.outcome for row in client.undo(done.run or "", now=NOW + DAY).rows] == [
        "compress_again",
        "compress_again",
    ]
    # Now the records of what came back may go, and only these.
    client.run("expire_audit", now=NOW + 400 * DAY)
    left = client.database.run("MATCH (a:CurationAudit {action: 'compress'}) RETURN a.key AS key")
    assert [row["key"] for row in left] == ["s/b"]


def test_a_kind_with_a_name_of_its_own_for_its_content(client: Jochi) -> None:
    """No such kind is compressed in the shipped policy; the statement reads the name where it writes it."""
    text = client.engine.text("derive/compress/store")
    assert "WHEN m:Ticket THEN 'body'" in text


def test_the_worker_takes_it_up(client: Jochi) -> None:
    """With the server's own clock, from lease to hash."""
    from jochi_workers.prepare import PrepareHandler

    key = put(client, "a")
    handler = CompressHandler(ExtractiveSummariser(Estimate()), client.policy.policy.compression, Estimate())
    worker = Worker(client.engine, [handler, PrepareHandler(Estimate())])
    worker.run(once=True)
    assert worker.progress["compress"].done == 1
    found: Mapping[str, Any] = look(client, key)
    assert found["compressed_at"] is not None
    assert work_of(client.database, key)["due"].year == 9999, "prepared; it only waits for exact tokens"
    assert found["content_hash"] == content_hash(found["content"])


def test_a_refusal_costs_what_was_reserved_where_nobody_counted(client: Jochi) -> None:
    key = put(client, "a")
    assert work(client, Says(Rejected("broken answer")))["failed"] == {key: "broken answer"}
    assert spent(client) == (1, len(TEXT) + Says.overhead, 350)


@pytest.mark.parametrize(("share", "rows"), [(2.001, 2), (1.999, 1), (0.999, 0)])
def test_money_is_capped(client: Jochi, tmp_path: Path, share: float, rows: int) -> None:
    """As a policy with prices renders it, with a cap of so many times what one of the memories may cost."""
    file = tmp_path / "policy.toml"
    cost = (len(TEXT) + 400) * 3e-6 + 350 * 15e-6
    prices = f"price_in = 3.0\nprice_out = 15.0\nday_money = {share * cost}"
    file.write_text(f"[policy]\nname = 'p'\nextends = 'default'\n[compression]\n{prices}\n", encoding="utf-8")
    data = policy_data(load_policy(file).policy)
    for id in "abc":
        put(client, id)
    asked = queue(client, paid=True, overhead=400, p=data)
    batch = asked.lease(10)
    assert (len(batch.rows), batch.dropped) == (rows, 0 if rows else 3)
    assert asked.lease(10).held == ("the tokens or the money of this day are used up" if rows else None)
    told = client.engine.call("work/status", {"now": NOW, "most": 100, "looked": 100, "p": data}, write=False)[
        "derivations"
    ]
    assert [each["money"] for each in told if each["name"] == "compress"] == [pytest.approx(rows * cost)]


PROMPT = "Shorten what stands between {{ fence }} and {{ fence }} to {{ words }} words."


def test_a_prompt_of_ones_own_is_told_and_is_on_record(
    client: Jochi, tmp_path: Path, server: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by the commands that look at one piece of work, which store nothing."""
    for name in ("uri", "user", "password"):
        monkeypatch.setenv(f"JOCHI_{name.upper()}", getattr(server, name))
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "compress.md.j2").write_text(PROMPT)
    key = put(client, "a")
    put(client, "short", token_count=3)
    with stub_server() as stub:
        stub.script = [Answer(good()), Answer("On 8 May"), Answer(good())]
        options = ["--provider", "openai", "--model", "m", "--base-url", f"{stub.url}/v1"]
        shown = told("derive", "show", "compress", key, "--json")
        assert (shown["inputs"]["content"], shown["output"], stub.requests) == (TEXT, {"type": "string"}, [])
        assert shown["prompt"]["version"] == instructions().version
        assert "at most 210 words" in shown["prompt"]["text"]
        put(client, "colour", content=f"\x1b[31m[red]{TEXT}")
        red = CliRunner().invoke(app, ["derive", "show", "compress", "s/colour"]).output
        assert "content: \N{REPLACEMENT CHARACTER}[31m[red]Ann: On 8 May 2026 we moved" in red
        assert "at most 210 words" in red
        before = look(client, key)
        assert told("derive", "try", "compress", key, *options, "--json")["output"]["summary"] == good()
        assert told("derive", "try", "compress", key, *options, "--json")["rejected"] == "lost number"
        assert told("derive", "try", "prepare", key, "--json")["output"]["content_hash"] == content_hash(TEXT)
        plain = CliRunner().invoke(app, ["derive", "try", "compress", key]).output
        assert "nothing was stored" in plain
        assert "Ann: On 8 May 2026 we moved web-03 to the rack in Berlin." in plain
        assert (look(client, key), client.database.run("MATCH (w:JochiWork|JochiSpent) RETURN w")) == (before, [])
        client.database.run("MATCH (m {key: 's/colour'}) DELETE m")
        own = instructions(str(folder))
        model = ModelSummariser(Model("openai", "m", base_url=f"{stub.url}/v1"), own)
        assert work(client, model)["done"] == 1
        assert "Shorten what stands between ======" in str(stub.requests[-1])
    [record] = client.database.run("MATCH (a:CurationAudit {key: $key}) RETURN a.prompt AS prompt", {"key": key})
    assert record["prompt"] == own.version != instructions().version
    for arguments, said in (
        (["show", "compress"], "no compress waits for its turn"),
        (["show", "compress", "s/short"], "there is nothing to compress"),
        (["try", "judge", "s/none"], "there is nothing to judge"),
        (["show", "nothing"], "there is no derivation"),
        (["try", "embed", key], "can't be tried alone"),
        (["try", "prepare", key, "--model", "m"], "takes no provider"),
    ):
        refused = CliRunner().invoke(app, ["derive", *arguments])
        assert refused.exit_code != 0
        assert said in refused.output + str(refused.exception)


def told(*arguments: str) -> Any:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)
