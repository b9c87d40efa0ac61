"""The fixed memories of a generated team: each stands at the edge of a rule or under a rail of seed 000."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jochi.write.record import MemoryRecord, Relationship

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class _Team:
    """Whose memories they are, and the time that they lie in."""

    start: datetime
    end: datetime
    agents: Sequence[str]
    scope: str

    def case(
        self, id: str, kind: str, content: str, links: Sequence[tuple[str, str]] = (), **properties: Any
    ) -> MemoryRecord:
        defaults = {"content": content, "created_at": self.start, "author": self.agents[0], "generated": True}
        relationships = tuple(Relationship(type, self.scope, f"edge_{to}") for type, to in links)
        return MemoryRecord(kind, f"edge_{id}", self.scope, defaults | properties, relationships)

    def ago(self, age: timedelta) -> datetime:
        return max(self.start, self.end - age)


def edge_cases(start: datetime, end: datetime, agents: Sequence[str], scope: str) -> list[MemoryRecord]:
    """One memory a case, as old as the generated time allows; ids begin with `edge_`."""
    team = _Team(start, end, agents, scope)
    groups = (_notifications, _sessions, _beliefs, _reflections, _tasks, _findings, _entries)
    return [memory for group in groups for memory in group(team)]


def _notifications(team: _Team) -> list[MemoryRecord]:
    return [
        team.case(
            "unread_critical",
            "Notification",
            "The certificate of the public API expires; nobody has confirmed this yet.",
            read=False,
            priority="critical",
        ),
        team.case(
            "unread_normal", "Notification", "A weekly digest that nobody opened.", read=False, priority="normal"
        ),
        team.case(
            "pinned_notification",
            "Notification",
            "Pinned: how to reach the person on call.",
            read=True,
            read_at=team.start + HOUR,
            priority="normal",
            pinned=True,
        ),
        team.case(
            "read_long_ago",
            "Notification",
            "The build of 4.11 finished without warnings.",
            read=True,
            read_at=team.start + HOUR,
            priority="normal",
        ),
    ]


def _sessions(team: _Team) -> list[MemoryRecord]:
    return [
        team.case(
            "active_session",
            "SessionContext",
            "On-call watch, open since the start.",
            active=True,
            last_active_at=team.start,
        ),
        team.case(
            "ended_session",
            "SessionContext",
            "Handover of the export job, ended.",
            active=False,
            last_active_at=team.start + HOUR,
        ),
        team.case("session_entry", "MemoryEntry", "The export job is handed over.", [("PART_OF", "ended_session")]),
        team.case(
            "keywords",
            "CompressedContext",
            "handover, export job, on call",
            [("PART_OF", "ended_session")],
            compression_level="keywords",
        ),
    ]


def _beliefs(team: _Team) -> list[MemoryRecord]:
    return [
        team.case(
            "confident_belief",
            "Belief",
            "Backups that were never restored are no backups.",
            state="active",
            confidence=0.95,
            confidence_at=team.start,
        ),
        team.case(
            "doubtful_belief",
            "Belief",
            "Longer release notes bring fewer tickets.",
            state="active",
            confidence=0.25,
            confidence_at=team.start,
        ),
        team.case(
            "archived_belief",
            "Belief",
            "Everybody reads the status page first.",
            state="archived",
            archived_at=team.start,
            confidence=0.15,
            confidence_at=team.start,
        ),
        team.case(
            "belief_on_archived",
            "Belief",
            "The status page should say less and sooner.",
            [("EVIDENCE", "archived_belief")],
            state="active",
            confidence=0.75,
            confidence_at=team.start,
        ),
    ]


def _reflections(team: _Team) -> list[MemoryRecord]:
    return [
        team.case(
            "proven_reflection",
            "Reflection",
            "Restart the worker before the queue is full, not after.",
            [("LEARNED_FROM", "learned_task")],
            consolidated=True,
            consolidated_at=team.start + DAY / 2,
            access_count=9,
            last_accessed_at=team.start + DAY / 2,
        ),
        team.case(
            "raw_reflection", "Reflection", "The review of billing took too long; not clear why.", consolidated=False
        ),
    ]


def _tasks(team: _Team) -> list[MemoryRecord]:
    return [
        team.case(
            "learned_task", "Task", "Empty the queue by hand.", status="completed", completed_at=team.start + HOUR
        ),
        team.case(
            "completed_task", "Task", "Rename the old dashboards.", status="completed", completed_at=team.start + HOUR
        ),
        team.case(
            "failed_task", "Task", "Move search to the spare host.", status="failed", failed_at=team.start + HOUR
        ),
        team.case("pending_task", "Task", "Ask for a second on-call phone.", status="pending"),
        team.case("blocked_task", "Task", "Order the new certificate.", status="blocked"),
        team.case(
            "locked_task",
            "Task",
            "Rewrite the retry of the export job.",
            status="in_progress",
            locked_by=team.agents[-1],
            locked_at=team.ago(HOUR / 12),
        ),
        team.case(
            "stale_lock",
            "MemoryEntry",
            "A lock that its agent never gave back.",
            locked_by=team.agents[-1],
            locked_at=team.start + HOUR,
        ),
    ]


def _findings(team: _Team) -> list[MemoryRecord]:
    return [
        team.case("minor_analysis", "Analysis", "The footer loads in 40 ms.", severity="info"),
        team.case("critical_analysis", "Analysis", "Orders were taken twice for nine minutes.", severity="critical"),
        team.case("advised_analysis", "Analysis", "Two of three alerts repeat the first.", severity="low"),
        team.case(
            "advice",
            "Recommendation",
            "Group alerts by cause.",
            [("EVIDENCE", "advised_analysis")],
            status="open",
        ),
        team.case("synthesis", "Synthesis", "Queues, alerts and handovers fail at the same hour.", access_count=4),
    ]


def _entries(team: _Team) -> list[MemoryRecord]:
    return [
        team.case(
            "consensus",
            "MemoryEntry",
            "All agents came back to this: the export job has no owner.",
            agents=list(team.agents),
            access_count=len(team.agents),
            last_accessed_at=team.start + HOUR,
        ),
        team.case("expired", "MemoryEntry", "The office is closed on Friday.", expires_at=team.start + DAY / 2),
        team.case(
            "expires_later", "MemoryEntry", "The trial of the new search ends soon.", expires_at=team.end + 3 * DAY
        ),
        team.case(
            "newborn", "MemoryEntry", "Written a minute before the end.", created_at=team.ago(timedelta(minutes=1))
        ),
    ]
