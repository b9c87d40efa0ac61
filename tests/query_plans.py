"""How the server would run what is installed (DESIGN §6: nothing that grows is read whole)."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from jochi import Jochi
from jochi.install.install import as_doit_runs_it

SCANS = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "IntersectionNodeByLabelsScan", "NodeIndexScan"}
SMALL = {
    "JochiJob",
    "JochiPump",
    "JochiMerging",
    "JochiPause",
    "JochiQuota",
    "JochiProcedure",
    "JochiPolicy",
    "JochiPlan",
}
"""Labels of the engine of which there are few nodes: these may be read whole."""


def fill(client: Jochi) -> None:
    """Enough of everything that an index is worth its while."""
    client.database.run(
        "UNWIND range(1, 2000) AS i "
        "CREATE (:Curated:Notification {key: 'default/n' + i, scope: 'default', next_due: $now + duration({minutes: i})}) "
        "CREATE (:Tombstone {key: 'default/t' + i, deleted_at: $now + duration({minutes: i})}) "
        "CREATE (:JochiAccess {key: 'default/n' + i}) "
        "CREATE (:CurationAudit {key: 'default/n' + i, run: 'r' + (i % 10)})",
        {"now": datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)},
    )
    client.database.autocommit("CALL db.awaitIndexes(60)")
    # What the indexes hold is counted anew: else the plans are for what was there before.
    client.database.autocommit("CALL db.prepareForReplanning(120)")


def operators(client: Jochi, text: str) -> list[tuple[str, str]]:
    """(operator, details) of a statement's plan, from the leaves up."""
    with client.database.driver.session(database=client.database.name) as session:
        root = session.run("EXPLAIN " + text).consume().plan
    found: list[tuple[str, str]] = []

    def walk(node: dict[str, Any]) -> None:
        for child in node.get("children", []):
            walk(child)
        found.append((node["operatorType"].split("@")[0], str(node["args"].get("Details", ""))))

    assert root is not None
    walk(root)
    return found


def scans(client: Jochi, name: str, section: str, text: str) -> list[str]:
    """What this section of a procedure reads whole and may not, in words."""
    # Reports read all, so does who asks for the namespaces of all scopes; intake's scan is cut off by its limit: test_intake.
    # They compile all the same.
    may_scan = name.startswith("report/") or name in ("intake/intake", "items/namespaces")
    return [
        f"{name} [{section}]: {operator} {details}"
        for operator, details in operators(client, as_doit_runs_it(text))
        if operator in SCANS and not may_scan and not any(f":{label}" in details for label in SMALL)
    ]
