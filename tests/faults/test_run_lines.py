"""`jochi runs tail --follow` as a process of its own, whose connection is cut."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.conftest import TestServer
from tests.faults.cable import Cable
from tests.faults.support import within

from jochi import Jochi, clock

pytestmark = [pytest.mark.server, pytest.mark.slow]


def test_it_waits_for_the_database_says_so_once_and_goes_on(jochi: Jochi, server: TestServer, tmp_path: Path) -> None:
    def ended(id: str) -> None:
        jochi.database.run(
            "CREATE (:JochiJobRun {id: $id, job: 'requeue', status: 'ok', batches: 1, selected: 0, changed: 0, failed_batches: 0, "
            "started_at: $at, finished_at: $at})",
            {"id": id, "at": clock.now() - timedelta(seconds=5)},
        )

    def shown() -> list[str]:
        return [json.loads(line)["run"] for line in lines.read_text().splitlines()]

    address = urlsplit(server.uri)
    cable = Cable(address.hostname or "", address.port or 0)
    password, lines, words = tmp_path / "password", tmp_path / "lines", tmp_path / "words"
    password.write_text(server.password)
    ended("requeue/before")
    given = ["--uri", f"bolt://127.0.0.1:{cable.port}", "--user", server.user, "--password-file", str(password)]
    with lines.open("w") as out, words.open("w") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "jochi", *given, "runs", "tail", "--follow", "--json", "--every", "0.2"],
            stdout=out,
            stderr=err,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        within(20, lambda: shown() == ["requeue/before"])
        cable.cut()
        within(20, words.read_text)
        ended("requeue/meanwhile")
        cable = cable.mended()
        within(20, lambda: "back" in words.read_text())
        ended("requeue/after")
        within(20, lambda: shown()[-1] == "requeue/after")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        cable.cut()
    assert shown() == ["requeue/before", "requeue/meanwhile", "requeue/after"]
    assert words.read_text().splitlines() == ["waiting for the database (no connection)", "the database is back"]


def test_it_ends_when_nobody_reads_on(jochi: Jochi, server: TestServer, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text(server.password)
    given = ["--uri", server.uri, "--user", server.user, "--password-file", str(password)]
    with subprocess.Popen(
        [sys.executable, "-m", "jochi", *given, "runs", "tail", "--follow", "--every", "0.2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.wait(80) == 0
        assert process.stderr.read() == b""
