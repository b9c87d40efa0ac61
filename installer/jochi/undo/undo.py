"""Takes back what a run did, or all that was done since a moment: newest first, page by page (DESIGN §10)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from jochi.database.batches import PageSize
from jochi.database.database import Row
from jochi.database.engine import Engine
from jochi.database.server_clock import ServerClock
from jochi.errors import Refused, UsageError
from jochi.graph.driver_values import read_as, zoned
from jochi.schema.constraints import app_constraints
from jochi.undo.decompress import take_compressions_back
from jochi.undo.results import DecompressResult, UnmergeResult
from jochi.undo.unmerge import take_merges_back
from jochi.undo.violations import Claims, Violation, find_violations, row_by_row
from jochi.use import slots

PAGE = 1_000
"""Actions that one transaction takes back at most; a record of the engine's own that has more goes as a whole."""

FOUND = 25_000
"""Records that are looked for at once: their ids, a few megabytes."""

DONE = frozenset({"undone", "as_before"})
"""Outcomes after which nothing is left to do."""


@dataclass(frozen=True)
class UndoneAction:
    """One action of a run, and what became of it.

    ``outcome``: undone | as_before (it is as it was already) | conflict and partly (``changed`` names properties that changed since
    and stay) | taken (the key lives again) | purging | purged | gone (no such memory) | pruned (pruned since) | protected
    (``changed`` names the rails) | end_gone (of a relationship) | derived (follows from other facts) | no_record | merge_again |
    compress_again | approve_again | pair_gone (the two are no flagged pair any more) | forbidden (by the ``constraint`` of an
    application; ``holder`` has the value: the key of a live memory, else labels and element id);
    of merges also what `Jochi.unmerge` says.
    """

    key: str | None
    action: str
    outcome: str
    changed: tuple[str, ...] = ()
    constraint: str | None = None
    holder: str | None = None


@dataclass(frozen=True)
class UndoResult:
    """What an undo did, or (``dry_run``) would do. ``run``: its own run, which can be undone as well; None for a dry run.

    ``counts`` by outcome. ``rows``: those that weren't plainly undone, and in a dry run all. ``already``: actions that an
    earlier undo took back. ``resumed``: it went on with one that was cut off.
    """

    target: str
    run: str | None
    dry_run: bool
    counts: Mapping[str, int]
    rows: Sequence[UndoneAction] = field(default_factory=tuple)
    already: int = 0
    resumed: bool = False

    @property
    def left(self) -> int:
        """How many actions stay as they are."""
        return sum(n for outcome, n in self.counts.items() if outcome not in DONE)


def undo(
    engine: Engine,
    target: str | datetime,
    *,
    now: datetime,
    by: str,
    dry_run: bool = False,
    force: bool = False,
    page: int = PAGE,
    on_page: Callable[[int], None] | None = None,
) -> UndoResult:
    """See `jochi.Jochi.undo`."""
    since = None if isinstance(target, str) else zoned(target, "target", where="undo")
    name = f"since {since.isoformat()}" if since else str(target)
    asked_for = {"target": None if since else name, "since": since}
    first = _found(engine, asked_for)
    if not since and not first["known"]:
        raise UsageError(f"there is no run {name!r}, and no record of it", fix="`jochi runs ls` lists runs")
    clock = ServerClock(engine.database)
    run, resumed, policy, batch = None, False, "", 0
    if not dry_run:
        begun = _begin(engine, {"clock": clock.now(), "now": now, "target": name, "force": force, "by": by})
        run, resumed, policy, batch = begun["run"], begun["resumed"], begun["policy"], begun["batches"]
    counts: dict[str, int] = {}
    rows: list[UndoneAction] = []
    given = {"now": now, "run": run, "policy": policy, "force": force, "dry_run": dry_run}
    status = "running"
    of_apps = app_constraints(engine.database) if dry_run else []
    claims = Claims(engine.database, of_apps)
    sizes = PageSize(page)
    try:
        for number, (form, ids) in enumerate(_pages(_records(engine, asked_for, first), page), batch):
            for row in _one_page(
                engine,
                {**given, "clock": clock.now(), "form": form, "ids": ids, "batch": number},
                claims if of_apps else None,
                sizes,
            ):
                counts[row.outcome] = counts.get(row.outcome, 0) + 1
                if dry_run or row.outcome not in DONE:
                    rows.append(row)
            if on_page:
                on_page(sum(counts.values()))
        status = "partial" if any(outcome not in DONE for outcome in counts) else "ok"
    finally:
        # Cut off: the run stays open and gives its lease up, so that the next call goes on with it.
        if run is not None:
            ended = {"now": now, "run": run, "status": status, "forbidden": counts.get("forbidden", 0)}
            engine.call("undo/count", {**ended, "clock": clock.now(), "dry_run": False, "ids": [], "results": []})
    return UndoResult(name, run, dry_run, counts, rows, first["already"], resumed)


