"""`enrol`: a page of nodes is one transaction, so it can be stopped, killed, run twice at once and run again.

What is enrolled is committed with its mark; what isn't is found by the next run. Nothing is remembered outside the database.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from neo4j.exceptions import ClientError, Neo4jError

from jochi.database.engine import Engine
from jochi.errors import ConnectionFailed, JochiError, UsageError
from jochi.write.enrolling.kinds import kind_of
from jochi.write.enrolling.pages import CHUNK, node_ranges, pages
from jochi.write.enrolling.results import EnrolResult, Problems

PAGE = 2_000
LARGEST_PAGE = 10_000
PASSES = 5
"""Walks over the label at most: another one follows while the last still found something new to enrol."""
TRIES = 5


def enrol(
    engine: Engine,
    label: str,
    *,
    now: datetime,
    generate_ids: bool = False,
    page: int = PAGE,
    on_progress: Callable[[EnrolResult], None] | None = None,
    chunk: int = CHUNK,
) -> EnrolResult:
    """Enrols every node of ``label`` that can be; ``now`` is when the engine looks at them first (at once).

    ``on_progress`` gets the running counts after each page. `UsageError` as in `plan_enrolment`; `ConnectionFailed` if the
    server goes away: run it again, what is done stays and isn't doubled.
    """
    if not 1 <= page <= LARGEST_PAGE:
        raise UsageError(f"a page of {page} nodes", fix=f"give a number from 1 to {LARGEST_PAGE:,}")
    kind_of(engine, label)
    result = EnrolResult(label, run=f"enrol/{uuid.uuid4()}")
    parameters = {"now": now, "label": label, "make_ids": generate_ids, "run": result.run}
    for walk in range(PASSES):
        before = result.enrolled
        # What a walk refuses the next one refuses again: the last one counts.
        result.troubles = Problems()
        for stretch in node_ranges(engine.database, label, chunk):
            if walk == 0:
                result.already += stretch.seen - len(stretch.fresh)
            for ids in pages(stretch.fresh, page):
                for row in _write(engine, ids, parameters, result):
                    result.enrolled += row["enrolled"]
                    result.passed += row["passed"]
                    result.troubles.add_rows(row["refused"])
                if on_progress:
                    on_progress(result)
        if result.enrolled == before:
            break
    return result


def _write(engine: Engine, ids: list[str], parameters: dict[str, Any], result: EnrolResult) -> list[dict[str, Any]]:
    """Writes a page; one that the server refuses because of a node is halved until that node stands alone."""
    try:
        return [_patiently(engine, {**parameters, "nodes": ids})]
    except ClientError as error:
        if not _about_a_node(error):
            raise JochiError(
                f"the server refused after {result.enrolled:,} nodes were enrolled: {error.message}",
                where=f"database {engine.database.name}",
                fix="set right what the server says, then run the same command again: nothing is doubled",
            ) from error
        if len(ids) == 1:
            reason = (error.code or "refused").rsplit(".", 1)[-1]
            return [{"enrolled": 0, "passed": 0, "refused": [{"problem": f"server: {reason}", "n": 1, "samples": ids}]}]
        middle = len(ids) // 2
        return _write(engine, ids[:middle], parameters, result) + _write(engine, ids[middle:], parameters, result)
    except Neo4jError as error:
        raise ConnectionFailed(
            f"interrupted after {result.enrolled:,} nodes were enrolled: {error.message}",
            where=f"database {engine.database.name}",
            fix="run the same command again when the server answers: what is done stays and isn't doubled",
        ) from error


def _patiently(engine: Engine, parameters: dict[str, Any]) -> dict[str, Any]:
    """One page. Where another client took a key or deleted a node while this one waited for it, looking again settles it."""
    for attempt in range(TRIES):
        try:
            return engine.call("enrol/write", parameters)
        except ClientError as error:
            settles = (error.code or "").endswith(("ConstraintValidationFailed", "EntityNotFound"))
            if not settles or attempt == TRIES - 1:
                raise
    raise AssertionError("the loop returns or raises")


def _about_a_node(error: ClientError) -> bool:
    """Whether another node could fare better."""
    code = error.code or ""
    return (
        code.endswith(
            ("ConstraintValidationFailed", "EntityNotFound", "TypeError", "ArgumentError", "PropertyValueTooLarge")
        )
        or "TransactionCommitFailed" in code
    )
