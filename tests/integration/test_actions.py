"""Actions of agents in the database: what they may do, what they did, and the guidelines made of it (seed 003)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.curate.actions import ACTIONS, judge
from jochi.errors import UsageError
from jochi.jobs.runner import Run, run_job

pytestmark = pytest.mark.server

GOOD = {"confidence": 0.8, "lifecycleState": "active", "importance": 0.6, "source": "extraction"}
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
MARK = "zebra secret"

ODD: list[Any] = [
    None, True, 0, 1, -1, 0.5, 1.5, float("nan"), float("inf"), "", "0.5", "active", MARK, [], [0.5], {}, {"a": 1},
]  # fmt: skip


def cases() -> list[tuple[Any, Any]]:
    """Each action at and beside each bound, and everything that can be wrong with one part."""
    numbers = [0, 0.0, 0.39999, 0.4, 0.5, 0.49999, 0.7, 0.69999, 0.70001, 0.9, 0.90001, 1, 1.0]
    words = product(
        ("active", "validated", "candidate", "stale", "archived"),
        ("extraction", "consolidation", "replay", "manual", "unknown"),
    )
    right = [
        *({**GOOD, part: n} for part in ("confidence", "importance") for n in numbers),
        *({**GOOD, "lifecycleState": state, "source": source} for state, source in words),
    ]
    wrong = [*ODD, *({**GOOD, part: odd} for part in GOOD for odd in ODD), {**GOOD, MARK: 1}]
    wrong += [{name: value for name, value in GOOD.items() if name != part} for part in GOOD]
    return [*product([*ACTIONS, "Discard", *ODD], right), *product(["store_note", "discard", *ODD], wrong)]


def test_the_database_and_python_agree(jochi: Jochi, now: datetime) -> None:
    """On everything, in one transaction; and nothing of it is on record that nobody asked to be."""
    some = cases()
    asked = [{"action": action, "eligibility": eligibility} for action, eligibility in some]
    row = jochi.engine.call("actions/judge", {"now": now, "actions": [*asked, "none", None], "record": True})
    assert row["problem"] is None
    for (action, eligibility), there in zip([*some, (None, None), (None, None)], row["results"], strict=True):
        here = judge(jochi.policy.policy.actions, action, eligibility)
        assert there == {
            "action": here.action,
            "eligibility": here.eligibility.as_json(),
            "allowed": here.allowed,
            "rule": here.rule,
            "required": here.required,
            "faults": there["faults"],
            "recorded": False,
        }, (action, eligibility)
        assert set(there["faults"]) == {fault.where for fault in here.faults}, (action, eligibility)
    assert count(jochi, "JochiAction|JochiGuidelines") == 0
    for wrong in ({"now": now - 50 * 365 * DAY, "actions": asked[:1]}, {"now": now, "actions": "store_note"}):
        answer = jochi.engine.call("actions/judge", {**wrong, "record": True})
        assert answer["problem"]
        assert answer["results"] == []


def count(jochi: Jochi, labels: str) -> int:
    return int(jochi.database.run(f"MATCH (n:{labels}) RETURN count(n) AS n", write=False)[0]["n"])


def act(jochi: Jochi, action: str, outcomes: dict[str, int], at: datetime, scope: str = "s", **more: Any) -> None:
    """So many of each outcome."""
    given = [outcome for outcome, n in outcomes.items() for _ in range(n)]
    rows = [
        {
            "id": f"{scope}{action}{at}{i}",
            "scope": scope,
            "action": action,
            "outcome": outcome,
            "at": at,
            "eligibility": None,
            **more,
        }
        for i, outcome in enumerate(given)
    ]
    answer = jochi.engine.call("actions/add", {"now": at, "actions": rows})
    assert [each["outcome"] for each in answer["results"]] == ["added"] * len(rows)


def learn(jochi: Jochi, now: datetime) -> Run:
    return run_job(jochi.engine, "learn_guidelines", now=now)[-1]


def test_a_decision_is_on_record_with_its_outcome_until_it_expires(jochi: Jochi, now: datetime) -> None:
    verdict = jochi.may_act("update_note", {**GOOD, "confidence": 0.6}, scope="s", id="d1", now=now)
    assert (verdict.allowed, verdict.rule) == (False, "update_note.confidence")
    assert jochi.may_act("update_note", GOOD, scope="s", id="d1", now=now + SECOND).allowed, (
        "on record it stays what it was"
    )
    assert jochi.may_act(MARK, {"confidence": 10**400}, scope="s", id="d2", now=now + 2 * SECOND).action == "discard"
    assert len(jochi.may_act({MARK}, object(), scope="s", record=False).faults) == 2
    for scope, id in (("a/b", "x"), ("", "x"), ("s", "x" * 1001)):
        with pytest.raises(UsageError, match="on record"):
            jochi.may_act("discard", GOOD, scope=scope, id=id)
    assert jochi.report_action("update_note", "skipped", GOOD, scope="s", id="d1").added == 1
    assert jochi.report_action("update_note", "failed", GOOD, scope="s", id="d1").known == 1
    with pytest.raises(UsageError, match="outcome"):
        jochi.report_action("update_note", "gone", scope="s")  # type: ignore[arg-type]
    second, first = jochi.actions(scope="s", now=now + DAY)
    assert (first.verdict, first.rule, first.outcome, first.fell_back, first.at) == (
        "refused",
        "update_note.confidence",
        "skipped",
        False,
        now,
    )
    assert (second.action, second.verdict, second.outcome, second.fell_back, second.source) == (
        "discard",
        "allowed",
        None,
        True,
        "unknown",
    )
    kept = jochi.policy.policy.actions.keep
    run_job(jochi.engine, "expire_actions", now=now + kept)
    assert [each.id for each in jochi.actions(now=now + DAY)] == ["d2", "d1"]
    run_job(jochi.engine, "expire_actions", now=now + kept + SECOND)
    assert [each.id for each in jochi.actions(now=now + DAY)] == ["d2"]


def test_where_nobody_asked_for_an_action_the_job_has_nothing_to_do(jochi: Jochi, now: datetime) -> None:
    (run,) = run_job(jochi.engine, "expire_actions", now=now)
    assert (run.error, run.selected) == (None, 0)


def test_the_oldest_go_where_there_are_too_many(jochi: Jochi, now: datetime) -> None:
    for i in range(5):
        act(jochi, "discard", {"applied": 1}, now + i * SECOND)
    data = jochi.engine.state().policy_data
    assert data is not None
    few = {**data, "actions": {**data["actions"], "most": 3}}
    text = jochi.engine.text("actions/expire", "select")
    given = {"now": now + DAY, "limit": 10, "skip": [], "p": few}
    keys = jochi.database.run(text, jochi.engine.given(text, given))[0]["keys"]
    assert keys == [f"sdiscard{now + i * SECOND}0" for i in range(2)]


def test_what_is_said_follows_from_the_counts(jochi: Jochi, now: datetime) -> None:
    """On both sides of each threshold; what is older than the window, or of another scope, doesn't count."""
    numbers = jochi.policy.policy.actions
    n = numbers.least
    bad, idle = round(n * numbers.failed), round(n * numbers.skipped)
    act(jochi, "store_episode", {"applied": n - 1}, now)
    act(jochi, "store_note", {"applied": n - bad, "failed": bad}, now)
    act(jochi, "update_note", {"applied": n - bad + 1, "failed": bad - 1}, now)
    act(jochi, "discard", {"applied": n - idle, "skipped": idle}, now)
    act(jochi, "link_graph", {"applied": n - idle + 1, "skipped": idle - 1}, now)
    act(jochi, "summarize_node", {"failed": n}, now - numbers.window)
    act(jochi, "create_artifact", {"failed": n}, now - numbers.window + SECOND)
    act(jochi, "create_artifact", {"failed": n}, now, scope="other")
    jochi.may_act("store_episode", None, scope="s", now=now)
    assert learn(jochi, now).status == "ok"
    _, other, own = jochi.guidelines()
    assert (other.scope, own.scope, own.version, own.since, own.at) == ("other", "s", 1, now - numbers.window, now)
    assert own.run.startswith("learn_guidelines/")
    assert own.policy == jochi.policy.label
    assert own.lines == (
        f"store_episode: {n - 1} reported. Too few to say anything: {n} are needed. The policy refused 1.",
        f"store_note: {n} reported, {n - bad} applied, 0 skipped (0 %), {bad} failed (25 %). "
        "Hold it back until somebody has looked why it fails.",
        f"update_note: {n} reported, {n - bad + 1} applied, 0 skipped (0 %), {bad - 1} failed (20 %). Go on as before.",
        f"create_artifact: {n} reported, 0 applied, 0 skipped (0 %), {n} failed (100 %). "
        "Hold it back until somebody has looked why it fails.",
        f"discard: {n} reported, {n - idle} applied, {idle} skipped (50 %), 0 failed (0 %). Ask for it less often.",
        f"link_graph: {n} reported, {n - idle + 1} applied, {idle - 1} skipped (45 %), 0 failed (0 %). Go on as before.",
    )
    # A day later they are looked at again; the version rises where they say something else.
    assert learn(jochi, now + DAY - SECOND).selected == 0
    assert learn(jochi, now + DAY).changed == 1, "one of them left the window"
    assert {each.scope: each.version for each in jochi.guidelines()} == {"/": 1, "other": 1, "s": 2}
    learn(jochi, now + numbers.window + DAY)
    assert [each.scope for each in jochi.guidelines()] == ["/"], "of nothing nothing is said"


