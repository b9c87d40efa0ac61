"""What a database keeps of a policy, and how what earlier versions kept is read: nothing that its author wrote is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from jochi.compile.rendering import render_all
from jochi.database.server_facts import ServerFacts
from jochi.errors import UsageError
from jochi.policy import SHIPPED_TEXT, LoadedPolicy, load_policy, stored_policy
from jochi.policy.load import without_null
from jochi.toml import to_toml, tomllib

SERVER = ServerFacts("5.26.30", "community", "5.26.19", frozenset(), "CYPHER_5", 5.0, False, True)
Json = dict[str, Any]

OURS = """# Ann decides what stays.
[policy]
name = "ours"
extends = "default"

[limits]
breaker_floor = 77

[jobs.hygiene]
at = "Sunday at 05:00"

[kinds.Ticket]
class = "60min"
properties = { created_at = { property = "opened", as = "epoch_ms" }, content = "body" }

[[kinds.Ticket.rules]]
name = "ticket.closed"
source = "ours"
when = [{ property = "open", is = false }]
clock = ["closed_at"]
after = "90d"
action = "prune"
"""


def earlier() -> Json:
    """The shipped policy as a version before 0.2.0 kept it: all defaults of then, some of today's missing, some others."""
    data: Json = json.loads(load_policy().canonical)
    for name in ("margin", "sure", "looked_at", "replaced"):
        del data["forgetting"][name]
    for table in ("observe", "derive", "context"):
        del data[table]
    for kind in data["kinds"].values():
        del kind["container"]
    del data["jobs"]["flush_buffers"], data["kinds"]["StoreItem"]
    data["kinds"]["Source"]["embed"] = True
    data["kinds"]["ValueClassification"] = {**deepcopy(data["kinds"]["Description"]), "class": "1h"}
    data["jobs"]["requeue_hashes"] = {**data["jobs"]["requeue"], "procedure": "work/requeue_hashes"}
    return data


def extending(file: LoadedPolicy) -> Json:
    """The same of a policy that was laid over the shipped one."""
    data, own = earlier(), json.loads(file.canonical)
    data["policy"] = {"name": "ours", "time_zone": "UTC", "extends": "default"}
    data["limits"] = own["limits"]
    data["jobs"]["hygiene"] = own["jobs"]["hygiene"]
    data["kinds"]["Ticket"] = own["kinds"]["Ticket"]
    return data


@pytest.fixture
def ours(tmp_path: Path) -> LoadedPolicy:
    file = tmp_path / "ours.toml"
    file.write_text(OURS, encoding="utf-8")
    return load_policy(file)


def test_what_is_stored_is_what_its_author_wrote_and_means_the_same(ours: LoadedPolicy) -> None:
    shipped = load_policy()
    assert (ours.text, shipped.text) == (OURS, SHIPPED_TEXT)
    for policy in (ours, shipped):
        stored = stored_policy(policy.text)
        assert (stored.policy, stored.sha256, stored.text) == (policy.policy, policy.sha256, policy.text)
        assert (stored.added, stored.dropped) == ((), ())
        assert list(stored.policy.kinds) == list(policy.policy.kinds)
    assert render_all(stored.policy, SERVER) == render_all(shipped.policy, SERVER)


def test_of_the_shipped_policy_of_an_earlier_version_todays_holds() -> None:
    stored = stored_policy(json.dumps(earlier()))
    assert (stored.policy, stored.text) == (load_policy().policy, SHIPPED_TEXT)
    assert {"forgetting.margin", "observe", "jobs.flush_buffers", "kinds.StoreItem"} <= set(stored.added)
    assert {line.partition(":")[0] for line in stored.dropped} == {"jobs.requeue_hashes", "kinds.ValueClassification"}
    assert any("gone since jochi 0.2.0; write now: nothing" in line for line in stored.dropped)


