"""The worker's queue of pairs, and what people decide over them (docs/reference/duplicates.md)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TestServer
from tests.duplicate_pairs import LATER, NOON, Pairs, at_cosine
from tests.work import work_of
from typer.testing import CliRunner

from jochi.cli.app import app
from jochi.curate.duplicates import PairToDecide
from jochi.errors import Refused, UsageError
from jochi.operate.check import Level
from jochi.operate.checks_memories import check_duplicates
from jochi.operate.work import status
from jochi.text.content import text_hash
from jochi_workers.guard import GUARD_VERSION, Ruling
from jochi_workers.judge import JudgeHandler
from jochi_workers.worker import Worker

LEASE = timedelta(minutes=2)
SECOND = timedelta(seconds=1)
MERGE, VETO = Ruling("merge", ()), Ruling("veto", ("number", "name"))


def test_a_pair_is_leased_to_one_alone_and_comes_back(pairs: Pairs, pair: tuple[str, str]) -> None:
    first = pairs.queue().lease()
    row = first.rows[0]
    assert (row["start"], row["end"], row["left"], row["right"]) == (*pair, "Text of a in s", "Text of b in s")
    assert (row["scope"], row["kind"], row["unknown"]) == ("s", "Belief", None)
    assert row["score"] == pytest.approx(0.97, abs=1e-6)
    assert not pairs.queue(NOON + LEASE - SECOND).lease().rows
    second = pairs.queue(NOON + LEASE).lease()  # the first worker was killed
    assert len(second.rows) == 1
    done = JudgeHandler(lambda *_, **__: MERGE).handle(first.rows).done
    assert pairs.queue(NOON + LEASE).finish(first, done).outdated == 1
    assert "verdict" not in pairs.flag(*pair)
    assert pairs.queue(NOON + LEASE).finish(second, done).done == 1
    assert pairs.flag(*pair)["verdict"] == "merge"


def test_what_a_ruling_leaves(pairs: Pairs, pair: tuple[str, str]) -> None:
    assert pairs.judge(VETO).done == 1
    flag = pairs.flag(*pair)
    assert (flag["verdict"], flag["reasons"], flag["guard"], flag["judged_at"]) == (
        "veto",
        ["number", "name"],
        "g 01",
        NOON,
    )
    assert flag["start_text"] == text_hash("Text of a in s")
    assert flag["end_text"] == text_hash("Text of b in s")
    assert not flag.keys() & {"merge_due", "judge_due"}
    assert not pairs.queue().lease().rows


UNKNOWN: list[tuple[Any, Any, float | None, str]] = [
    (0.0, 0.0, 0.0, "merge"),
    (0.1, 0.3, 0.3, "merge"),
    (0.31, 0, 0.31, "flag"),
    # Nobody knows: never as if all were known.
    (None, None, None, "flag"),
    (0.0, None, None, "flag"),
    (None, 0.2, None, "flag"),
    ("0.0", 0.0, None, "flag"),
    (float("nan"), 0.0, None, "flag"),
]


def test_how_much_of_a_pair_the_model_could_read_is_told(pairs: Pairs) -> None:
    for i, (left, right, _greater, _verdict) in enumerate(UNKNOWN):
        pairs.add("a", 1.0, "Anna has 5 dogs.", scope=f"s{i}", embedding_unknown=left)
        pairs.add("b", 0.97, "Anna has five dogs.", scope=f"s{i}", embedding_unknown=right)
        pairs.add("c", 0.96, "anna has 5 dogs", scope=f"s{i}", embedding_unknown=left)
    pairs.find()
    queue = pairs.queue()
    batch = queue.lease(100)
    shares = {(row["start"], row["end"]): row["unknown"] for row in batch.rows}
    queue.finish(batch, JudgeHandler().handle(batch.rows).done)
    flags = pairs.flags()
    for i, (left, _right, greater, verdict) in enumerate(UNKNOWN):
        assert shares[f"s{i}/a", f"s{i}/b"] == greater
        assert flags[f"s{i}/a", f"s{i}/b"]["verdict"] == verdict
        # The same words need no vector to say so; but those of a text that the model doesn't know are never merged.
        assert flags[f"s{i}/a", f"s{i}/c"]["verdict"] == ("flag" if left == 0.31 else "merge")


def test_the_text_hash_is_the_servers(pairs: Pairs) -> None:
    for text in ("Grüße – 東京 😀", "", "a\nb"):
        row = pairs.client.database.run("RETURN apoc.util.sha256([$text]) AS h", {"text": text}, write=False)[0]
        assert row["h"] == text_hash(text)


@pytest.mark.parametrize("end", [0, 1])
def test_a_content_that_changed_meanwhile_is_judged_again(pairs: Pairs, pair: tuple[str, str], end: int) -> None:
    queue = pairs.queue()
    batch = queue.lease()
    text = "MATCH (m {key: $key}) SET m.content = 'new'"
    pairs.client.database.run(text, {"key": pair[end]})
    finished = queue.finish(batch, JudgeHandler(lambda *_, **__: MERGE).handle(batch.rows).done)
    assert (finished.done, finished.outdated) == (0, 1)
    assert not pairs.flag(*pair).keys() & {"verdict", "merge_due"}
    assert queue.lease().rows[0][("left", "right")[end]] == "new"


def test_what_is_gone_leaves_the_queue(pairs: Pairs) -> None:
    changes = {
        "tombstone": "REMOVE m:Curated:Belief SET m:Tombstone, m.tombstone = true",
        "archived": "SET m.state = 'archived', m.similar_due = $now",
        "no content": "REMOVE m.content",
    }
    for scope in changes:
        pairs.add("a", 1.0, scope=scope)
        pairs.add("b", 0.97, scope=scope)
    pairs.find()
    for scope, change in changes.items():
        pairs.client.database.run(f"MATCH (m {{key: $key}}) {change}", {"key": f"{scope}/b", "now": NOON})
    pairs.find()
    assert not pairs.queue().lease().rows
    assert set(pairs.flags()) == {("no content/a", "no content/b")}
    assert not pairs.queue().lease().rows


def test_failures_wait_longer_and_end(pairs: Pairs, pair: tuple[str, str]) -> None:
    moment = NOON
    waits = []
    for _ in range(20):
        queue = pairs.queue(moment)
        batch = queue.lease()
        if not batch.rows:
            break
        failed = queue.fail(batch, {batch.rows[0]["key"]: "ValueError"})
        assert failed.done == 1
        due = work_of(pairs.client.database, batch.rows[0]["key"], "judge").get("due")
        if due is None:
            assert failed.quarantined == (batch.rows[0]["key"],)
            break
        waits.append((due.to_native() if hasattr(due, "to_native") else due) - moment)
        moment += waits[-1]
    assert [wait.total_seconds() for wait in waits] == [30, 60, 120, 240, 480, 960, 1920]
    flag = pairs.flag(*pair)
    assert (flag["verdict"], flag["reasons"]) == ("flag", ["judge_failed"])
    assert not pairs.queue(moment + LEASE).lease().rows
    assert pairs.judge(VETO, moment, guard="g 02").done == 1, "a later judge tries again"


def test_release_gives_back(pairs: Pairs, pair: tuple[str, str]) -> None:
    queue = pairs.queue()
    batch = queue.lease()
    assert queue.release(batch) == 1
    assert queue.release(batch) == 0
    assert len(queue.lease().rows) == 1


def test_a_later_judge_judges_again(pairs: Pairs, pair: tuple[str, str]) -> None:
    pairs.add("c", content="One text")
    pairs.add("d", content="One text")
    pairs.add("e", -1.0)
    pairs.add("f", at_cosine(-0.9, pairs.dimensions))
    pairs.find()
    pairs.judge(MERGE)
    before = pairs.flags()
    assert not pairs.queue(LATER).lease().rows
    for earlier in ("a", "g 00"):
        assert not pairs.queue(LATER, earlier).lease().rows, "no earlier one"
    for guard in ("g 02", "t 01", "g 101", "a 9999999 1"):
        batch = pairs.queue(LATER, guard).lease()
        assert [(row["start"], row["end"]) for row in batch.rows] == [pair]
        assert not pairs.flag(*pair).keys() & {"merge_due", "verdict", "guard"}
        assert not pairs.queue(LATER, guard).lease().rows
        pairs.queue(LATER, guard).finish(batch, JudgeHandler(lambda *_, **__: VETO).handle(batch.rows).done)
        assert pairs.flag(*pair)["verdict"] == "veto"
    assert {k: v for k, v in pairs.flags().items() if k != pair} == {k: v for k, v in before.items() if k != pair}


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_what_a_person_decided_no_later_judge_undoes(pairs: Pairs, pair: tuple[str, str], decision: Any) -> None:
    pairs.judge(VETO)
    assert [d.outcome for d in pairs.client.decide_duplicates([pair], decision)] == [decision]
    # As unmerge leaves it, which decides as well.
    pairs.client.database.run("MATCH ()-[r:SIMILAR_TO]->() SET r.guard = 'g 00'")
    assert not pairs.queue(LATER, "g 99").lease().rows
    pairs.change(pair[0])
    pairs.find(LATER)
    flag = pairs.flag(*pair)
    assert (flag["decision"], "merge_due" in flag, "judge_due" in flag) == (decision, decision == "approved", False)


def test_a_merge_that_a_person_approved_needs_no_judge_again(pairs: Pairs) -> None:
    survivor = pairs.add("survivor", content="Ann lives in Rome", due=None)
    again = pairs.add("again", content="Ann's home is Rome")
    hashed = pairs.client.database.run("MATCH (m:Curated {key: $key}) RETURN m.content_hash AS h", {"key": again})[0][
        "h"
    ]
    pairs.client.database.run(
        "CREATE (:JochiMerged {seal: $seal, into: $into, text: $text, approved: true})",
        {"seal": f"s/Belief/{hashed}", "into": survivor, "text": text_hash("Ann's home is Rome")},
    )
    pairs.find()
    pairs.judge(VETO)
    assert (pairs.flag(again, survivor)["verdict"], pairs.flag(again, survivor)["reasons"]) == (
        "merge",
        ["merged_before"],
    )


def test_ten_workers_at_once_judge_each_pair_once(pairs: Pairs) -> None:
    for i in range(24):
        pairs.add(f"m{i:02}", at_cosine(0.999 - i * 1e-4, pairs.dimensions))
    pairs.find()
    waiting = [flag for flag in pairs.flags().values() if "judge_due" in flag]
    asked: list[str] = []
    lock = threading.Lock()

    def ruling(left: str, right: str, **_: Any) -> Ruling:
        with lock:
            asked.append(f"{left}|{right}")
        return MERGE

    def work(_: int) -> int:
        worker = Worker(pairs.client.engine, [JudgeHandler(ruling)], batch=7)
        worker.run(once=True)
        return worker.progress["judge"].done

    with ThreadPoolExecutor(10) as pool:
        done = sum(pool.map(work, range(10)))
    assert done == len(waiting) == len(asked) == len(set(asked)) > 100
    assert all(flag["guard"] == GUARD_VERSION for flag in pairs.flags().values())


def test_the_queue_is_shown(pairs: Pairs, pair: tuple[str, str]) -> None:
    queues = status(pairs.client.engine, NOON)
    assert (queues["judge"].waiting, queues["judge"].later) == (1, 0)
    pairs.queue().lease()
    queues = status(pairs.client.engine, NOON)
    assert (queues["judge"].waiting, queues["judge"].later) == (0, 1)


def test_pairs_are_listed_and_counted(pairs: Pairs) -> None:
    pairs.add("a", 1.0, "One text", scope="t", kind="Analysis")
    pairs.add("b", 0.97, "One text", scope="t", kind="Analysis")
    pairs.add("c", 1.0), pairs.add("d", 0.97), pairs.add("e", at_cosine(0.9, pairs.dimensions, 2))
    pairs.find()
    client = pairs.client
    found = client.duplicates()
    assert [(p.left, p.right, p.verdict) for p in found.pairs] == [
        ("t/a", "t/b", "merge"),
        ("s/c", "s/d", "waiting"),
        ("s/c", "s/e", "flag"),
        ("s/d", "s/e", "flag"),
    ]
    first = found.pairs[0]
    assert (first.left_content, first.right_content, first.same_text, first.scope) == (
        "One text",
        "One text",
        True,
        "t",
    )
    assert (first.kind, first.guard, first.merge_due, found.more) == ("Analysis", "same text", NOON, False)
    assert [p.left for p in client.duplicates(scope="t").pairs] == ["t/a"]
    assert [p.left for p in client.duplicates(kind="Analysis").pairs] == ["t/a"]
    assert len(client.duplicates(verdict="flag").pairs) == 2
    assert len(client.duplicates(reason="below_merge_threshold").pairs) == 2
    assert not client.duplicates(kind="Analysis", verdict="flag").pairs
    part = client.duplicates(limit=3)
    assert (part.pairs, part.more) == (found.pairs[:3], True)
    counts = client.count_duplicates()
    assert (counts.pairs, counts.to_merge, counts.judge_waiting) == (4, 1, 1)
    assert (counts.of("flag"), counts.of("flag", "below_merge_threshold"), counts.of("waiting"), counts.of("veto")) == (
        2,
        2,
        1,
        0,
    )
    assert client.count_duplicates(scope="t").pairs == 1
    pairs.judge(VETO)
    assert client.count_duplicates().of("veto", "name") == 1
    for wrong in ({"verdict": "maybe"}, {"limit": 0}, {"limit": 10_001}):
        with pytest.raises(UsageError):
            client.duplicates(**wrong)  # type: ignore[arg-type]


def test_merged_ones_are_listed_from_their_tombstones(pairs: Pairs) -> None:
    pairs.add("a", content="Ann lives in Rome", due=None)
    pairs.client.database.run(
        "CREATE (:Tombstone {key: 's/b', scope: 's', content: 'In Rome lives Ann', tombstone: true, "
        "tombstone_labels: ['Curated', 'Belief'], merged_into: 's/a', deleted_at: $now}), "
        "(:Tombstone {key: 's/c', tombstone: true, deleted_at: $now})",
        {"now": NOON},
    )
    found = pairs.client.duplicates(verdict="merged").pairs
    assert [(p.left, p.right, p.kind, p.left_content, p.right_content) for p in found] == [
        ("s/b", "s/a", "Belief", "In Rome lives Ann", "Ann lives in Rome")
    ]
    assert not pairs.client.duplicates().pairs


def test_what_cannot_be_decided_says_why(pairs: Pairs, pair: tuple[str, str]) -> None:
    client, database = pairs.client, pairs.client.database
    far = pairs.add("far", 0.0)
    database.run(
        "CREATE (:Tombstone {key: 's/m', tombstone: true, merged_into: 's/a'}), (:Tombstone {key: 's/p', tombstone: true})"
    )
    asked: list[Any] = [
        PairToDecide(pair[1], pair[0], left_hash="v1:other"),
        (pair[0], far),
        (pair[0], "s/none"),
        ("s/m", pair[0]),
        (pair[0], "s/p"),
    ]
    found = client.decide_duplicates(asked, "approved")
    assert [d.outcome for d in found] == ["changed", "no_pair", "unknown", "merged", "pruned"]
    assert (found[2].missing, found[3].into) == ("s/none", "s/a")
    assert all(not d.done and d.sentence for d in found)
    assert "decision" not in pairs.flag(*pair)
    database.run("MATCH (m {key: $key}) SET m.content_hash = 'v1:x'", {"key": pair[0]})
    assert client.decide_duplicates([pair], "rejected")[0].outcome == "changed"
    wrong: list[Any] = [[], [("s/a",)], ["s/a s/b"], [("s/a", "s/a")], [("s/a", 1)]]
    for given in wrong:
        with pytest.raises(UsageError):
            client.decide_duplicates(given, "approved")
    with pytest.raises(UsageError):
        client.decide_duplicates([pair], "maybe")  # type: ignore[arg-type]


def test_deciding_twice_and_back(pairs: Pairs, pair: tuple[str, str]) -> None:
    client = pairs.client
    assert client.decide_duplicates([pair[::-1]], "approved", by="ada")[0].done
    first = pairs.flag(*pair)
    assert (first["decided_by"], first["decision"]) == ("ada", "approved")
    assert "merge_due" in first
    assert "judge_due" not in first
    client.decide_duplicates([pair], "approved", by="bob")
    assert pairs.flag(*pair) == first
    client.decide_duplicates([pair], "rejected", by="bob")
    flag = pairs.flag(*pair)
    assert (flag["decision"], flag["decided_by"], "merge_due" in flag) == ("rejected", "bob", False)
    assert client.duplicates(verdict="rejected").pairs[0].decided_by == "bob"
    assert client.count_duplicates().of("rejected") == 1
    pairs.change(pair[0], content="Another text", embedding_hash=None)
    assert client.duplicates().pairs[0].verdict == "waiting", "void before the job has seen it"


def test_ten_at_once_decide_and_look(pairs: Pairs) -> None:
    for i in range(10):
        pairs.add(f"m{i}", at_cosine(0.99 - i * 1e-3, pairs.dimensions))
    pairs.find()
    keys = sorted(pairs.flags())
    for i in range(10):
        pairs.change(f"s/m{i}")

    def one(i: int) -> None:
        if i % 2:
            pairs.client.decide_duplicates(keys[i::3], "rejected")
        else:
            with suppress(Refused):  # one runs it already
                pairs.client.run("find_duplicates", now=LATER, drain=True)

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(one, range(10)))
    pairs.find(LATER)
    rejected = {key for i in range(1, 10, 2) for key in keys[i::3]}
    flags = pairs.flags()
    assert set(flags) == set(keys)
    assert {key for key, flag in flags.items() if flag.get("decision") == "rejected"} == rejected


@pytest.fixture
def cli(server: TestServer, tmp_path: Path) -> Callable[..., Any]:
    password = tmp_path / "password"
    password.write_text(server.password)
    options = ["--uri", server.uri, "--user", server.user, "--password-file", str(password)]

    def run(*arguments: str, given: str | None = None) -> Any:
        return CliRunner().invoke(app, [*options, *arguments], input=given)

    return run


def test_the_command_line(pairs: Pairs, pair: tuple[str, str], cli: Callable[..., Any], tmp_path: Path) -> None:
    listed = cli("duplicates")
    assert listed.exit_code == 0
    assert "waiting" in listed.output
    assert "Text of a in s" in listed.output
    assert "s/b" in listed.output
    as_json = json.loads(cli("duplicates", "--json").output)
    assert (as_json["pairs"][0]["left"], as_json["more"]) == ("s/a", False)
    assert "1 pair waits for `jochi worker`" in " ".join(cli("duplicates", "summary").output.split())
    assert json.loads(cli("duplicates", "summary", "--json").output)["pairs"] == 1
    done = cli("duplicates", "--reject", *pair)
    assert (done.exit_code, "never merge" in done.output) == (0, True)
    file = tmp_path / "pairs"
    file.write_text(f"s/b\ts/a\n\n{pair[0]}\ts/none\n")
    some = cli("duplicates", "--approve-file", str(file))
    assert "may merge" in some.output
    assert "there is no memory s/none" in some.output
    assert some.exit_code != 0
    assert getattr(some.exception, "exit_code", some.exit_code) in (1, 3)
    assert pairs.flag(*pair)["decision"] == "approved"
    saved = cli("duplicates", "--json").output
    again = cli("duplicates", "--reject-file", "-", given=saved)
    assert again.exit_code == 0
    pairs.change(pair[0], content="New")
    pairs.find(LATER)
    late = cli("duplicates", "--approve-file", "-", "--json", given=saved)
    assert json.loads(late.output)[0]["outcome"] == "changed"


def test_a_wrong_file_is_told_with_its_line(pairs: Pairs, cli: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "pairs"
    for text, told in {
        "s/a s/b": ":1",
        "s/a\ts/b\ts/c": ":1",
        "{": "no JSON",
        '{"pairs": 1}': "no list",
        '[{"left": 1}]': "pair 1",
    }.items():
        file.write_text(text)
        result = cli("duplicates", "--approve-file", str(file))
        assert isinstance(result.exception, UsageError)
        assert told in str(result.exception)
    filtered = cli("duplicates", "--scope", "s", "--approve", "s/a", "s/b")
    assert isinstance(filtered.exception, UsageError)


def test_the_doctor_misses_the_worker(pairs: Pairs, pair: Sequence[str]) -> None:
    counts = pairs.client.count_duplicates()
    assert check_duplicates(counts, NOON + timedelta(minutes=59)).level is Level.OK
    found = check_duplicates(counts, NOON + timedelta(minutes=61))
    assert found.level is Level.WARN
    assert "jochi worker" in str(found.fix)
    pairs.judge(MERGE)
    assert check_duplicates(pairs.client.count_duplicates(), NOON + timedelta(days=9)).level is Level.OK