def test_the_engines_own_runs_say_what_was_taken_back(jochi: Jochi, now: datetime) -> None:
    jochi.database.run(
        "UNWIND $runs AS r CREATE (x:JochiJobRun {id: r.job + '/' + r.n, job: r.job}) "
        "SET x += r.says, x.started_at = $now - duration({hours: 1}), x.finished_at = $now",
        {
            "now": now,
            "runs": [
                {"job": job, "n": str(i), "says": says}
                for i, (job, says) in enumerate(
                    [
                        ("curate_due", {"pruned": 15, "changed": 400}),
                        ("sweep_orphans", {"pruned": 3}),
                        ("pass", {"pruned": 1, "merged": 2, "changed": 60}),
                        ("restore", {"changed": 1}),
                        ("merge_duplicates", {"merged": 28}),
                        ("unmerge", {"changed": 1}),
                        ("undo", {"changed": 9, "undone_merges": 2, "undone_prunes": 0}),
                        ("undo", {"changed": 90, "undone_prunes": 1}),
                        ("compress", {"changed": 18, "rejected": 1}),
                        ("decompress", {"changed": 0}),
                        ("hygiene", {"pruned": 1000}),
                    ]
                )
            ],
        },
    )
    least, since = jochi.policy.policy.actions.least, now - jochi.policy.policy.actions.window
    days = [
        ("learn", since + SECOND, "day", {"done": least - 3, "rejected_too_long": 1}),
        ("learn", now + DAY, "day", {"rejected_empty": 1, "rejected_not_said": 1}),
        ("learn", since, "day", {"rejected_empty": 50}),
        ("learn", now + DAY, "cycle", {"rejected_empty": 50}),
        ("process", now, "day", {"done": least - 1, "rejected_empty": 1}),
        ("levels", now, "day", {"done": least - 1}),
        ("describe", now, "day", {"done": least}),
        ("compress", now, "day", {"rejected_empty": 50}),
        ("none of ours", now, "day", {"rejected_empty": 50}),
    ]
    jochi.database.run(
        "UNWIND $days AS d CREATE (x:JochiSpent {id: randomUUID(), derivation: d[0], span: d[2]}) "
        "SET x += d[3], x.since = d[1] - duration('P1D'), x.until = d[1]",
        {"days": days},
    )
    learn(jochi, now)
    (whole,) = jochi.guidelines(scope="s")
    assert whole.lines == (
        "prunes: 19. Too few to say anything: 20 are needed.",
        "merges: 30, 3 taken back (together 10 %). Look at [duplicates] of the policy.",
        "summaries in place of long contents: 19, 1 rejected. Too few to say anything: 20 are needed.",
        "outputs of describe: 20. Go on as before.",
        "outputs of learn: 20, 3 rejected (15 %). Look at [derive.learn] of the policy.",
        "outputs of levels: 19. Too few to say anything: 20 are needed.",
        "outputs of process: 20, 1 rejected (5 %). Go on as before.",
    )
    jochi.database.run("MATCH (r:JochiJobRun {job: 'unmerge'}) DELETE r")
    learn(jochi, now + DAY)
    assert "merges: 30, 2 taken back (together 7 %). Go on as before." in jochi.guidelines()[0].lines
    # One more: enough to speak of, and two of them came back, one by an undo.
    jochi.database.run("MATCH (r:JochiJobRun {job: 'curate_due'}) SET r.pruned = 16")
    learn(jochi, now + 2 * DAY)
    assert (
        "prunes: 20, 2 taken back (together 10 %). Look at [kinds] and [value] of the policy."
        in jochi.guidelines()[0].lines
    )