def _begin(engine: Engine, given: Mapping[str, Any]) -> Row:
    """Opens the run of an undo, or takes up that of one that was cut off."""
    begun = engine.call("undo/begin", {**given, "run": f"undo/{uuid.uuid4()}"})
    if begun["run"] is None:
        raise Refused(
            f"somebody else is undoing {given['target']} now",
            fix="wait for it: `jochi runs ls`; a lost client's lease ends in minutes",
        )
    return begun


def _found(engine: Engine, asked_for: Mapping[str, Any], after: Mapping[str, Any] | None = None) -> Row:
    return engine.call("undo/find", {**asked_for, "after": after, "most": FOUND}, write=False)


def _records(engine: Engine, asked_for: Mapping[str, Any], first: Row) -> Iterator[Mapping[str, Any]]:
    """All records, newest first; the next page is looked for when those before it were taken back."""
    found = first
    while True:
        yield from found["records"]
        if found["next"] is None:
            return
        found = _found(engine, asked_for, found["next"])


def _pages(records: Iterable[Mapping[str, Any]], page: int) -> Iterator[tuple[str, list[str]]]:
    """Records in their order; those of one page are of one group and together no more than ``page`` actions, or one."""
    for _group, members in groupby(records, key=lambda record: (record["group"], record["form"])):
        ids: list[str] = []
        form, total = "", 0
        for record in members:
            if ids and total + record["n"] > page:
                yield form, ids
                ids, total = [], 0
            form = record["form"]
            ids.append(record["id"])
            total += record["n"]
        yield form, ids


def _one_page(engine: Engine, given: Mapping[str, Any], claims: Claims | None, pages: PageSize) -> list[UndoneAction]:
    """Takes the records back. ``claims``: of a dry run, where applications have constraints; ``pages``: how many fit."""
    form = given["form"]
    statement = STATEMENTS.get(form, "undo/others")
    if form in _BY_CALLS:
        statement_name, take_back = _BY_CALLS[form]
        preview = engine.call(statement, {**given, "dry_run": True})["results"]
        back = take_back(engine, [each["key"] for each in preview if each["outcome"] == statement_name], given)
        if not given["dry_run"]:
            engine.call(statement, given)
        return [_taken_back(read_as(UndoneAction, each), statement_name, back) for each in preview]

    def call(ids: list[str], dry_run: bool = given["dry_run"]) -> list[Row]:
        results: list[Row] = engine.call(statement, {**given, "ids": ids, "dry_run": dry_run})["results"]
        return results

    forbidden: dict[str, Violation] = {}
    if claims and form == "prune":
        place = {id: at for at, id in enumerate(given["ids"])}
        back_again = [row for row in call(given["ids"]) if row["node"] is not None]
        forbidden = claims.claim(sorted(back_again, key=lambda row: place[row["id"]]))
    elif claims and form in _TRIED:
        forbidden = find_violations(engine, statement, given, given["ids"], "ids")
    results: list[Row] = []
    left = [id for id in given["ids"] if id not in forbidden]
    for part, rows in row_by_row(engine.database, left, call, pages):
        if isinstance(rows, Violation):
            forbidden[part[0]] = rows
        else:
            results += rows
    for id, why in forbidden.items():
        # What it would be without the constraint: of a record of many memories not all would have come back.
        results += [row | (why.columns if row["outcome"] in _GOES_BACK else {}) for row in call([id], True)]
    # Facts get their place in their slots at once, as restore does it.
    slotted = [{"key": each["key"]} for each in results if each.get("slotted")]
    slots.settle(engine, slotted, now=given["now"])
    return [read_as(UndoneAction, each) for each in results]


