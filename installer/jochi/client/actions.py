"""Verbs of what agents do with memories: whether they may, how it went, what follows (seed 003; docs/reference/actions.md)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from jochi.client.base import Base
from jochi.curate.actions import Eligibility, Verdict, read
from jochi.errors import UsageError
from jochi.graph.driver_values import read_as
from jochi.policy.actions import Action
from jochi.text.imports import escape_imports
from jochi.write.action_records import ActionsResult, Outcome, add, add_files, read_action

WHOLE_DATABASE = "/"
"""In the place of a scope: no scope has a slash."""


@dataclass(frozen=True)
class ActionEntry:
    """What an agent asked (``verdict`` and the ``rule`` that decided) or did (``outcome``)."""

    id: str
    scope: str
    at: datetime
    action: str
    verdict: str | None
    rule: str | None
    fell_back: bool | None
    outcome: str | None
    confidence: float | None
    lifecycle_state: str | None
    importance: float | None
    source: str | None
    policy: str | None


@dataclass(frozen=True)
class Guidelines:
    """What is said of a scope, or of the whole database (``scope`` is `/`): ``lines``, one a kind of action, of ``read`` records
    from ``since`` to ``at``. ``version`` rises when they say something else."""

    scope: str
    version: int
    lines: tuple[str, ...]
    at: datetime
    since: datetime
    read: int
    unreadable: int
    run: str
    policy: str | None

    def as_markdown(self) -> str:
        """As a section of compression-guidelines.md."""
        title = "The whole database" if self.scope == WHOLE_DATABASE else f"Scope {' '.join(self.scope.split())}"
        lines = "\n".join(f"- {line}" for line in self.lines) or "Nothing was reported."
        made = f"Version {self.version}, {self.at:%Y-%m-%d %H:%M}Z, of {self.read} records since {self.since:%Y-%m-%d}."
        return f"## {title}\n\n{made}\n\n{lines}\n"


def guidelines_page(found: Iterable[Guidelines]) -> str:
    """The file compression-guidelines.md."""
    return escape_imports("\n".join(["# Guidelines\n", *(each.as_markdown() for each in found)]))


class ActionVerbs(Base):
    def may_act(
        self,
        action: object,
        eligibility: Eligibility | Mapping[str, Any] | object = None,
        *,
        scope: str = "default",
        id: str | None = None,
        record: bool = True,
        now: datetime | None = None,
    ) -> Verdict:
        """Whether an agent may do this with a memory, judged in the database. Whatever it is given, it answers: an action that is
        none is judged as `discard`, an eligibility that is none as one of no confidence (`Verdict.faults` says so).

        On record under ``id`` (default: made up), unless ``record`` is false; `acted` with the same id reports how it went.
        `jochi.curate.actions` parses strictly. `UsageError` for a scope or an id that can't be one.
        """
        values = eligibility.as_json() if isinstance(eligibility, Eligibility) else eligibility
        _, _, faults = read(action, values)
        wrong = {fault.where for fault in faults}
        parameters = {
            # What isn't JSON couldn't even be sent.
            "action": None if "action" in wrong else action,
            "eligibility": values if wrong <= {"action"} else None,
            "id": id or str(uuid.uuid4()),
            "scope": scope,
        }
        row = self.engine.call(
            "actions/judge", {"now": self._at(now, "may_act", "now"), "actions": [parameters], "record": record}
        )
        if row["problem"] is not None:
            raise UsageError(row["problem"], where="may_act", fix="see docs/reference/actions.md")
        answer = row["results"][0]
        if record and not answer["recorded"]:
            raise UsageError(
                "the decision can't be put on record",
                where=f"scope {scope!r:.100}, id {id!r:.100}",
                fix="both are texts of 1 to 1,000 characters, a scope without a slash",
            )
        return Verdict(
            answer["action"],
            Eligibility.model_validate(answer["eligibility"]),
            answer["allowed"],
            answer["rule"],
            answer["required"],
            faults,
        )

    def report_action(
        self,
        action: Action,
        outcome: Outcome,
        eligibility: Eligibility | Mapping[str, Any] | None = None,
        *,
        scope: str = "default",
        id: str | None = None,
        at: datetime | None = None,
    ) -> ActionsResult:
        """Reports what an agent did with memories and how it went; guidelines are made of it.

        ``id``: the same again changes nothing; that of a decision (`may_act`) adds the outcome to it. Raises `UsageError`.
        """
        now = self._at(None, "report_action")
        values = eligibility.as_json() if isinstance(eligibility, Eligibility) else eligibility
        given = {"action": action, "outcome": outcome, "eligibility": values, "scope": scope, "id": id, "at": at}
        try:
            record = read_action(given, now=now)
        except ValueError as error:
            raise UsageError(str(error), where="report_action", fix="see docs/reference/actions.md") from None
        result = ActionsResult()
        add(self.engine, [(str(uuid.uuid4()), record)], now=now, result=result)
        return result

    def add_actions(self, paths: Iterable[Path], *, now: datetime | None = None) -> ActionsResult:
        """Takes in files of JSON Lines (memory-actions.jsonl), one action a line, of any length, also packed with gzip.

        A bad line or file is counted and named (`bad_lines`), and the others are taken. The same file again changes nothing.
        """
        return add_files(self.engine, paths, now=self._at(now, "add_actions", "now"))

    def actions(self, *, scope: str | None = None, limit: int = 50, now: datetime | None = None) -> list[ActionEntry]:
        """What agents asked and did, of ``scope`` or of all, the newest first."""
        at = self._at(now, "actions", "now")
        row = self._read("actions/list", now=at, scope=scope, actions=limit, guidelines=0)
        return [read_as(ActionEntry, each) for each in row["actions"]]

    def guidelines(self, *, scope: str | None = None, limit: int = 1_000) -> list[Guidelines]:
        """What follows from what agents reported in ``scope``, or in each, after that of the whole database. The job
        `learn_guidelines` makes them."""
        row = self._read("actions/list", now=self._at(None, "guidelines"), scope=scope, actions=0, guidelines=limit)
        return [read_as(Guidelines, each) for each in row["guidelines"]]