def test_of_one_that_extends_it_all_stays_that_its_author_wrote(ours: LoadedPolicy) -> None:
    stored = stored_policy(json.dumps(extending(ours)))
    assert (stored.policy, stored.sha256) == (ours.policy, ours.sha256)
    assert {"forgetting.margin", "jobs.flush_buffers"} <= set(stored.added)
    again = stored_policy(stored.text)  # what install stores from then on
    assert (again.policy, again.text, again.added, again.dropped) == (ours.policy, stored.text, (), ())
    assert tomllib.loads(stored.text)["limits"] == {"breaker_floor": 77}


Change = Callable[[Json], object]


@pytest.mark.parametrize(
    ("change", "added", "dropped"),
    [
        pytest.param(lambda data: None, {"forgetting.margin"}, set(), id="settings that are new"),
        pytest.param(lambda data: data["jobs"]["requeue"].pop("budget"), {"jobs.requeue.budget"}, set(), id="in a job"),
        pytest.param(lambda data: data["rails"].update(gone=1), set(), {"rails.gone"}, id="a key that nobody knows"),
        pytest.param(lambda data: data.update(gone={"a": 1}), set(), {"gone"}, id="a table that nobody knows"),
        pytest.param(
            lambda data: data["policy"].update(name="default"), set(), set(), id="an edited copy of the shipped"
        ),
    ],
)
def test_a_whole_policy_keeps_its_kinds_and_jobs_and_gets_missing_settings(
    change: Change, added: set[str], dropped: set[str]
) -> None:
    data = earlier()
    data["policy"]["name"] = "whole"
    data["limits"]["breaker_floor"] = 77
    change(data)
    shipped = load_policy().policy
    for text in (json.dumps(data), to_toml(without_null(data))):
        stored = stored_policy(text)
        assert stored.policy.limits.breaker_floor == 77
        assert stored.policy.forgetting.margin == shipped.forgetting.margin
        assert stored.policy.jobs.keys() == data["jobs"].keys() - {"requeue_hashes"}
        assert stored.policy.kinds.keys() == data["kinds"].keys()
        assert added <= set(stored.added)
        assert {line.partition(":")[0] for line in stored.dropped} == {"jobs.requeue_hashes", *dropped}
        assert stored_policy(stored.text).sha256 == stored.sha256


def test_what_bounds_a_run_asks_nobody_to_say_go_again() -> None:
    shipped = load_policy()
    old = json.loads(shipped.canonical)
    old["limits"] |= {"breaker_run_share": 0.02, "breaker_run_floor": 7, "plan_keep": "1d"}
    assert stored_policy(json.dumps(old)).verdict_sha256 == shipped.verdict_sha256
    old["limits"]["breaker_floor"] = 7
    assert stored_policy(json.dumps(old)).verdict_sha256 != shipped.verdict_sha256


@pytest.mark.parametrize("text", ["{}", "{", "[]", '{"policy": 1}', '{"policy": {"name": "old"}}', "a = ", "", "a = 1"])
def test_what_cannot_be_read_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        stored_policy(text)
    assert "policy in the database" in str(refused.value)
    assert "FILE" in (refused.value.fix or "")


def test_a_key_that_is_gone_is_named_with_its_line_and_what_to_write_now(tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text('[policy]\nname = "old"\nextends = "default"\n\n[jobs.requeue_hashes]\nevery = "1h"\n', "utf-8")
    with pytest.raises(UsageError, match=r"old\.toml:5: jobs\.requeue_hashes: gone since jochi 0\.2\.0; write now: "):
        load_policy(file)


def test_toml_that_is_written_reads_as_the_same() -> None:
    odd = {"a b": {'"': '\\ " \n \x7f é', "empty": {}, "list": [{"x": {"y.z": [1, 2.5, True]}}, []]}, "n": -1}
    for data in (odd, without_null(json.loads(load_policy().canonical))):
        assert json.dumps(tomllib.loads(to_toml(data))) == json.dumps(data)  # the order, too
