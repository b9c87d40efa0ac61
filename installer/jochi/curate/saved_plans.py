"""Plans that are kept: saved, looked at, thinned out, applied (docs/reference/plans-and-approval.md).

A plan names memories and what would be done to each. Applying it locks each memory and judges it again by the same evaluator.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from jochi.curate.plan import Plan
from jochi.database.batches import PageSize
from jochi.database.database import Row
from jochi.database.engine import NOT_INSTALLED, Engine
from jochi.database.server_clock import ServerClock
from jochi.errors import Refused, UsageError
from jochi.graph.driver_values import keys_of, read_as

PAGE = 2_000
"""Keys that one part of a plan holds at most; a page of the walk that saves it."""

BATCH = 500
"""Memories that one transaction applies at most."""

Outcome = Literal["applied", "partly", "already", "changed", "other_rule", "protected", "paused", "gone", "excluded"]


@dataclass(frozen=True)
class PlannedGroup:
    """Memories of one kind to which ``rule`` does ``action`` (prune, archive, promote, demote, flag, unflag or state).

    ``excluded`` of these ``n`` are left out; ``applied``: done as planned.
    """

    kind: str
    rule: str
    action: str
    n: int
    excluded: int
    applied: int
    scopes: int
    samples: list[str]


@dataclass(frozen=True)
class PlannedMemory:
    """A memory that a plan names. ``deeds``: `action rule`, and the tier it would come to.

    ``outcome``, None before it is applied: applied | partly (of several deeds some) | already (done since, by a job) | changed
    (nothing of it is due any more) | other_rule (something else is: ``note`` says what) | protected (``note`` names the rails) |
    paused | gone (there is no such memory) | excluded.
    """

    key: str
    kind: str
    deeds: tuple[str, ...]
    excluded: bool
    outcome: Outcome | None
    note: str


@dataclass(frozen=True)
class SavedPlan:
    """A plan that is kept. ``state``: saving | saved | applying | applied; ``at``: the moment it speaks of.

    ``memories``: how many it names, ``excluded`` of them are left out. ``run``: the run that applied it. ``groups`` and
    ``outcomes`` (what became of its memories) only of a single plan.
    """

    id: str
    state: Literal["saving", "saved", "applying", "applied"]
    at: datetime
    made_at: datetime
    by: str
    policy: str
    expires_at: datetime
    memories: int
    excluded: int
    looked_at: int
    merges: int
    rails: Mapping[str, int]
    run: str | None = None
    applied_at: datetime | None = None
    groups: list[PlannedGroup] = field(default_factory=list)
    outcomes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_node(cls, node: Mapping[str, Any]) -> SavedPlan:
        """From the properties of a :JochiPlan."""
        rails = dict(zip(node["rail_names"], node["rail_counts"], strict=True))
        return read_as(cls, node, rails=rails)


@dataclass(frozen=True)
class Excluded:
    """``outcome``: excluded | already (it was left out before) | not_named (by the plan) | gone (left out; nothing to hold)."""

    key: str
    outcome: Literal["excluded", "already", "not_named", "gone"]


@dataclass(frozen=True)
class PlanApplied:
    """What became of a plan's memories, by outcome; ``run`` is the run, which `undo` takes back. ``resumed``: it went on with a run
    that was cut off."""

    plan: str
    run: str
    outcomes: Mapping[str, int]
    resumed: bool

    @property
    def drifted(self) -> int:
        """How many weren't done as planned, and weren't left out."""
        return sum(n for outcome, n in self.outcomes.items() if outcome not in ("applied", "excluded"))


def save(engine: Engine, found: Plan, *, by: str, page: int = PAGE) -> SavedPlan:
    """Keeps a plan: the memories are found anew, page by page, for the moment that ``found`` speaks of."""
    plan = f"plan-{uuid.uuid4().hex[:12]}"
    asked = {
        "now": found.at,
        "clock": ServerClock(engine.database).now(),
        "pump": engine.pump,
        "plan": plan,
        "by": by,
        "looked_at": found.looked_at,
        "rails": [{"rail": rail, "n": n} for rail, n in sorted(found.rails.items())],
        "merges": found.merges,
    }
    after: str | None = ""
    number = 0
    pages = PageSize(page)
    while after is not None:
        row = engine.call_page("plans/save", {**asked, "page": number, "after": after}, pages)
        if not row["saved"]:
            raise Refused("jochi is not installed", where=f"database {engine.database.name}", fix=NOT_INSTALLED)
        after, number = row["last"], number + 1
    return show(engine, plan, samples=0)


def plans(engine: Engine, *, limit: int = 20) -> list[SavedPlan]:
    """The plans that are kept, newest first, without their groups."""
    return [SavedPlan.from_node(row) for row in _read(engine, None, limit=limit)["plans"]]


def show(engine: Engine, plan: str, *, samples: int = 2) -> SavedPlan:
    """One plan: what it names by action, rule and kind, and what became of it. `UsageError` if there is none (any more)."""
    found = _read(engine, plan, samples=samples)
    if not found["plans"]:
        raise _refused("unknown", plan, None)
    return replace(
        SavedPlan.from_node(found["plans"][0]),
        groups=[PlannedGroup(**group) for group in found["groups"]],
        outcomes={entry["outcome"]: entry["n"] for entry in found["outcomes"]},
    )


def memories(
    engine: Engine, plan: str, *, skip: int = 0, limit: int = 100, drifted: bool = False
) -> list[PlannedMemory]:
    """A page of the memories that a plan names; ``drifted``: only those that were not done as planned."""
    rows = _read(engine, plan, skip=skip, limit=limit, drifted=drifted)["memories"]
    return [PlannedMemory(**{**row, "deeds": tuple(row["deeds"])}) for row in rows]


def _read(engine: Engine, plan: str | None, **asked: Any) -> Row:
    usual = {"plan": plan, "limit": 1, "samples": None, "skip": None, "drifted": False}
    return engine.call("plans/list", usual | asked, write=False)


def exclude(engine: Engine, plan: str, keys: Sequence[str], *, now: datetime, policy: str) -> list[Excluded]:
    """See `jochi.Jochi.exclude`."""
    named = keys_of(keys, where="exclude")
    results: list[Excluded] = []
    for start in range(0, len(named), BATCH):
        some = {"keys": named[start : start + BATCH], "run": f"{plan}/{uuid.uuid4()}"}
        row = engine.call("plans/exclude", {"now": now, "plan": plan, "policy": policy, **some})
        if row["refused"] is not None:
            raise _refused(row["refused"], plan, None)
        results += [Excluded(**entry) for entry in row["results"]]
    return results


def apply(
    engine: Engine,
    plan: str,
    *,
    now: datetime,
    by: str,
    batch: int = BATCH,
    on_page: Callable[[int], None] | None = None,
) -> PlanApplied:
    """See `jochi.Jochi.apply_plan`."""
    clock = ServerClock(engine.database)
    asked = {
        "clock": clock.now(),
        "now": now,
        "pump": engine.pump,
        "plan": plan,
        "run": f"plan/{uuid.uuid4()}",
        "by": by,
        "token": None,
        "status": None,
    }
    begun = engine.call("plans/run", asked)
    if begun["refused"] is not None:
        raise _refused(begun["refused"], plan, begun["before"])
    held = {"plan": plan, "token": begun["token"]}
    given = {**held, "now": now, "pump": engine.pump, "run": begun["run"], "policy": begun["policy"], "limit": batch}
    status = "running"
    looked_at = 0
    try:
        for part in begun["parts"]:
            at = part["done"]
            while at < part["size"]:
                row = engine.call("plans/apply", {**given, "clock": clock.now(), "part": part["n"], "from": at})
                if not row["go"]:
                    raise Refused(
                        f"the plan {plan} was stopped: somebody else applies it, or everything is paused or behind the gap guard",
                        fix=f"`jochi status`, then `jochi plan apply {plan}` goes on",
                    )
                at += row["looked_at"]
                looked_at += row["looked_at"]
                if on_page:
                    on_page(looked_at)
        outcomes = show(engine, plan, samples=0).outcomes
        status = "ok" if set(outcomes) <= {"applied", "excluded"} else "partial"
    finally:
        # Cut off: it stays open and gives its lease up, so that the next call goes on with it.
        engine.call("plans/run", {**asked, **held, "clock": clock.now(), "status": status})
    return PlanApplied(plan, begun["run"], outcomes, begun["resumed"])


def _refused(why: str, plan: str, before: str | None) -> UsageError | Refused:
    """What is in the way of a plan, in words."""
    again = "make a new one: `jochi plan --save`"
    if why == "unknown":
        return UsageError(f"there is no plan {plan!r}", fix="`jochi plan ls` lists plans; they expire")
    if why == "saving":
        return UsageError(f"the plan {plan} was never saved whole", fix=again)
    words = {
        "applying": (
            f"the plan {plan} is being applied",
            f"`jochi plan apply {plan}` goes on with one that was cut off",
        ),
        "applied": (
            f"the plan {plan} was applied already" + (f", by the run {before}" if before else ""),
            f"`jochi plan show {plan}` says what became of it",
        ),
        "policy": (f"the policy has changed since the plan {plan} was made", again),
        "expired": (f"the plan {plan} has expired", again),
        "ahead": (f"the plan {plan} speaks of a moment that hasn't come: {before}", "apply it then, or " + again),
        "paused": ("everything is paused", "`jochi resume --all`"),
        "installing": ("an install is under way", "wait for it, then apply the plan again"),
        "guard": ("the gap guard is closed", "look at `jochi status`, then `jochi approve`"),
        "busy": (
            f"somebody else is applying the plan {plan} now",
            "wait for it; a lost client's lease ends in minutes",
        ),
    }
    what, fix = words[why]
    return Refused(what, fix=fix)
