"""The statements that make roles, on a real server: Community Edition parses them, and then says that it has no roles."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import neo4j
import pytest
from tests.roles import UNSUPPORTED, all_statements, graph, readable, refusals, refused

from jochi import Jochi, Turn, clock
from jochi.forgetting import Request
from jochi.heartbeat import NewTask
from jochi.jobs.results import Switch
from jochi.operate.doctor import examine
from jochi.operate.privileges import Privileges
from jochi.operate.rights import ADMIN, ROLES, Rights
from jochi.policy import LoadedPolicy, load_policy


@pytest.fixture(scope="module")
def rights() -> Rights:
    return Rights(load_policy().policy)


def test_a_server_can_read_every_statement(driver: neo4j.Driver, rights: Rights) -> None:
    statements = all_statements(rights)
    assert refusals(driver, statements) == {UNSUPPORTED: set(statements)}
    wrong = ["GRANT SET PROPERTY {a} ON GRAPHS neo4j TO", "GRANT SHOW INDEX (*) ON DATABASE neo4j TO `x`"]
    assert refusals(driver, wrong) == {"Neo.ClientError.Statement.SyntaxError": set(wrong)}


def test_what_roles_may_call_is_there_and_marked_as_we_think(driver: neo4j.Driver, rights: Rights) -> None:
    touched = rights.touched("installer")
    there = driver.execute_query("SHOW PROCEDURES YIELD name, admin").records
    assert touched.procedures <= {row["name"] for row in there}
    assert {row["name"] for row in there if row["admin"]} & touched.procedures == {
        name for name in touched.procedures if name.startswith(ADMIN)
    }
    functions = driver.execute_query("SHOW FUNCTIONS YIELD name, isBuiltIn WHERE NOT isBuiltIn").records
    assert touched.functions <= {row["name"] for row in functions}


def test_the_doctor_says_that_community_has_no_roles(jochi: Jochi) -> None:
    assert "every user may do everything" in examine(jochi, probe=False)["privileges"].found


SAID = "zanzibar"
"""Stands in every text of the story, and nowhere else."""


@pytest.fixture
def may(rights: Rights) -> dict[str, Privileges]:
    return {role: Privileges.of(rights.statements(role, database="neo4j")) for role in ROLES}


@pytest.mark.slow
def test_what_each_role_does_is_what_it_may(
    install_once: Callable[[LoadedPolicy], Jochi], may: dict[str, Privileges], tmp_path: Path
) -> None:
    """Verbs are run for real, and what changed in the graph is held against the privileges of the role that runs them."""
    client = install_once(load_policy())
    now, day = clock.now(), timedelta(days=1)
    seen: dict[str, dict[str, list[str]]] = {role: {} for role in ROLES}
    steps: dict[str, dict[str, str]] = {}

    def play(role: str, **verbs: Callable[[], object]) -> None:
        for name, verb in verbs.items():
            before = graph(client.database)
            verb()
            after = graph(client.database)
            for other in ROLES:
                seen[other][f"{role}: {name}"] = list(refused(may[other], before, after))
            steps.setdefault(role, {})[name] = "changed" if before != after else "the same"

    def note(id: str, age: int) -> dict[str, Any]:
        then = now - age * day
        properties = {"read": True, "read_at": then, "created_at": then}
        return {
            "kind": "Notification",
            "scope": "s",
            "id": id,
            "content": f"{SAID} {id} was said",
            "properties": properties,
        }

    items = client.items("s")
    play(
        "app",
        remember=lambda: client.remember([note("old", 90), note("new", 0), note("gone", 90), note("kept", 90)]),
        facts=lambda: client.remember([{"kind": "Note", "scope": "s", "id": "n", "content": f"Ann likes {SAID}."}]),
        touch=lambda: client.touch(["s/new"], agent="a"),
        observe=lambda: client.observe(Turn(f"I prefer {SAID} to tea.", scope="s")),
        flush=lambda: client.flush(scope="s"),
        put=lambda: items.put(("a",), "b", {"c": SAID}),
        edit=lambda: items.put(("a",), "b", {"c": f"{SAID} again"}),
        delete=lambda: items.delete(("a",), "b"),
        task=lambda: client.heartbeat.add(NewTask("t", f"Look at {SAID}.", "every 1h"), scope="s"),
        due=lambda: client.heartbeat.due("a", scope="s", now=now + day),
        context=lambda: client.write_context(tmp_path / "MEMORY.md", "s"),
        may_act=lambda: client.may_act("discard", scope="s"),
    )
    play(
        "approver",
        save=lambda: client.save_plan(),
        apply=lambda: client.apply(),
        pause=lambda: client.pause(Switch("job", "curate_due")),
        resume=lambda: client.resume(Switch("job", "curate_due")),
        pin=lambda: client.pin_mode("IDLE"),
        unpin=lambda: client.pin_mode(None),
        approve=lambda: client.approve(),
    )
    pruned: list[str] = []

    def prune() -> None:
        pruned.extend(run.id for run in client.run("curate_due", now=now, drain=True))

    play("engine", prune=prune, restore=lambda: client.restore(["s/old"]))
    play("engine", **{job.name: partial(client.run, job.name, now=now + day) for job in client.jobs()})
    play("engine", undo=lambda: client.undo(pruned[0]))
    play(
        "forgetter",
        forget=lambda: client.forget(Request(keys=("s/gone",))),
        receipts=lambda: client.receipts(),
    )
    play(
        "auditor",
        looks=lambda: [
            client.status(),
            client.tiers(),
            client.pruned(),
            client.jobs(),
            client.history(),
            client.runs(),
        ],
        more=lambda: [
            client.audit_size(),
            client.receipts(),
            client.actions(),
            client.context_metrics(),
            client.plans(),
        ],
    )
    for role in ROLES:
        own = {step: what for step, what in seen[role].items() if what and step.startswith(f"{role}: ")}
        assert own == {}, role
    assert not any(seen["installer"].values())
    changed = {role: {name for name, what in found.items() if what == "changed"} for role, found in steps.items()}
    assert changed["app"] >= {"remember", "touch", "observe", "put", "edit", "delete", "task", "due", "may_act"}
    assert changed["engine"] >= {"prune", "undo", "fold_accesses"}
    assert changed["auditor"] == set()
    # What is a right of one role, the others can't do.
    for step, roles in {
        "approver: apply": {"installer", "approver"},
        "forgetter: forget": {"installer", "forgetter"},
    }.items():
        assert {role for role in ROLES if not seen[role][step]} == roles, step
    told = [where for where, value in readable(may["auditor"], graph(client.database)) if SAID in str(value).lower()]
    assert told == []
