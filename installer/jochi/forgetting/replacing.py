"""Puts a statement in the place of another one in the memories that make it (docs/reference/facts.md, Statements in plain text)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.errors import Refused, UsageError
from jochi.forgetting.checking import Screen, asked_about
from jochi.forgetting.clauses import forget_readings
from jochi.forgetting.finding import BY_ID, Finder, Request, Target, rest_of
from jochi.forgetting.words import phrase, says
from jochi.graph.catalogue import is_our_word
from jochi.policy.model import Policy

_A_CALL = 100
"""Memories in one transaction."""

_IN_A_SLOT = "it is a fact in a slot: remember the new value as a fact, and time decides"
_CHANGED = "somebody changed it meanwhile: ask again"


@dataclass(frozen=True)
class Replaced:
    """``replaced``: key to what each memory says now. ``asked``: memories that say it and are as they were, each with its reason.
    ``remade``: outputs of derivations that said it; they are made anew."""

    replaced: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[Target, ...] = ()
    remade: tuple[str, ...] = ()


def replace_statement(engine: Engine, policy: Policy, old: str, new: str, *, scope: str, now: datetime) -> Replaced:
    """See `jochi.Jochi.supersede`."""
    if not phrase(new):
        raise UsageError("there is no word in what is to be said now", where="supersede", fix="give a sentence")
    if says(new, phrase(old)):
        raise UsageError(
            "what is to be said now has the old words", where="supersede", fix="name of the old only what changes"
        )
    if Screen(engine.database).part([new], lambda text: asked_about(scope, None, text, {})).gone:
        raise Refused(
            "what is to be said now was forgotten on request",
            where="supersede",
            fix="allow it again first: jochi forget --lift",
        )
    finder = Finder(engine, policy)
    found = finder.find(Request(phrase=old, scope=scope))
    slots = policy.slot_labels()
    rows: list[dict[str, Any]] = []
    asked: list[Target] = []
    outputs: list[str] = []
    marks: list[str] = []
    for target in found.targets.values():
        if target.dead:
            continue
        if target.why == "derived":
            (outputs if target.outcome == "forget" and found.is_output(target.key) else marks).append(target.key)
        elif target.outcome == "ask" or target.content is None or says(target.key.partition("/")[2], phrase(old)):
            asked.append(target if target.outcome == "ask" else replace(target, outcome="ask", reason=BY_ID))
        elif target.kind in slots:
            asked.append(replace(target, outcome="ask", reason=_IN_A_SLOT))
        else:
            rows.append(_row(target, finder.content_name(target.kind), phrase(old), new, found.stored.get(target.key)))
    done: dict[str, str] = {}
    for at in range(0, len(rows), _A_CALL):
        part = rows[at : at + _A_CALL]
        told = engine.call("memory/forget_clause", {"now": now, "rows": part})["results"]
        outcomes = {each["key"]: each["outcome"] for each in told}
        for row in part:
            if outcomes[row["key"]] == "cut":
                done[row["key"]] = row["new"][row["content"]]
            else:
                asked.append(replace(found.targets[row["key"]], outcome="ask", reason=_CHANGED))
    for at in range(0, len(outputs), _A_CALL):
        gone = [{"key": key, "revision": None} for key in outputs[at : at + _A_CALL]]
        while gone:
            told = engine.call("memory/forget", {"now": now, "rows": gone, "remake": True})["results"]
            gone = [{"key": each["key"], "revision": None} for each in told if each["outcome"] == "more"]
    if marks:
        engine.database.run(statement("forget/mark"), {"now": now, "keys": sorted(marks)})
    forget_readings()
    return Replaced(done, tuple(asked), tuple(sorted(outputs)))


def _row(
    target: Target, name: str, old: tuple[str, ...], new: str, stored: Sequence[Mapping[str, Any]] | None
) -> dict[str, Any]:
    """The content with the new statement behind what stays of it, and the other properties without the old one."""
    was, left = {**target.was}, {**target.left}
    for other, value in (stored or [{}])[0].items():
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(each, str) and says(each, old) and not is_our_word(other, each) for each in texts):
            was[other], left[other] = value, rest_of(value, old)
    kept = left.get(name, "" if target.outcome == "forget" else target.content) or ""
    joined = " " if kept.rstrip()[-1:] in ("", *".!?。！？") else ". "
    text = f"{kept}{joined}{new}" if kept else new
    return {
        "key": target.key,
        "revision": target.revision,
        "was": {**was, name: target.content},
        "new": {**left, name: text},
        "content": name,
    }