def _taken_back(row: UndoneAction, asked: str, back: dict[str | None, _Outcome]) -> UndoneAction:
    """What became of a record that was looked at before it was taken back; of several of one key the first is the newest."""
    if row.outcome == asked:
        found = back.pop(row.key, _Outcome("no_record", ()))
        return replace(
            row, outcome=found.outcome, changed=found.changed, constraint=found.constraint, holder=found.holder
        )
    return replace(row, outcome="as_before") if row.outcome == "undone" else row


@dataclass(frozen=True)
class _Outcome:
    outcome: str
    changed: tuple[str, ...]
    constraint: str | None = None
    holder: str | None = None


def _unmerge(engine: Engine, keys: Sequence[str], given: Mapping[str, Any]) -> dict[str | None, _Outcome]:
    parameters = {name: given[name] for name in ("now", "dry_run", "run")}
    found = take_merges_back(engine, keys, **parameters, hold=True, audits=given["ids"])
    words = {"unmerged": "undone", "would_unmerge": "undone"}
    return {each.key: _back(words.get(each.outcome, each.outcome), each.changed, each) for each in found}


def _back(outcome: str, changed: Sequence[str], each: UnmergeResult | DecompressResult) -> _Outcome:
    """What was taken back but for what is named went back in part."""
    word = "partly" if outcome == "undone" and changed else outcome
    return _Outcome(word, tuple(changed), each.constraint, each.holder)


def _decompress(engine: Engine, keys: Sequence[str], given: Mapping[str, Any]) -> dict[str | None, _Outcome]:
    parameters = {name: given[name] for name in ("now", "dry_run", "run")} | {"audits": given["ids"]}
    words = {
        "decompressed": "undone",
        "would_decompress": "undone",
        "changed": "conflict",
        "not_found": "gone",
        "not_compressed": "no_record",
        "forbidden": "forbidden",
    }
    found = take_compressions_back(engine, keys, parameters)
    return {
        each.key: _back(words[each.outcome], ["content"] if each.outcome == "changed" else each.changed, each)
        for each in found
    }


_BY_CALLS: Mapping[
    str, tuple[str, Callable[[Engine, Sequence[str], Mapping[str, Any]], dict[str | None, _Outcome]]]
] = {
    "merge": ("unmerge", _unmerge),
    "compress": ("decompress", _decompress),
}
"""Forms that have a call of their own to take them back: what undo/others says of one that is to be taken back, and how."""


_GOES_BACK = frozenset({"undone", "partly"})
"""Outcomes of what is written."""

_TRIED = frozenset({"edge", "links", "noted", "remade"})
"""Forms whose dry run tries what constraints of applications say: they write what an application may have a constraint on."""

STATEMENTS: Mapping[str, str] = {
    "list": "undo/moves",
    "properties": "undo/properties",
    "edge": "undo/edges",
    "links": "undo/links",
    "noted": "undo/links",
    "prune": "undo/prunes",
    "restore": "undo/restores",
    "decide": "undo/decisions",
    "remade": "undo/outputs",
}
"""Which procedure takes the records of a form back; `undo/others` answers for the rest."""
