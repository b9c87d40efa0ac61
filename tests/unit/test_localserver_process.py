"""A local server ends only what it started. Real processes stand in for the server here."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from jochi.errors import Refused, UsageError
from jochi.localserver import LocalServer, Upgrade, diagnosis, login, ports, process
from jochi.localserver.errors import Busy, DiskFull, OtherInstance, PortTaken, ServerDied
from jochi.localserver.paths import Layout

WAITS = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WAITS


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout.of("x", tmp_path)
    made.run.mkdir(parents=True)
    made.logs.mkdir()
    return made


@pytest.fixture
def server(layout: Layout, tmp_path: Path) -> LocalServer:
    return LocalServer("x", home=tmp_path)


class Child:
    """A process that waits, with arguments of choice."""

    def __init__(self, *arguments: str, code: str = WAITS) -> None:
        self.popen = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE)
        assert self.popen.stdout is not None
        self.popen.stdout.readline()
        self.info = psutil.Process(self.popen.pid)

    def close(self) -> None:
        self.popen.kill()
        self.popen.communicate()


@pytest.fixture
def children() -> Iterator[list[Child]]:
    made: list[Child] = []
    yield made
    for child in made:
        child.close()


def pid_file(layout: Layout, pid: int, created: float, home: Path | None = None) -> None:
    layout.pid_file.write_text(json.dumps({"pid": pid, "created": created, "home": str(home or layout.root)}))


def test_our_process_is_found_and_ended(layout: Layout, server: LocalServer, children: list[Child]) -> None:
    children.append(child := Child(f"--home-dir={layout.root}"))
    pid_file(layout, child.info.pid, child.info.create_time())
    assert process.find(layout) == child.info
    assert server.stop()
    assert not process.alive(child.info)
    assert not layout.pid_file.exists()
    assert not server.stop()


@pytest.mark.parametrize("differs", ["arguments", "prefix of the folder", "start time", "folder"])
def test_a_process_that_is_not_ours_survives(
    layout: Layout, server: LocalServer, children: list[Child], differs: str
) -> None:
    argument = {"arguments": "--other", "prefix of the folder": f"--home-dir={layout.root}2"}.get(
        differs, f"--home-dir={layout.root}"
    )
    children.append(child := Child(argument))
    created = child.info.create_time() - (60 if differs == "start time" else 0)
    pid_file(layout, child.info.pid, created, Path("/elsewhere") if differs == "folder" else None)
    assert process.find(layout) is None
    assert process.stale_pid(layout) == child.info.pid
    assert server.status().state == "stale"
    assert not server.stop()
    assert not server.kill()
    assert process.alive(child.info)
    assert server.status().state == "stopped"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', "12345"])
def test_a_garbled_pid_file_names_nobody(layout: Layout, server: LocalServer, content: str) -> None:
    layout.pid_file.write_text(content)
    assert process.find(layout) is None
    assert process.stale_pid(layout) is None
    assert not server.stop()


def test_a_zombie_has_ended(layout: Layout, children: list[Child]) -> None:
    children.append(child := Child(f"--home-dir={layout.root}"))
    pid_file(layout, child.info.pid, child.info.create_time())
    os.kill(child.info.pid, 9)
    os.waitid(os.P_PID, child.info.pid, os.WEXITED | os.WNOWAIT)
    assert child.info.is_running()
    assert not process.alive(child.info)
    assert process.find(layout) is None


def test_a_process_that_ignores_the_request_is_killed(layout: Layout, children: list[Child]) -> None:
    children.append(child := Child(f"--home-dir={layout.root}", code=STUBBORN))
    assert not process.end(child.info, layout, grace_seconds=0.3)
    assert not process.alive(child.info)
    children.append(willing := Child())
    assert process.end(willing.info, layout, grace_seconds=10)


def test_only_the_listener_itself_counts_as_listening() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert process.listens(psutil.Process(), port)
        assert not process.listens(psutil.Process(os.getppid()), port)
    assert not process.listens(psutil.Process(), port)


def test_a_taken_port_is_named_with_its_holder() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"port {port} is taken by .*\(pid {os.getpid()}\)"):
            ports.expect_free(port)
    ports.expect_free(port)


@pytest.mark.parametrize("port", [0, 80, 70000])
def test_a_number_that_is_no_port_is_refused(server: LocalServer, port: int) -> None:
    with pytest.raises(UsageError, match="can't be the port"):
        server.start(port)


def test_one_command_at_a_time(server: LocalServer) -> None:
    with FileLock(server.layout.lock), pytest.raises(Busy, match="another command"):
        server.start(wait_seconds=0.1)
    assert not server.stop()


def test_older_versions_open_no_data_and_newer_ones_ask_first(server: LocalServer, layout: Layout) -> None:
    record = {"uri": "bolt://127.0.0.1:1", "port": 1, "version": "5.26.30", "apoc": None, "password_set": True}
    layout.record.write_text(json.dumps(record))
    (layout.data / "databases").mkdir(parents=True)
    (layout.data / "databases" / "store").write_bytes(b"12345")
    layout.root.with_name(f"{server.name}-5-26-30").mkdir()
    with pytest.raises(OtherInstance, match=r"belongs to Neo4j 5\.26\.30, which 5\.26\.29 can't open"):
        server.start(version="5.26.29")
    with pytest.raises(OtherInstance, match=r"2026\.09\.0 would upgrade the data .* for good"):
        server.start(version="2026.09.0")
    asked: list[Upgrade] = []

    def no(upgrade: Upgrade) -> None:
        asked.append(upgrade)
        raise Refused("nothing was changed")

    with pytest.raises(Refused, match="nothing was changed"):
        server.start(version="2026.09.0", before_upgrade=no)
    assert asked == [Upgrade(server.name, "5.26.30", "2026.09.0", f"{server.name}-5-26-30-2", 5)]
    assert json.loads(layout.record.read_text()) == record
    assert not layout.root.with_name(f"{server.name}-5-26-30-2").exists()


@pytest.mark.parametrize(
    ("key", "value"), [("server.databases.default_to_read_only", "true"), ("server.databases.read_only", "neo4j")]
)
def test_a_fresh_server_cannot_be_read_only(server: LocalServer, key: str, value: str) -> None:
    with pytest.raises(UsageError, match="can't be read-only"):
        server.start(settings={key: value})


def test_the_password_file_is_private_and_kept(layout: Layout) -> None:
    first = login.ensure_password(layout.password_file)
    assert stat.S_IMODE(layout.password_file.stat().st_mode) == 0o600
    assert login.ensure_password(layout.password_file) == first
    assert len(first.get_secret_value()) >= 24
    assert first.get_secret_value() not in repr(first)
    layout.password_file.write_text("")
    assert login.ensure_password(layout.password_file) != first


def test_status_and_running_of_what_does_not_exist(tmp_path: Path) -> None:
    server = LocalServer("none", home=tmp_path)
    assert server.status().as_dict() == {
        "name": "none",
        "state": "stopped",
        "uri": None,
        "user": "neo4j",
        "password_file": None,
        "version": None,
        "apoc": None,
        "pid": None,
        "home": str(tmp_path.resolve() / "servers/none"),
    }
    with pytest.raises(ServerDied, match="is stopped") as caught:
        server.running()
    assert caught.value.fix == "jochi server start --name none"
    assert server.logs() == []
    assert not server.reset()


def test_reset_deletes_the_instance_and_nothing_beside_it(server: LocalServer, layout: Layout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    layout.data.symlink_to(outside)
    login.ensure_password(layout.password_file)
    (layout.root / "notes.txt").write_text("a person's own file")
    assert server.reset()
    assert [file.name for file in layout.root.iterdir()] == ["notes.txt"]
    assert (outside / "kept").exists()


@pytest.mark.parametrize(
    ("printed", "kind", "words"),
    [
        ("java.net.BindException: Address already in use", PortTaken, "port 7999 is taken"),
        ("java.io.IOException: No space left on device", DiskFull, "no space left"),
        ("Unrecognized setting. No declared setting with name: a.b", ServerDied, "take the setting"),
        ("FileLockException: Lock file has been locked by another process", ServerDied, "another process uses"),
        ("OutOfMemoryError", ServerDied, "OutOfMemoryError"),
        ("", ServerDied, "it is empty"),
    ],
)
def test_why_a_server_died(layout: Layout, printed: str, kind: type[Exception], words: str) -> None:
    layout.console_log.write_text(f"first line\n{printed}\n" if printed else "")
    error = diagnosis.why_it_died(layout, 7999)
    assert type(error) is kind
    assert words in str(error)


def test_the_tail_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xff\n" + b"x\n" * 200_000 + b"last\n")
    assert diagnosis.tail(log, 2) == ["x", "last"]
    assert diagnosis.tail(log, 0) == []
