"""The contract of actions with memories (seed 003, Memory Action Policy Contracts): strict refuses, the helpers never fail."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from jochi import clock
from jochi.cli.app import app
from jochi.curate.actions import (
    ACTIONS,
    FALLBACK_ELIGIBILITY,
    Eligibility,
    judge,
    parse_action,
    parse_eligibility,
    read,
)
from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi.policy.actions import Need
from jochi.write.action_records import _records, read_action

POLICY = load_policy().policy.actions
GOOD = {"confidence": 0.8, "lifecycleState": "active", "importance": 0.6, "source": "extraction"}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text()
    | st.sampled_from([*ACTIONS, *GOOD]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from([*GOOD]), inner, max_size=5)
    ),
    max_leaves=12,
)
NEARLY = st.fixed_dictionaries(
    {
        "confidence": st.sampled_from([0, 1, 0.4, 0.39, True, -0.01, 1.01, float("nan"), float("inf"), "0.5", None]),
        "lifecycleState": st.sampled_from(
            ["active", "validated", "candidate", "stale", "archived", "Active", "", None, 1]
        ),
        "importance": st.sampled_from([0.0, 1.0, 0.5, False, 2, "1"]),
        "source": st.sampled_from(["extraction", "consolidation", "replay", "manual", "unknown", "agent", None, []]),
    },
    optional={"reason": st.text()},
)


class Nothing(NamedTuple):
    """It refused."""

    where: str
    helps: bool


def parses(parse: Any, value: object) -> Any:
    """What it parses to; `Nothing` if it refuses, and then it says where."""
    try:
        return parse(value)
    except UsageError as error:
        return Nothing((error.where or "").split(".")[0], bool(error.fix))


@given(action=JSON | st.sampled_from(ACTIONS), eligibility=JSON | NEARLY)
def test_whatever_it_is_strict_refuses_or_parses_and_fail_open_gives_a_valid_value(
    action: Any, eligibility: Any
) -> None:
    strict = parses(parse_action, action), parses(parse_eligibility, eligibility)
    read_action_, read_eligibility, faults = read(action, eligibility)
    refused = {parsed for parsed in strict if isinstance(parsed, Nothing)}
    assert read_action_ == ("discard" if strict[0] in refused else strict[0])
    assert read_eligibility == (FALLBACK_ELIGIBILITY if strict[1] in refused else strict[1])
    assert {Nothing(fault.where.split(".")[0], True) for fault in faults} == refused
    # What was read reads the same again, whatever it was.
    assert read(read_action_, json.loads(json.dumps(read_eligibility.as_json()))) == (
        read_action_,
        read_eligibility,
        (),
    )
    verdict = judge(POLICY, action, eligibility)
    assert (verdict.action, verdict.eligibility, verdict.faults) == (read_action_, read_eligibility, faults)
    assert verdict.allowed == (verdict.required is None) == (verdict.rule == verdict.action)


def test_the_fallbacks_are_the_seeds() -> None:
    assert read("prune", {"confidence": 2})[0] == "discard"
    assert read("prune", {"confidence": 2})[1].as_json() == {
        "confidence": 0,
        "lifecycleState": "candidate",
        "importance": 0,
        "source": "unknown",
    }
    assert [action for action in ACTIONS if judge(POLICY, action, None).allowed] == ["discard"]


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (None, "eligibility"),
        ([GOOD], "eligibility"),
        ({**GOOD, "confidence": True}, "eligibility.confidence"),
        ({**GOOD, "confidence": 1.0000001}, "eligibility.confidence"),
        ({**GOOD, "importance": -0.0000001}, "eligibility.importance"),
        ({**GOOD, "lifecycleState": "superseded"}, "eligibility.lifecycleState"),
        ({**GOOD, "lifecycle_state": "active"}, "eligibility.lifecycle_state"),
        ({name: GOOD[name] for name in list(GOOD)[:3]}, "eligibility.source"),
    ],
)
def test_strict_says_where(value: object, where: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_eligibility(value)
    assert error.value.where == where


def test_both_sides_of_each_need() -> None:
    """Of every action: what is in its spans is allowed, what is a hair outside isn't, and the rule names the part."""
    for action in ACTIONS:
        need: Need = getattr(POLICY.needs, action)
        good = {
            "confidence": need.confidence[0],
            "importance": need.importance[1],
            "lifecycleState": need.states[0],
            "source": need.sources[0],
        }
        assert judge(POLICY, action, good).allowed
        for part, span in (("confidence", need.confidence), ("importance", need.importance)):
            for edge, out in ((span[0], span[0] - 1e-9), (span[1], span[1] + 1e-9)):
                assert judge(POLICY, action, {**good, part: edge}).allowed
                if 0 <= out <= 1:
                    refused = judge(POLICY, action, {**good, part: out})
                    assert (refused.rule, refused.required) == (f"{action}.{part}", {"least": span[0], "most": span[1]})
        for part, words, all_words in (
            ("lifecycleState", need.states, ("active", "validated", "candidate", "stale", "archived")),
            ("source", need.sources, ("extraction", "consolidation", "replay", "manual", "unknown")),
        ):
            for word in all_words:
                verdict = judge(POLICY, action, {**good, part: word})
                assert verdict.allowed == (word in words)
                assert verdict.rule == (action if word in words else f"{action}.{part}")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["store_note", "--confidence", "0.4", "--state", "active", "--importance", "0", "--source", "manual"], 0),
        (["store_note", "--confidence", "0.39", "--state", "active", "--importance", "0", "--source", "manual"], 5),
        (["store_note", "--json-in", json.dumps(GOOD)], 0),
        (["store_note", "--json-in", json.dumps({**GOOD, "source": "agent"})], 5),
        (["no_such_action", "--json-in", json.dumps({**GOOD, "lifecycleState": "candidate"})], 3),
        (["no_such_action", "--json-in", json.dumps(GOOD)], 5),
        (["no_such_action", "--json-in", json.dumps(GOOD), "--strict"], 2),
        (["discard", "--json-in", "{"], 3),
        (["discard", "--json-in", "{", "--strict"], 2),
        (["discard", "--json-in", "{}", "--source", "manual"], 2),
        (["--json-in", "-"], 0),
    ],
)
def test_try_ends_with_a_code_for_machines(arguments: list[str], code: int) -> None:
    told = json.dumps({"action": "link_graph", "eligibility": GOOD})
    done = CliRunner().invoke(app, ["policy", "actions", "try", *arguments, "--json"], input=told)
    assert (done.exception.exit_code if isinstance(done.exception, UsageError) else done.exit_code) == code
    if code in (0, 3, 5):
        assert json.loads(done.stdout)["allowed"] == (code != 5)


