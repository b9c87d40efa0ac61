"""Whether a lock's holder is alive: only what can be proved counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from jochi.schema.migrations import holder
from jochi.schema.migrations.holder import Liveness, describe_this_process, liveness
from jochi.schema.migrations.lock import describe, lock_name
from jochi.schema.migrations.results import Lock


def a_lock(**changes: Any) -> Lock:
    me = describe_this_process()
    values = {
        "id": "x",
        "name": "John Doe",
        "package": "jochi",
        "host": me["host"],
        "user": "u",
        "pid": me["pid"],
        "pid_space": me["pidSpace"],
        "process_start": me["processStart"],
    }
    return Lock.model_validate({**values, **changes})


def test_our_own_lock_is_alive_only_while_we_hold_it() -> None:
    assert liveness(a_lock(), {"x"}) is Liveness.ALIVE
    assert liveness(a_lock(), {"y"}) is Liveness.GONE


@pytest.mark.parametrize("changes", [{"pid": None}, {"pid_space": None}, {"pid_space": "other boot or container"}])
def test_what_can_not_be_proved_is_unknown(changes: dict[str, Any]) -> None:
    assert liveness(a_lock(**changes), {"x"}) is Liveness.UNKNOWN


def test_another_process_is_alive_until_it_ends() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    lock = a_lock(pid=child.pid, process_start=holder.process_start(child.pid))
    assert liveness(lock, {"x"}) is Liveness.ALIVE
    assert child.stdin is not None
    child.stdin.close()
    child.wait(timeout=30)
    assert liveness(lock, {"x"}) is Liveness.GONE


@pytest.mark.skipif(sys.platform != "linux", reason="process starts are read from /proc")
def test_a_process_id_that_was_used_again_is_not_the_holder() -> None:
    parent = os.getppid()
    assert liveness(a_lock(pid=parent, process_start=holder.process_start(parent)), set()) is Liveness.ALIVE
    assert liveness(a_lock(pid=parent, process_start="1"), set()) is Liveness.GONE


def test_hidden_processes_are_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = a_lock(pid=os.getppid(), process_start="1")
    monkeypatch.setattr(holder, "_state_and_start", lambda pid: None)
    assert liveness(lock, set()) is Liveness.ALIVE


def answering(error: type[OSError] | None) -> Callable[[int, int], None]:
    def kill(pid: int, number: int) -> None:
        assert number == 0
        if error is not None:
            raise error

    return kill


@pytest.mark.skipif(os.name != "posix", reason="signal 0 asks only on POSIX")
@pytest.mark.parametrize(
    ("error", "known"),
    [(None, Liveness.ALIVE), (PermissionError, Liveness.ALIVE), (ProcessLookupError, Liveness.GONE)],
)
def test_without_a_process_start_the_id_decides(
    monkeypatch: pytest.MonkeyPatch, error: type[OSError] | None, known: Liveness
) -> None:
    monkeypatch.setattr(os, "kill", answering(error))
    assert liveness(a_lock(pid=os.getppid(), process_start=None), set()) is known


@pytest.mark.parametrize(("database", "name"), [("neo4j", "John Doe"), ("NEO4J", "John Doe"), ("Movies", "movies")])
def test_the_lock_has_the_name_that_neo4j_migrations_gives_it(database: str, name: str) -> None:
    assert lock_name(database) == name


def test_a_lock_of_the_other_tool_is_described_as_such() -> None:
    assert "neo4j-migrations" in describe(Lock(id="1", name="John Doe"))