def test_an_undo_says_what_it_took_back(applied: Jochi, now: datetime) -> None:
    """As guidelines count it: prunes by themselves, whatever else the run did."""
    applied.database.run(
        "UNWIND range(1, 3) AS i CREATE (:Curated:Notification {key: 's/n' + i, scope: 's', id: 'n' + i, read: i > 1, "
        "read_at: $old, created_at: $old, next_due: $old, tier: 'HOT', content: 'x' + i})",
        {"old": now - 8 * DAY},
    )
    (pruning,) = [run for run in run_job(applied.engine, "curate_due", now=now, drain=True) if run.tally.get("pruned")]
    assert pruning.tally["pruned"] == 2
    undone = applied.undo(pruning.id)
    row = applied.database.run(
        "MATCH (r:JochiJobRun {id: $run}) RETURN [r.undone_prunes, r.undone_merges, r.undone_compressions] AS n",
        {"run": undone.run},
    )[0]
    assert row["n"] == [2, 0, 0]


def test_files_no_texts_and_what_is_broken(
    jochi: Jochi, now: datetime, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    """A marked text stands in every place of the lines; records that nobody can read don't stop the job."""
    file, page = tmp_path / "memory-actions.jsonl", tmp_path / "compression-guidelines.md"
    old = (now - jochi.policy.policy.actions.keep - DAY).isoformat()
    lines = [
        {
            "action": "store_note",
            "outcome": "applied",
            "scope": "s",
            "timestamp": (now - i * SECOND).isoformat(),
            "content": MARK,
            "reason": MARK,
            MARK: MARK,
        }
        for i in range(2_500)
    ]
    lines += [{**lines[0], "id": f"{MARK}{i}"} for i in range(2)] + [{**lines[0], "timestamp": old}]
    lines += [{**lines[0], "outcome": MARK}, {**lines[0], "eligibility": {**GOOD, "note": MARK}}]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "{broken\n")
    done = cli("actions", "add", "--file", file, "--file", tmp_path / "none.jsonl", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 3
    assert (told["added"], told["known"], told["old"], told["bad_count"]) == (2_502, 0, 1, 4)
    again = json.loads(cli("actions", "add", "--file", file, "--json").stdout)
    assert (again["added"], again["known"], again["old"], again["bad_count"]) == (0, 2_502, 1, 3)
    assert count(jochi, "JochiAction") == 2_502
    jochi.database.run(
        "UNWIND [{action: ['a']}, {outcome: 7}, {action: $mark}, {verdict: $mark}] AS odd "
        "CREATE (a:JochiAction {id: randomUUID(), scope: 's', at: $at, action: 'store_note', outcome: 'applied'}) SET a += odd",
        {"mark": MARK, "at": now},
    )
    run = learn(jochi, now + 60 * SECOND)
    assert (run.status, run.tally["unreadable"]) == ("ok", 3)
    stored = jochi.database.run(
        "MATCH (n) WHERE n:JochiGuidelines OR n:JochiJobRun RETURN collect(properties(n)) AS all", write=False
    )
    assert MARK not in str(stored)
    assert cli("actions", "guidelines", "--out", page).exit_code == 0
    text = page.read_text()
    assert "## Scope s" in text
    assert "- store_note: 2503 reported" in text
    assert MARK not in text
    assert "store_note: 2503 reported" in cli("actions", "guidelines", "--scope", "s").stdout
    assert cli("actions", "add", "discard", "applied", "--scope", "s", "--id", "x").exit_code == 0
    assert json.loads(cli("actions", "ls", "--scope", "s", "--limit", 1, "--json").stdout)[0]["id"] == "x"
    assert cli("policy", "actions", "try", "discard", "--installed").exit_code == 3


@pytest.fixture
def cli(server: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command line on the tests' server."""
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    return lambda *arguments: CliRunner().invoke(app, [str(each) for each in arguments])
