"""What agents did with memories, reported one by one or as files of JSON Lines (seed 003, Compression Guideline Learning).

Ids, scopes and the words of the taxonomy are taken; what else stands in a line is never stored, so no memory's text gets in.
"""

from __future__ import annotations

import contextlib
import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from jochi.curate.actions import Eligibility
from jochi.database.batches import chunks
from jochi.database.engine import Engine
from jochi.errors import UsageError
from jochi.graph.driver_values import fixed_offset
from jochi.policy.actions import Action
from jochi.write.importing.files import open_source
from jochi.write.importing.jsonlines import LONGEST_LINE, json_value, lines_of
from jochi.write.importing.line import Context, Id, Instant, Scope, reason
from jochi.write.importing.result import KEPT_LINES, BadLine
from jochi.write.record import DEFAULT_SCOPE

Outcome = Literal["applied", "skipped", "failed"]
"""How an action went."""

CHUNK = 2_000
"""Actions in one transaction."""


class ActionRecord(BaseModel):
    """One thing that an agent did. Of a line of JSON all other keys are left out."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    action: Action
    """What it did."""
    outcome: Outcome
    """How it went."""
    at: Annotated[Instant | None, Field(validation_alias=AliasChoices("at", "timestamp"))] = None
    """When, with a zone; default: now."""
    scope: Annotated[Scope, Field(validation_alias=AliasChoices("scope", "namespace"))] = DEFAULT_SCOPE
    """In which scope."""
    id: Id | None = None
    """The same again changes nothing. That of a decision (`Jochi.may_act`): its outcome."""
    eligibility: Eligibility | None = None
    """What it was judged by."""

    def as_row(self, id: str) -> dict[str, Any]:
        """As `actions/add` takes it; ``id`` stands in for a missing one."""
        return {
            "id": self.id or id,
            "scope": self.scope,
            "action": self.action,
            "outcome": self.outcome,
            "at": None if self.at is None else fixed_offset(self.at),
            "eligibility": None if self.eligibility is None else self.eligibility.as_json(),
        }


@dataclass
class ActionsResult:
    """What became of reported actions. ``old`` ones are older than the policy keeps (`actions.keep`)."""

    added: int = 0
    known: int = 0
    old: int = 0
    bad_count: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)
    """The first thousand."""

    def bad(self, line: BadLine) -> None:
        self.bad_count += 1
        if len(self.bad_lines) < KEPT_LINES:
            self.bad_lines.append(line)

    @property
    def exit_code(self) -> int:
        """0 all taken · 3 some lines were bad, the others are in · 1 bad lines and nothing else."""
        return 0 if not self.bad_count else 3 if self.added or self.known or self.old else 1


def add(engine: Engine, records: Iterable[tuple[str, ActionRecord]], *, now: datetime, result: ActionsResult) -> None:
    """Writes records, each with an id that stands in for a missing one, in transactions of 2,000."""
    for chunk in chunks(records, CHUNK):
        rows = [record.as_row(id) for id, record in chunk]
        answer = engine.call("actions/add", {"now": now, "actions": rows})
        if answer["problem"] is not None:
            raise UsageError(answer["problem"], where="actions", fix="see docs/reference/actions.md")
        became = Counter(each["outcome"] for each in answer["results"])
        result.added += became["added"]
        result.known += became["known"]
        result.old += became["old"]
        for row, each in zip(rows, answer["results"], strict=True):
            if each["outcome"] == "refused":
                result.bad(BadLine(row["id"], None, f"refused: {', '.join(each['faults'])}"))


def add_files(engine: Engine, paths: Iterable[Path], *, now: datetime) -> ActionsResult:
    """Reads files of JSON Lines as streams, also packed with gzip. A line that holds no action, or a file that can't be read, is
    counted and named, and the rest goes on. The same line in the same place of a file again changes nothing."""
    result = ActionsResult()
    for path in paths:
        add(engine, _records(path, now, result.bad), now=now, result=result)
    return result


def _records(path: Path, now: datetime, on_bad: Callable[[BadLine], None]) -> Iterator[tuple[str, ActionRecord]]:
    try:
        source = open_source(path)
    except UsageError as error:
        on_bad(BadLine(str(path), None, error.what))
        return
    number = 0
    with contextlib.closing(source):
        try:
            for number, raw in enumerate(lines_of(source.stream), start=1):
                try:
                    if raw is None:
                        raise ValueError(f"the line is longer than {LONGEST_LINE // 1024**2} MB")
                    if not raw.strip():
                        continue
                    record = read_action(json_value(raw), now=now)
                except ValueError as error:
                    on_bad(BadLine(str(path), number, str(error)))
                else:
                    yield hashlib.sha256(f"{number}:".encode() + raw).hexdigest(), record
        except (EOFError, OSError, zlib.error) as error:
            on_bad(BadLine(str(path), number + 1, f"the file can't be read from here on: {error}"))


def read_action(value: object, *, now: datetime) -> ActionRecord:
    """A record from an object as JSON has it; ValueError that says in one line what is wrong."""
    try:
        return ActionRecord.model_validate(value, context=Context(now=now, kinds=frozenset()))
    except ValidationError as error:
        raise ValueError(reason(error)) from None