def test_ls_and_try_speak_to_people() -> None:
    assert "update_note" in CliRunner().invoke(app, ["policy", "actions", "ls"]).stdout
    done = CliRunner().invoke(
        app, ["policy", "actions", "try", "update_note", "--json-in", json.dumps({**GOOD, "confidence": 0.6})]
    )
    assert "update_note refused by update_note.confidence: it needs 0.7 to 1" in done.stdout


def test_a_policy_may_switch_an_action_off_and_its_mistakes_are_named(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    head = '[policy]\nname = "p"\nextends = "default"\n'
    file.write_text(f"{head}[actions.needs.link_graph]\nstates = []\n")
    assert judge(load_policy(file).policy.actions, "link_graph", GOOD).rule == "link_graph.lifecycleState"
    for wrong in (
        "confidence = [0.8, 0.2]",
        "importance = [0, 2]",
        'states = ["gone"]',
        'sources = ["manual", "manual"]',
    ):
        file.write_text(f"{head}[actions.needs.link_graph]\n{wrong}\n")
        with pytest.raises(UsageError, match=f"{file}:[45]"):
            load_policy(file)
    file.write_text(f'{head}[actions]\nkeep = "1d"\n')
    with pytest.raises(UsageError, match="shorter than window"):
        load_policy(file)


MARK = "the secret is zebra"
TEXTS = st.dictionaries(
    st.sampled_from(["reason", "content", "memoryId", "prompt", "note", "policyRationale", MARK]),
    st.just(MARK),
    max_size=4,
)


@given(more=TEXTS, eligibility=st.none() | st.just(GOOD), outcome=st.sampled_from(["applied", "skipped", "failed"]))
def test_no_text_of_a_line_is_kept(more: dict[str, str], eligibility: Any, outcome: str) -> None:
    line = {"action": "store_note", "outcome": outcome, "eligibility": eligibility, **more}
    assert MARK not in json.dumps(read_action(line, now=clock.now()).as_row("id"))
    with pytest.raises(ValueError, match="outcome"):
        read_action({**line, "outcome": MARK}, now=clock.now())


def test_a_file_is_read_to_its_end_whatever_is_in_it(tmp_path: Path) -> None:
    good = b'{"action": "store_note", "outcome": "applied", "timestamp": "2026-01-01T00:00:00Z", "namespace": "s"}\n'
    lines = [
        good,
        b"{broken\n",
        b"\xff\xfe\n",
        b"\n",
        b"[]\n",
        b'{"action": "prune", "outcome": "applied"}\n',
        b'{"action": "discard", "outcome": "applied", "at": "2026-01-01T00:00:00"}\n',
        b'{"action": "discard", "outcome": "applied", "at": 1767225600}\n',
        b'{"action": "discard", "outcome": "applied", "scope": "a/b"}\n',
        b'{"action": "discard", "outcome": "applied", "eligibility": {"confidence": 1}}\n',
        b'{"action": "' + b"x" * (4 * 1024 * 1024) + b'"}\n',
        good,
        good.rstrip(),
    ]
    file, packed = tmp_path / "memory-actions.jsonl", tmp_path / "memory-actions.jsonl.gz"
    file.write_bytes(b"".join(lines))
    packed.write_bytes(gzip.compress(good * 1000)[:-20])
    for path, known, faulty in (
        (file, 3, [2, 3, 5, 6, 7, 8, 9, 10, 11]),
        (packed, None, [None]),
        (tmp_path / "none.jsonl", 0, [None]),
    ):
        bad: list[Any] = []
        taken = list(_records(path, clock.now(), bad.append))
        if known is not None:
            assert len(taken) == known
            assert [line.line for line in bad] == faulty
        assert len({id for id, _ in taken}) == len(taken)
        assert all(record.scope == "s" and record.at is not None for _, record in taken)
        assert bad
        assert all(line.reason for line in bad)


def test_eligibility_as_python_has_it_is_eligibility_as_json_has_it() -> None:
    assert Eligibility.model_validate(GOOD).as_json() == GOOD
