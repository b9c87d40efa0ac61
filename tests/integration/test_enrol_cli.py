"""`jochi enrol`, `jochi disenrol` and `jochi engine intake` as a person meets them: what is shown, asked, done; exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.conftest import TestServer
from typer.testing import CliRunner, Result

from jochi import Jochi
from jochi.cli.app import app
from jochi.database.engine import Engine
from jochi.errors import JochiError
from jochi.install import triggers

pytestmark = pytest.mark.server

OPENED = int((datetime.now(timezone.utc) - timedelta(days=8)).timestamp() * 1000)
"""Eight days ago: the rule `ticket.done` (7 days) has its due."""

Run = Callable[..., Result]


@pytest.fixture
def run(server: TestServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("JOCHI_URI", server.uri)
    monkeypatch.setenv("JOCHI_USER", server.user)
    monkeypatch.setenv("JOCHI_PASSWORD", server.password)
    monkeypatch.delenv("JOCHI_PASSWORD_FILE", raising=False)
    return lambda *words, **more: CliRunner().invoke(app, list(words), **more)


def code(result: Result) -> int:
    """What the shell is told: `jochi.cli.main` makes an error's own code of it."""
    return result.exception.exit_code if isinstance(result.exception, JochiError) else result.exit_code


@pytest.fixture
def tickets(jochi: Jochi) -> Jochi:
    """Three that can be enrolled, of which two are due at once, and one without a scope."""
    jochi.database.run(
        "UNWIND range(1, 3) AS i CREATE (:Ticket {ticket_no: i, customer: 'acme', body: 'broken', opened: $opened, done: i < 3}) "
        "WITH count(*) AS made CREATE (:Ticket {ticket_no: 4, body: 'whose?', opened: $opened})",
        {"opened": OPENED},
    )
    return jochi


def curated(client: Jochi) -> int:
    return int(client.database.run("MATCH (t:Ticket:Curated) RETURN count(t) AS n")[0]["n"])


def whole(client: Jochi) -> list[dict[str, Any]]:
    rows = client.database.run("MATCH (t:Ticket) RETURN labels(t) AS labels, properties(t) AS p ORDER BY t.ticket_no")
    return [{"labels": row["labels"], **row["p"]} for row in rows]


def scoped(client: Jochi) -> None:
    """Nothing is in the way any more."""
    client.database.run("MATCH (t:Ticket {ticket_no: 4}) SET t.customer = 'acme'")


def test_a_plan_shows_counts_and_writes_nothing(run: Run, tickets: Jochi) -> None:
    before = whole(tickets)
    shown = run("enrol", "Ticket", "--plan")
    assert code(shown) == 0, shown.output
    assert "4 nodes with Ticket: 0 are memories, 3 can be enrolled" in shown.stdout
    assert "not enrolled: 1 have no scope (4)" in shown.stdout
    assert "content: 4 have one, 6 characters on average, longest 6" in shown.stdout
    due = next(line for line in shown.stdout.splitlines() if "ticket.done" in line)
    assert [cell.strip() for cell in due.strip("│┃").split("│")] == ["ticket.done", "prune", "2"]
    told = json.loads(run("enrol", "Ticket", "--plan", "--json").stdout)
    assert (told["nodes"], told["curated"], told["ready"]) == (4, 0, 3)
    assert whole(tickets) == before


def test_no_is_no_and_no_answer_is_no(run: Run, tickets: Jochi) -> None:
    before = whole(tickets)
    for answer in ("n\n", ""):
        asked = run("enrol", "Ticket", input=answer)
        assert "Enrol 3 nodes?" in asked.stderr
        assert (code(asked), "nothing was changed" in str(asked.exception)) == (5, True)
    assert whole(tickets) == before


