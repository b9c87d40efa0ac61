"""A real local server: started by two commands at once in a hostile environment, killed, restarted, misconfigured.

One instance serves the whole module, in the order of the tests.
"""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest
from neo4j.exceptions import AuthError

from jochi import Jochi
from jochi.database.database import Database
from jochi.localserver import LocalServer, Running, Upgrade, ports, process
from jochi.localserver.errors import DiskFull, OtherInstance, PortTaken, ServerDied
from jochi.operate.check import Level
from jochi.operate.doctor import examine

pytestmark = pytest.mark.server

NAME = "faults"
HOSTILE = {
    "JAVA_HOME": "/nowhere",
    "JAVA_TOOL_OPTIONS": "-Xmx1m",
    "_JAVA_OPTIONS": "-Xmx1m",
    "JDK_JAVA_OPTIONS": "-Xmx1m",
    "CLASSPATH": "/nowhere",
    "NEO4J_HOME": "/nowhere",
    "NEO4J_CONF": "/nowhere",
    "apoc.jobs.scheduled.num_threads": "x",
}
START = "from jochi.cli.server import app; app(['start', '--name', '" + NAME + "'])"


def within(seconds: float, check: Callable[[], Any]) -> Any:
    """The first true answer of ``check``; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (answer := check()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.05)
    return answer


def accepted(listener: socket.socket) -> socket.socket | None:
    try:
        connection = listener.accept()[0]
    except BlockingIOError:
        return None
    connection.settimeout(5)
    return connection


def start_command(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START],
        env={**os.environ, **HOSTILE, "JOCHI_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("jochi-home")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[LocalServer]:
    made = LocalServer(NAME, home=home)
    yield made
    made.kill()


@pytest.fixture
def running(server: LocalServer) -> Running:
    return server.start()


@pytest.fixture
def database(running: Running) -> Iterator[Database]:
    with running.driver() as driver:
        yield Database(driver)


def test_a_start_that_is_killed_half_way_leaves_nothing_that_stops_the_next_two(
    home: Path, server: LocalServer
) -> None:
    # Command and server die before the password is set; the pid file stays behind.
    first = start_command(home)
    within(60, server.layout.pid_file.exists)
    half_started = within(10, lambda: process.find(server.layout))
    first.kill()
    first.communicate()
    half_started.send_signal(signal.SIGKILL)
    half_started.wait(10)
    assert server.status().state == "stale"

    both = [start_command(home), start_command(home)]
    outputs = [command.communicate(timeout=120) for command in both]
    assert [command.returncode for command in both] == [0, 0], outputs
    said = sorted(output.splitlines()[0] for output, _ in outputs)
    pid = server.running().pid
    assert "is already running" in said[0]
    assert "is ready" in said[1]
    assert all(line.endswith(f"pid {pid}.") for line in said)
    assert any("the pid file named process" in errors for _, errors in outputs)
    assert any("waiting for another command" in errors for _, errors in outputs)
    assert all("A development default, not for production" in output for output, _ in outputs)


def test_it_listens_on_the_loopback_alone(running: Running) -> None:
    listening = [c for c in psutil.Process(running.pid).net_connections() if c.status == psutil.CONN_LISTEN]
    assert {(c.laddr.ip.removeprefix("::ffff:"), c.laddr.port) for c in listening} == {
        ("127.0.0.1", int(running.uri.rpartition(":")[2]))
    }


@pytest.mark.parametrize("auth", [None, ("neo4j", "neo4j"), ("neo4j", "wrong")])
def test_it_lets_nobody_in_without_the_password(running: Running, auth: tuple[str, str] | None) -> None:
    with neo4j.GraphDatabase.driver(running.uri, auth=auth) as driver, pytest.raises(AuthError):
        driver.verify_connectivity()


def test_the_password_stands_in_its_file_and_nowhere_else(running: Running, database: Database) -> None:
    password = running.password.get_secret_value()
    assert stat.S_IMODE(running.password_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(running.home.stat().st_mode) == 0o700
    holders = {
        path.name for path in running.home.rglob("*") if path.is_file() and password.encode() in path.read_bytes()
    }
    assert holders == {"password"}
    live = psutil.Process(running.pid)
    assert password not in " ".join([*live.cmdline(), *live.environ().values()])
    assert password not in repr(running)


def test_the_environment_of_the_user_does_not_reach_it(running: Running) -> None:
    environment = psutil.Process(running.pid).environ()
    assert environment["NEO4J_CONF"] == str(running.home / "conf")
    assert not (HOSTILE.keys() - {"NEO4J_CONF"}) & environment.keys()


def test_versions_and_settings_are_the_pinned_ones(running: Running, database: Database) -> None:
    assert (running.version, running.apoc) == ("5.26.30", "5.26.19")
    rows = database.run("SHOW SETTINGS YIELD name, value WHERE name = 'db.lock.acquisition.timeout' RETURN value")
    assert rows == [{"value": "5s"}]


def test_a_second_start_finds_the_first(server: LocalServer, running: Running) -> None:
    again = server.start()
    assert again.already_running
    assert again.pid == running.pid
    assert server.status().state == "running"
    for wanted in ({"port": 7799}, {"version": "5.26.29"}, {"settings": {"db.lock.acquisition.timeout": "9s"}}):
        with pytest.raises(OtherInstance, match="is already running with"):
            server.start(**wanted)


def test_a_lost_pid_file_does_not_lose_the_server(server: LocalServer, running: Running) -> None:
    server.layout.pid_file.unlink()
    assert server.start().pid == running.pid
    assert server.layout.pid_file.exists()


def test_after_a_kill_the_pumps_are_armed_again(server: LocalServer, database: Database, running: Running) -> None:
    assert database.run("CALL apoc.periodic.list() YIELD name RETURN name") == []
    database.run(
        "CREATE (:JochiPump {name: 'jochi.pump.neo4j', body: 'CREATE (:Tick {by: $name})', every_s: 1, armed: true})"
    )
    assert server.kill()
    assert not psutil.pid_exists(running.pid)

    # The record forgot that the password is set: the start has to find out.
    record = server.layout.record
    record.write_text(record.read_text().replace('"password_set": true', '"password_set": false'))
    restarted = server.start(settings={"db.lock.acquisition.timeout": "2s"})
    assert restarted.uri == running.uri
    assert not restarted.already_running
    with restarted.driver() as driver:
        after = Database(driver)
        assert within(20, lambda: after.run("MATCH (t:Tick) RETURN DISTINCT t.by AS by")) == [
            {"by": "jochi.pump.neo4j"}
        ]
        names = after.run("CALL apoc.periodic.list() YIELD name RETURN name")
        assert names == [{"name": "jochi.pump.neo4j"}]
        stamped = after.run("MATCH (p:JochiPump) RETURN p.server_started_at IS NOT NULL AS stamped")
        assert stamped == [{"stamped": True}]
        rows = after.run("SHOW SETTINGS YIELD name, value WHERE name = 'db.lock.acquisition.timeout' RETURN value")
        assert rows == [{"value": "2s"}]


def test_stop_ends_it_and_nobody_else(server: LocalServer, running: Running, tmp_path: Path) -> None:
    # Looks like the server of another instance, down to the name; a real one may be stopped by a test beside this one.
    other = tmp_path / "java"
    other.symlink_to(sys.executable)
    bystander = subprocess.Popen(
        [other, "-c", "input()", f"--home-dir={server.layout.root}-of-another", "--console-mode"], stdin=subprocess.PIPE
    )
    try:
        assert within(10, lambda: psutil.Process(bystander.pid).name() == "java")
        assert server.stop()
        assert not psutil.pid_exists(running.pid)
        assert bystander.poll() is None
    finally:
        bystander.communicate(b"\n", timeout=10)
    assert not server.stop()
    assert server.status().state == "stopped"


def test_a_wrong_setting_is_shown_with_the_end_of_the_log(server: LocalServer) -> None:
    with pytest.raises(ServerDied, match="Unrecognized setting") as caught:
        server.start(settings={"no.such.setting": "1"})
    assert "take the setting it names out" in str(caught.value)
    assert process.find(server.layout) is None


def test_a_port_that_is_taken_in_the_last_moment_gets_no_password(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PortTaken):
            server.start(port)
        # The check at the beginning saw it free; Neo4j itself then fails to bind.
        monkeypatch.setattr(ports, "expect_free", lambda _: None)
        with pytest.raises(PortTaken, match=f"port {port} is taken"):
            server.start(port)
        # What connected was the check for a listener, and it said nothing; the password was offered to nobody.
        listener.setblocking(False)
        while (connection := accepted(listener)) is not None:
            with connection:
                assert connection.recv(100) == b""
    assert process.find(server.layout) is None


def test_a_full_disk_is_noticed_before_the_start(server: LocalServer, home: Path) -> None:
    full = LocalServer(NAME, home=home, free_bytes=lambda _: 1_000_000)
    with pytest.raises(DiskFull, match="1 MB free"):
        full.start()
    assert process.find(server.layout) is None


def test_reset_leaves_nothing(server: LocalServer) -> None:
    assert server.reset()
    assert not server.layout.root.exists()


def test_a_newer_version_upgrades_the_data_and_the_copy_runs_as_it_was(home: Path) -> None:
    """Without APOC it can't curate itself: the doctor says so once, not once for each thing that needs it."""
    server = LocalServer("upgraded", home=home)
    with server.start().driver() as driver:
        Jochi(driver).install()
    server.stop()
    agreed: list[Upgrade] = []
    running = server.start(version="2026.09.0", before_upgrade=agreed.append)
    copy = LocalServer(agreed[0].copy, home=home)
    try:
        with running.driver() as driver:
            found = examine(Jochi(driver))
            assert found["server"].found == "Neo4j 2026.09.0 community"
            assert [check.name for check in found.failed] == ["apoc", "language"]
            advised = [check.fix or "" for check in found.checks if check.level is not Level.OK]
            assert not [fix for fix in advised if "apoc.conf" in fix]
        server.stop()
        with pytest.raises(OtherInstance, match="can't open"):
            server.start(version="5.26.30")
        before = copy.start()
        assert (before.version, before.apoc) == ("5.26.30", "5.26.19")
        with before.driver() as driver:
            assert examine(Jochi(driver))["installed"].level is Level.OK
    finally:
        server.reset()
        assert copy.reset()
