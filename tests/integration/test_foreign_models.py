"""Apps with object mappers and moments of their own: what enrolment does to them, and what its plan says of that (DESIGN §17)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import TestServer
from tests.integration.test_own_moments import seen
from typer.testing import CliRunner

from jochi import Jochi, clock
from jochi.cli.app import app as cli
from jochi.errors import UsageError
from jochi.jobs.runner import run_job

pytestmark = pytest.mark.server

WHEN = datetime(2026, 6, 1, 12, 34, 56, tzinfo=timezone.utc)
DEEDS = ("get", "read_all", "save", "related", "resolve_label", "resolve_any")


class App:
    """The app of `neomodel_app.py`, in a process of its own."""

    def __init__(self, server: TestServer, *arguments: str) -> None:
        secrets = {"APP_URI": server.uri, "APP_USER": server.user, "APP_PASSWORD": server.password}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("neomodel_app.py")), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **secrets},
        )

    def __call__(self, do: str, **values: Any) -> Any:
        """What it answers: a value, or the name of the exception."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"do": do, **values}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer.get("error", answer.get("value"))

    def end(self) -> int:
        """Its exit code: not 0 if it had imported anything of Jochi."""
        self.process.communicate()
        return self.process.returncode


@pytest.fixture
def apps(server: TestServer) -> Iterator[tuple[App, App]]:
    """One as its author wrote it, one with the lines that the plan shows."""
    both = App(server), App(server, "helped")
    try:
        yield both
    finally:
        codes = [each.end() for each in both]
    assert codes == [0, 0]


@pytest.fixture
def run(server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)
    return lambda *words: CliRunner().invoke(cli, list(words))


def test_an_app_goes_on_with_the_lines_of_the_plan_and_fails_where_it_says_without_them(
    applied: Jochi, apps: tuple[App, App], run: Callable[..., Any]
) -> None:
    plain, helped = apps
    opened = int((clock.now() - timedelta(days=8)).timestamp() * 1000)
    assert plain("make", opened=opened) == 2

    def asked(app: App) -> list[Any]:
        return [app(deed) for deed in DEEDS]

    bodies, classes = ["it broke 2", "it broke again"], ["Ticket", "VipTicket"]
    works = [
        "VipTicket",
        [["Ticket", "it broke 1"], ["VipTicket", "it broke 2"]],
        "it broke again",
        bodies,
        classes,
        classes,
    ]
    assert asked(plain) == works
    works[1] = [["Ticket", "it broke again"], ["VipTicket", "it broke 2"]]
    fails = ["NodeClassNotDefined"] * len(DEEDS)

    shown = run("enrol", "Ticket", "--plan").stdout
    for line in (
        '__optional_labels__ = ["Curated"]',
        "class Tombstone(StructuredNode): pass",
        "@DynamicLabels",
        "@Labels",
    ):
        assert line in shown
    planned = json.loads(run("enrol", "Ticket", "--plan", "--json").stdout)
    assert planned["object_mappers"][0]["mapper"] == "neomodel"
    assert asked(plain) == works
    done = run("enrol", "Ticket", "--yes").stdout
    assert "NodeClassNotDefined" in done
    assert '__optional_labels__ = ["Curated"]' in done
    assert "2 nodes enrolled" in done
    assert (asked(plain), asked(helped)) == (fails, works)
    # Saving what was loaded before asks for no class, and leaves the labels alone.
    assert plain("save_loaded") == "it broke 1"
    assert helped("save") == "it broke again"

    # Pruned: nothing is found by its labels any more, and a hop without a label meets :Tombstone.
    run_job(applied.engine, "curate_due", now=clock.now(), drain=True)
    gone = ["TicketDoesNotExist", [], "TicketDoesNotExist", [], []]
    assert asked(plain) == [*gone, "NodeClassNotDefined"]
    assert asked(helped) == [*gone, ["Tombstone", "Tombstone"]]

    applied.restore(["acme/1", "acme/2"])
    assert (asked(plain), asked(helped)) == (fails, works)
    assert applied.disenrol("Ticket").released == 2
    assert (asked(plain), asked(helped)) == (works, works)


def test_each_type_of_a_moment_that_neomodel_has_is_guessed_and_read(jochi: Jochi, server: TestServer) -> None:
    app = App(server)
    assert app("visit", when=WHEN.isoformat()) == 1
    assert app.end() == 0
    with pytest.raises(UsageError) as caught:
        jochi.plan_enrolment("Visit")
    guess = str(caught.value)
    assert 'created_at = { property = "created", as = "epoch_s" }' in guess
    for of in (
        'created (float, as = "epoch_s")',
        "native (zoned datetime)",
        'local (local datetime, as = "local_utc")',
        'minutes (string, as = "iso")',
        'day (string, as = "iso")',
        "day_first (string)",
    ):
        assert of in guess
    (row,) = jochi.database.run("MATCH (v:Visit) RETURN v.created AS s, v.local AS l, v.minutes AS m, v.day AS d")
    read = [
        *seen(jochi, "epoch_s", [row["s"]]),
        *seen(jochi, "local_utc", [row["l"]]),
        *seen(jochi, "iso", [row["m"], row["d"]]),
    ]
    assert read == [WHEN, WHEN, WHEN.replace(second=0), WHEN.replace(hour=0, minute=0, second=0)]


# What a ticket's `opened` holds, and the `as` that reads it; none, or (empty) the one that the tests' policy names: epoch_ms.
OPENED: list[tuple[str, str | None]] = [
    ("1780317296.5", "epoch_s"),
    ("1780317296", "epoch_s"),
    ("631152000", "epoch_s"),
    ("631151999", None),
    ("1780317296000", ""),
    ("1780317296000.0", ""),
    ("localdatetime('2026-06-01T12:34:56')", "local_utc"),
    ("date('2026-06-01')", "local_utc"),
    ("date('1989-12-31')", None),
    ("'2026-06-01 12:34'", "iso"),
    ("'2026-02-30 12:34'", None),
    ("'01.06.2026'", None),
]


def test_the_plan_shows_the_line_that_reads_a_mapped_moment(jochi: Jochi, run: Callable[..., Any]) -> None:
    jochi.database.run("UNWIND [1, 2] AS i CREATE (:Ticket {ticket_no: i, customer: 'acme', body: 'b'})")
    for opened, conversion in OPENED:
        jochi.database.run(f"MATCH (t:Ticket) SET t.opened = {opened}")
        line = f'created_at = {{ property = "opened", as = "{conversion}" }}'
        wanted = {} if conversion == "" else {"opened": line if conversion else None}
        assert jochi.plan_enrolment("Ticket").mapping == wanted, opened
        if opened in (OPENED[0][0], OPENED[-1][0]):
            shown = run("enrol", "Ticket", "--plan").stdout
            assert (line in shown, "no `as` reads it" in shown) == (bool(conversion), conversion is None)
