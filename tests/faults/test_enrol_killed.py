"""Kill -9 of the enrolling process and of the server in the middle: nothing is lost, nothing is enrolled twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.faults.support import within, write_policy
from tests.own_server import module_server

from jochi import Jochi
from jochi.errors import JochiError
from jochi.localserver import LocalServer

pytestmark = pytest.mark.server

KIND = '[kinds.Parcel]\nclass = "60min"\nproperties = { id = "number" }\n'
N = 6_000


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> Iterator[LocalServer]:
    with module_server(request, "enrolkill") as made:
        yield made


def fill(client: Jochi) -> None:
    client.database.run("MATCH (n:Parcel) DETACH DELETE n")
    client.database.run("UNWIND range(1, $n) AS i CREATE (:Parcel {number: i, content: 'parcel ' + i})", {"n": N})


def done(client: Jochi) -> int:
    return int(client.database.run("MATCH (n:Parcel) WHERE n.enrolled_run IS NOT NULL RETURN count(n) AS n")[0]["n"])


def expect_whole(client: Jochi) -> None:
    (row,) = client.database.run(
        "MATCH (n:Curated:Parcel) RETURN count(n) AS n, count(DISTINCT n.key) AS keys, "
        "count(CASE WHEN n.key = 'default/' + n.number AND n.next_due IS NOT NULL AND n.enrolled_had = [] THEN 1 END) AS whole"
    )
    assert (row["n"], row["keys"], row["whole"]) == (N, N, N)
    assert client.database.run("MATCH (n) WHERE n.enrolled_run IS NOT NULL AND NOT n:Curated RETURN n") == []


def test_the_enrolling_process_is_killed(local: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> None:
    running = local.running()
    with running.driver() as driver:
        client = Jochi(driver, policy=write_policy(tmp_path_factory.mktemp("policy"), KIND))
        client.install(arm=False)
        fill(client)
        environment = {
            **os.environ,
            "JOCHI_URI": running.uri,
            "JOCHI_USER": running.user,
            "JOCHI_PASSWORD_FILE": str(running.password_file),
        }
        process = subprocess.Popen(
            [sys.executable, "-c", "from jochi.cli import main; main()", "enrol", "Parcel", "--yes", "--page", "100"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            within(120, lambda: done(client) > 300, "some pages are written")
        finally:
            process.kill()
            process.wait()
        cut = done(client)
        assert 300 < cut < N
        result = client.enrol("Parcel")
        # A page that was on its way when the process died may still have been committed.
        assert result.enrolled + result.already == N
        assert result.already >= cut
        expect_whole(client)


def test_the_server_is_killed(local: LocalServer) -> None:
    with local.running().driver() as driver:
        client = Jochi(driver)
        fill(client)
        with pytest.raises(JochiError):
            client.enrol("Parcel", page=100, on_progress=lambda r: local.kill() if r.enrolled == 1_000 else None)
    with local.start().driver() as driver:
        client = Jochi(driver)
        assert done(client) >= 1_000
        result = client.enrol("Parcel")
        assert result.enrolled + result.already == N
        expect_whole(client)
        assert client.disenrol("Parcel").released == N
        assert (
            client.database.run("MATCH (n:Parcel) WHERE size(keys(n)) <> 2 OR size(labels(n)) <> 1 RETURN n LIMIT 1")
            == []
        )
