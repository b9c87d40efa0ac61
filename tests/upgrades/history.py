"""What happens in a database before it is frozen: a script that runs with the code of the version that it is about.

It names only what every version has. Environment: TEST_URI, TEST_USER, TEST_PASSWORD, TEST_POLICY. The database is empty.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from typing import Any

import neo4j

from jochi import Jochi, importing
from jochi.cli import main
from jochi.forgetting import Request
from jochi.generate import team
from jochi.policy import load_policy

NOW = datetime.now(timezone.utc)
DAY = timedelta(days=1)


def notification(id: str, age: float) -> dict[str, Any]:
    """One that was read; its time is over after a week."""
    properties = {"read": True, "priority": "low", "created_at": NOW - age * DAY}
    return {"kind": "Notification", "id": id, "content": f"Notification {id}", "properties": properties}


def fact(id: str, value: str, age: float) -> dict[str, Any]:
    slot = {"subject": "Ann", "attribute": "city", "value": value, "valid_from": NOW - age * DAY, "confidence": 0.9}
    return {"kind": "Fact", "id": id, "scope": "facts", "content": f"Ann lives in {value}", "properties": slot}


def memory(id: str, content: str, vector: list[float], **more: Any) -> dict[str, Any]:
    row = {"kind": "MemoryEntry", "id": id, "content": content, "embedding": vector, "embedding_model": "frozen"}
    return {**row, "properties": {"created_at": NOW - 3 * DAY}, **more}


def command(*words: str) -> None:
    """A command of the version's own command line."""
    sys.argv = ["jochi", *words]
    try:
        main()
    except SystemExit as done:
        if done.code:
            raise


def work_everything(client: Jochi) -> None:
    """Workers prepare and judge what is due, and the jobs go on with it."""
    command("worker", "--once")
    for job in ("find_duplicates", "fold_accesses", "settle_slots"):
        client.run(job, drain=True)
    command("worker", "--once")
    client.run("merge_duplicates", drain=True)


def live(client: Jochi) -> None:
    """The history itself. What is destroyed here is destroyed by the version's own runs."""
    import_module("jochi.install.install").explain_all = lambda *_: (
        None
    )  # minutes of planning, of which no plan is used
    client.install(arm=False)
    # Nodes of an application, which became memories.
    client.database.run(
        "UNWIND range(1, 12) AS i CREATE (t:Ticket {ticket_no: 'T-' + i, customer: 'acme', priority: i, "
        "body: 'The printer ' + i + ' is on fire', opened: $opened + i, done: i < 4}) "
        "CREATE (t)-[:RAISED_BY {at: date('2026-11-01')}]->(:Customer {name: 'Customer ' + i})",
        {"opened": int((NOW - 20 * DAY).timestamp() * 1000)},
    )
    client.enrol("Ticket")
    importing.write(client.database, team(5, end=NOW, days=40, size=60, scope="team"), now=NOW)
    client.remember([notification(f"n{i}", 12 + i) for i in range(9)])
    client.remember([fact("city1", "Rome", 60), fact("city2", "Oslo", 20)])
    away = [{"type": "ABOUT", "to": "n0"}, {"type": "ABOUT", "to": "garden"}]
    client.remember(
        [
            memory("garden", "The garden is behind the house", [0.0, 1.0, 0.0, 0.0]),
            memory("same1", "Bo paid the invoice on Monday", [1.0, 0.0, 0.0, 0.0], relationships=away),
            memory("code", "The code of the safe is 4711", [0.0, 0.0, 1.0, 0.0]),
        ]
    )
    # `remember` knows a text again; an application that writes without it doesn't.
    client.database.run(
        "MATCH (m:Curated {key: 'default/same1'}), (g:Curated {key: 'default/garden'}) "
        "CREATE (s:Curated:MemoryEntry)-[:ABOUT {n: 1}]->(g) "
        "SET s = m {.*, key: 'default/same2', id: 'same2', content_key: null, similar_due: $now}",
        {"now": NOW},
    )
    client.touch(["default/garden", "team/edge_pinned"], agent="agent-1")
    client.apply()
    work_everything(client)
    client.run("curate_due", drain=True)
    client.forget(Request(keys=("default/code",)))
    # What is due and hasn't happened yet: a plan speaks of some of it, and workers have the rest to do.
    client.remember([notification(f"later{i}", 30 + i) for i in range(5)])
    client.save_plan(client.plan())
    client.remember([{"kind": "Belief", "id": f"new{i}", "content": f"Nobody has looked at {i} yet"} for i in range(3)])
    client.touch(["default/garden"], agent="agent-2")
    command("jobs", "pause", "sweep_orphans")
    command("pause", "--scope", "quiet")


if __name__ == "__main__":
    auth = (os.environ["TEST_USER"], os.environ["TEST_PASSWORD"])
    with neo4j.GraphDatabase.driver(os.environ["TEST_URI"], auth=auth) as driver:
        live(Jochi(driver, policy=load_policy(Path(os.environ["TEST_POLICY"]))))
