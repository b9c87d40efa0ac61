"""The fixed memories of a generated team: each stands at the edge of a rule or under a rail of seed 000."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from jochi.write.record import MemoryRecord, Relationship

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def edge_cases(start: datetime, end: datetime, agents: Sequence[str], scope: str) -> list[MemoryRecord]:
    """One memory a case, as old as the generated time allows; ids begin with `edge_`."""

    def case(
        id: str, kind: str, content: str, links: Sequence[tuple[str, str]] = (), **properties: Any
    ) -> MemoryRecord:
        told = {"content": content, "created_at": start, "author": agents[0], "generated": True, **properties}
        return MemoryRecord(
            kind, f"edge_{id}", scope, told, tuple(Relationship(type, scope, f"edge_{to}") for type, to in links)
        )

    def ago(age: timedelta) -> datetime:
        return max(start, end - age)

    return [
        case(
            "unread_critical",
            "Notification",
            "The certificate of the public API expires; nobody has confirmed this yet.",
            read=False,
            priority="critical",
        ),
        case("unread_normal", "Notification", "A weekly digest that nobody opened.", read=False, priority="normal"),
        case(
            "pinned_notification",
            "Notification",
            "Pinned: how to reach the person on call.",
            read=True,
            read_at=start + HOUR,
            priority="normal",
            pinned=True,
        ),
        case(
            "read_long_ago",
            "Notification",
            "The build of 4.11 finished without warnings.",
            read=True,
            read_at=start + HOUR,
            priority="normal",
        ),
        case(
            "active_session",
            "SessionContext",
            "On-call watch, open since the start.",
            active=True,
            last_active_at=start,
        ),
        case(
            "ended_session",
            "SessionContext",
            "Handover of the export job, ended.",
            active=False,
            last_active_at=start + HOUR,
        ),
        case("session_entry", "MemoryEntry", "The export job is handed over.", [("PART_OF", "ended_session")]),
        case(
            "keywords",
            "CompressedContext",
            "handover, export job, on call",
            [("PART_OF", "ended_session")],
            compression_level="keywords",
        ),
        case(
            "confident_belief",
            "Belief",
            "Backups that were never restored are no backups.",
            state="active",
            confidence=0.95,
            confidence_at=start,
        ),
        case(
            "doubtful_belief",
            "Belief",
            "Longer release notes bring fewer tickets.",
            state="active",
            confidence=0.25,
            confidence_at=start,
        ),
        case(
            "archived_belief",
            "Belief",
            "Everybody reads the status page first.",
            state="archived",
            archived_at=start,
            confidence=0.15,
            confidence_at=start,
        ),
        case(
            "belief_on_archived",
            "Belief",
            "The status page should say less and sooner.",
            [("EVIDENCE", "archived_belief")],
            state="active",
            confidence=0.75,
            confidence_at=start,
        ),
        case(
            "proven_reflection",
            "Reflection",
            "Restart the worker before the queue is full, not after.",
            [("LEARNED_FROM", "learned_task")],
            consolidated=True,
            consolidated_at=start + DAY / 2,
            access_count=9,
            last_accessed_at=start + DAY / 2,
        ),
        case("raw_reflection", "Reflection", "The review of billing took too long; not clear why.", consolidated=False),
        case("learned_task", "Task", "Empty the queue by hand.", status="completed", completed_at=start + HOUR),
        case("completed_task", "Task", "Rename the old dashboards.", status="completed", completed_at=start + HOUR),
        case("failed_task", "Task", "Move search to the spare host.", status="failed", failed_at=start + HOUR),
        case("pending_task", "Task", "Ask for a second on-call phone.", status="pending"),
        case("blocked_task", "Task", "Order the new certificate.", status="blocked"),
        case(
            "locked_task",
            "Task",
            "Rewrite the retry of the export job.",
            status="in_progress",
            locked_by=agents[-1],
            locked_at=ago(HOUR / 12),
        ),
        case(
            "stale_lock",
            "MemoryEntry",
            "A lock that its agent never gave back.",
            locked_by=agents[-1],
            locked_at=start + HOUR,
        ),
        case("minor_analysis", "Analysis", "The footer loads in 40 ms.", severity="info"),
        case("critical_analysis", "Analysis", "Orders were taken twice for nine minutes.", severity="critical"),
        case("advised_analysis", "Analysis", "Two of three alerts repeat the first.", severity="low"),
        case(
            "advice",
            "Recommendation",
            "Group alerts by cause.",
            [("EVIDENCE", "advised_analysis")],
            status="open",
        ),
        case("synthesis", "Synthesis", "Queues, alerts and handovers fail at the same hour.", access_count=4),
        case(
            "consensus",
            "MemoryEntry",
            "All agents came back to this: the export job has no owner.",
            agents=list(agents),
            access_count=len(agents),
            last_accessed_at=start + HOUR,
        ),
        case("expired", "MemoryEntry", "The office is closed on Friday.", expires_at=start + DAY / 2),
        case("expires_later", "MemoryEntry", "The trial of the new search ends soon.", expires_at=end + 3 * DAY),
        case("newborn", "MemoryEntry", "Written a minute before the end.", created_at=ago(timedelta(minutes=1))),
    ]
