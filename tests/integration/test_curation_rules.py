"""What rules leave alone, what they leave of a memory, and when they may (seed 000, TTL Rules; DESIGN §4, §8). Each rule on both
sides of its threshold: test_curation_ttl.py."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from tests.conftest import say_go
from tests.oracle import Memory, graph

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import run_job
from jochi.policy import LoadedPolicy

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
OLD = NOW - 400 * DAY


@pytest.fixture
def jochi(install_once: Callable[[LoadedPolicy], Jochi], rules_alone: LoadedPolicy) -> Jochi:
    """What rules do by themselves: what the score makes of that is for test_score."""
    return install_once(rules_alone)


def curate(client: Jochi, *memories: Memory, now: datetime = NOW) -> set[str]:
    """Runs the queue once at ``now``, all memories being due; the ids that were pruned."""
    graph.write(client.database, memories, due=now)
    planned = client.plan(now).prunes
    runs = run_job(client.engine, "curate_due", now=now, drain=True)
    assert [run.error for run in runs if run.error] == []
    gone = {key.split("/")[1] for key in graph.pruned(client.database)}
    assert planned == len(gone)
    return gone


def test_what_no_rule_names_stays_for_ever(applied: Jochi) -> None:
    kept = [
        Memory("critical", ("Notification",), {"read": False, "priority": "critical", "created_at": OLD}),
        Memory("no-priority", ("Notification",), {"read": False, "created_at": OLD}),
        Memory("odd-priority", ("Notification",), {"read": False, "priority": 3, "created_at": OLD}),
        Memory("no-read", ("Notification",), {"priority": "low", "created_at": OLD}),
        Memory("odd-read", ("Notification",), {"read": "yes", "priority": "low", "created_at": OLD, "read_at": OLD}),
        Memory("odd-clock", ("Notification",), {"read": True, "created_at": OLD, "read_at": "2020-01-01"}),
        Memory("active", ("SessionContext",), {"active": True, "created_at": OLD, "last_active_at": OLD}),
        Memory("no-active", ("SessionContext",), {"created_at": OLD}),
        Memory("odd-deadline", ("Invoice",), {"created_at": OLD, "expires_at": "2020-01-01T00:00:00Z"}),
        *(
            Memory(kind, (kind,), {"created_at": OLD, "read": True, "active": False})
            for kind in ("Belief", "Analysis", "Note")
        ),
    ]
    assert curate(applied, *kept) == set()
    assert {stored.properties["curation_action"] for stored in graph.state(applied.database).values()} == {"KEEP"}


def test_what_is_unknown_is_said(applied: Jochi) -> None:
    odd: dict[str, tuple[dict[str, Any], str]] = {
        "no-priority": ({"read": False}, "notification.unread"),
        "odd-priority": ({"read": False, "priority": 3}, "notification.unread"),
        "odd-clock": ({"read": True, "read_at": "2020-01-01"}, "notification.read"),
    }
    memories = [Memory(id, ("Notification",), more | {"created_at": OLD}) for id, (more, _) in odd.items()]
    graph.write(applied.database, memories, due=NOW)
    for id, (_more, unknown) in odd.items():
        assert [rule.rule for rule in applied.explain(id, at=NOW).rules if rule.unknown] == [unknown]
    assert sum(run.tally.get("unknown", 0) for run in run_job(applied.engine, "curate_due", now=NOW)) == 3


def test_the_deadline_goes_before_the_kinds_own_rule(applied: Jochi) -> None:
    both = Memory("both", ("Notification",), {"read": True, "created_at": OLD, "expires_at": NOW - SECOND})
    assert curate(applied, both) == {"both"}
    assert [audit["rule"] for audit in graph.audits(applied.database)] == ["any.expires_at"]


def test_a_tombstone_keeps_everything_and_loses_every_label(applied: Jochi) -> None:
    memory = Memory(
        "n", ("Notification", "Urgent"), {"read": True, "created_at": OLD, "content": "x"}, linked=("kublai",)
    )
    curate(applied, memory)
    (stored,) = graph.state(applied.database).values()
    assert stored.labels == {"Tombstone"}
    assert stored.properties.items() >= {"content": "x", "read": True, "tombstone": True, "key": "default/n"}.items()
    assert sorted(stored.properties["tombstone_labels"]) == ["Curated", "Notification", "Urgent"]
    assert to_python(stored.properties["deleted_at"]) == NOW
    assert applied.database.run("MATCH (:Tombstone)-[r:SEEN_BY]->(:Agent) RETURN count(r) AS n") == [{"n": 1}]
    (audit,) = graph.audits(applied.database)
    assert (audit["action"], audit["kind"], audit["key"]) == ("prune", "Notification", "default/n")
    assert to_python(audit["due"]) == OLD + 7 * DAY


def test_two_scopes_with_the_same_ids_do_not_touch_each_other(applied: Jochi) -> None:
    properties = {"read": True, "created_at": OLD}
    young = {"read": True, "created_at": NOW - 2 * DAY}
    curate(
        applied, Memory("n", ("Notification",), properties, scope="a"), Memory("n", ("Notification",), young, scope="b")
    )
    assert graph.pruned(applied.database) == {"a/n"}
    assert applied.explain("n", scope="a").outcome is None
    assert applied.explain("n", scope="b").outcome is not None


def test_nothing_is_pruned_before_somebody_says_go(jochi: Jochi) -> None:
    from jochi.errors import Refused

    graph.write(jochi.database, [Memory("n", ("Notification",), {"read": True, "created_at": OLD})], due=NOW)
    assert jochi.plan(NOW).prunes == 1
    for job in ("curate_due", "purge_tombstones"):
        with pytest.raises(Refused, match="go"):
            run_job(jochi.engine, job, now=NOW)
    assert graph.pruned(jochi.database) == set()
    say_go(jochi)
    run_job(jochi.engine, "curate_due", now=NOW)
    assert graph.pruned(jochi.database) == {"default/n"}


def test_a_memory_without_a_key_does_not_hold_up_the_queue(applied: Jochi) -> None:
    """:Curated without enrolment: passed over, however many there are."""
    applied.database.run(
        "UNWIND range(1, 300) AS i CREATE (:Curated:Notification {read: true, created_at: $old, next_due: $old})",
        {"old": OLD},
    )
    assert curate(applied, Memory("n", ("Notification",), {"read": True, "created_at": OLD})) == {"n"}


def test_a_live_node_that_still_carries_the_tombstone_label_is_pruned_and_restored_clean(applied: Jochi) -> None:
    """A stale object saved by an app can give a tombstone its live label again (DESIGN §2)."""
    curate(applied, Memory("n", ("Notification", "Tombstone"), {"read": True, "created_at": OLD}))
    assert [restored.outcome for restored in applied.restore(["default/n"])] == ["restored"]
    assert graph.state(applied.database)["default/n"].labels == {"Curated", "Notification"}