@pytest.mark.parametrize(("words", "answer"), [((), "y\n"), (("--yes",), None)])
def test_yes_enrols_and_what_could_not_be_ends_with_3(
    run: Run, tickets: Jochi, words: tuple[str, ...], answer: str | None
) -> None:
    done = run("enrol", "Ticket", *words, input=answer)
    assert code(done) == 3
    assert ("Enrol 3 nodes?" in done.stderr) is (answer is not None)
    assert "3 nodes enrolled, 0 were memories before" in done.stdout
    assert "1 node was not enrolled: 1 have no scope (4)" in str(done.exception)
    assert curated(tickets) == 3
    scoped(tickets)
    again = run("enrol", "Ticket", "--yes", "--json")
    assert code(again) == 0, again.output
    told = json.loads(again.stdout)
    assert (told["enrolled"], told["already"]) == (1, 3)
    assert "__optional_labels__" in told["object_mappers"]
    assert curated(tickets) == 4


def test_a_label_without_a_kind_is_wrong_usage(run: Run, jochi: Jochi) -> None:
    jochi.database.run("CREATE (:Incident {number: 'INC1'})")
    asked = run("enrol", "Incident", "--yes")
    assert code(asked) == 2
    assert "[kinds.Incident]" in str(asked.exception)
    assert code(run("enrol", "Ticket", "--page", "0")) == 2


def test_disenrol_asks_and_takes_it_back(run: Run, tickets: Jochi) -> None:
    scoped(tickets)
    before = whole(tickets)
    assert code(run("enrol", "Ticket", "--yes")) == 0
    asked = run("disenrol", "Ticket", input="n\n")
    assert "Release all nodes of Ticket that were enrolled?" in asked.stderr
    assert code(asked) == 5
    assert curated(tickets) == 4
    done = run("disenrol", "Ticket", input="y\n")
    assert code(done) == 0, done.output
    assert "4 nodes released, 0 of them brought back from pruning" in done.stdout
    assert whole(tickets) == before
    assert json.loads(run("disenrol", "Ticket", "--yes", "--json").stdout)["released"] == 0
    assert code(run("disenrol", "Letter", "--yes")) == 5, "its intake would enrol them again"


# -- intake: the triggers themselves are in tests/faults/test_intake_triggers.py ----------------------------------------


def test_intake_list_shows_what_is_stored_and_what_runs(
    run: Run, jochi: Jochi, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        triggers.TriggerStatus("jochi.intake.neo4j.on_changed", "before", "OUTDATED", False),
        triggers.TriggerStatus("jochi.intake.neo4j.on_created", "afterAsync", "INSTALLED", True),
    ]
    monkeypatch.setattr(triggers, "list_triggers", lambda engine: rows)
    shown = run("engine", "intake", "list")
    assert code(shown) == 0, shown.output
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in shown.stdout.splitlines()]
    assert ["jochi.intake.neo4j.on_changed", "before", "OUTDATED", "no"] in cells
    assert ["jochi.intake.neo4j.on_created", "afterAsync", "INSTALLED", "yes"] in cells
    assert [row["status"] for row in json.loads(run("intake", "list", "--json").stdout)] == ["OUTDATED", "INSTALLED"]


def test_intake_cost_prints_what_a_commit_costs(run: Run, jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def measured(_engine: Engine, *, on_progress: Callable[[str], None], **options: Any) -> triggers.TriggerCost:
        asked.append(options)
        on_progress("pair 1 of 2")
        return triggers.TriggerCost(2, 40, 1.25, 1.5, 0.25, -0.125, 0.75)

    monkeypatch.setattr(triggers, "measure_cost", measured)
    words = ("engine", "intake", "cost", "--pairs", "2", "--commits", "40", "--wait", "7")
    shown = run(*words)
    assert code(shown) == 0, shown.output
    assert shown.stdout.strip() == (
        "a commit of one node: 1.25 ms without, 1.50 ms with; added +0.25 ms (-0.12 to +0.75 over 2 pairs of 40 commits)"
    )
    assert json.loads(run(*words, "--json").stdout)["added_ms"] == 0.25
    assert asked == [{"pairs": 2, "commits": 40, "wait_seconds": 7.0}] * 2
