"""What the page of a report says: from `Report` to `Page`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from jochi.operate.report import plots
from jochi.operate.report.figures import BACK, GONE, Memories, Report, Runs, gone, less_than_gone
from jochi.operate.report.page import Block, Caution, Code, Figure, Number, Page, Section, Table
from jochi.operate.report.span import sums
from jochi.policy.durations import format_duration
from jochi.policy.rules import TIERS

_CLASSES = re.compile(r"\b(?:Neo\.[A-Z]\w+(?:\.\w+)+|[A-Z]\w*(?:Exception|Error))\b")
"""Of an error the names of its classes. Its words may quote what a memory says."""

_NO_COUNT = "Memories were not counted: the report was made with `--no-count`."

_AN = {"hour": "an hour", "day": "a day"}

_BAD = ("failed", "partial", "crashed", "breaker")
_ENDS = {"ok": "ended well", "partial": "failed in part", "failed": "failed", "breaker": "stopped by the breaker"}
_COLOURS = {
    "ended well": plots.SERIES[0],
    "failed in part": plots.SERIES[1],
    "stopped by the breaker": plots.SERIES[4],
    "failed": plots.SERIES[3],
    "crashed": plots.SERIES[3],
    "still running": plots.GONE,
}


def page_of(report: Report, *, names: bool = False) -> Page:
    """``names``: scopes by their names, which may be those of people; else they are numbered."""
    span, now = report.span, report.now
    whose = "" if report.scope is None else f" · scope {report.scope}" if names else " · one scope"
    about = (
        f"Database {now.database}{whose} · {span.moment(span.since)} to {span.moment(span.until)} ({span.zone.key}) · "
        f"made {span.moment(now.at)} by jochi {now.versions.jochi}. The page holds numbers and names of kinds, "
        "rules and jobs; "
        "nothing that a memory says."
    )
    sections = [_records(report), _came(report), _went(report), _changed(report), _held(report), _there(report)]
    if report.memories is not None and report.scope is None:
        sections.append(_scopes(report, report.memories, names=names))
    if report.runs is not None:
        sections.append(_jobs(report, report.runs))
    if report.spending is not None:
        sections.append(_workers(report))
    if report.scope is None:
        sections += [_forgetting(report), _waiting(report)]
    heading = "What the database remembered, and what it let go"
    return Page(f"Jochi: report of {span.label(span.since)}", heading, about, _headline(report), sections)


def _headline(report: Report) -> dict[str, str]:
    changes, memories, engine = report.changes, report.memories, report.now.engine
    found: dict[str, str] = {}
    if memories is not None:
        live = memories.by_tier()
        found |= {
            "live memories now": f"{memories.n:,}",
            "came in the span": f"{sum(memories.came.values()):,}",
        }
    found |= {
        "pruned or merged": f"{changes.sum_of(*GONE):,}",
        "brought back": f"{changes.sum_of(*BACK):,}",
        "kept by rails": f"{sum(held.n for held in changes.held):,}",
        "moves between tiers": f"{sum(change.n for change in changes.changes if change.to):,}",
    }
    if memories is not None:
        found["tokens kept near now"] = f"{sum(live.get(tier, (0, 0))[1] for tier in report.budgets):,}"
        found["tombstones now"] = f"{sum(n for n, _ in memories.tombstones.values()):,}"
    if report.runs is not None:
        runs = report.runs.runs
        found["runs of jobs"] = f"{sum(run.n for run in runs):,}"
        found["runs that failed or were stopped"] = f"{sum(run.n for run in runs if run.status in _BAD):,}"
    if engine is not None and report.scope is None:
        found["due now"] = f"{engine.due:,}"
    if report.now.inbox is not None and report.scope is None:
        found["waits for a person"] = report.now.inbox.amount
    return found


def _records(report: Report) -> Section:
    span = report.span
    kept = format_duration(report.records_kept)
    blocks: list[Block] = [
        f"What was done is read from {report.records:,} records. The policy `{report.policy}` keeps them "
        f"{kept}; the oldest is of "
        f"{span.moment(report.records_since)}. A bar of the plots is {_AN.get(span.unit, span.unit)}."
    ]
    if report.records_since is None:
        blocks.append(Caution("Nothing was ever put on record here: no run has changed a memory yet."))
    elif span.since < report.records_since:
        blocks.append(
            Caution(
                f"The span begins before the oldest record. What was done before "
                f"{span.moment(report.records_since)} is not on "
                "this page, or nothing was done."
            )
        )
    if report.changes.left_out:
        blocks.append(
            Caution(
                f"{report.changes.left_out:,} memories stand in groups too small and many to be named; sums lack them."
            )
        )
    return Section("What is on record", blocks)


def _by_interval(report: Report, caption: str, series: Mapping[str, Sequence[int]]) -> Table:
    """Lines for the intervals in which there is anything."""
    span = report.span
    shown = plots.few(series, "names")
    rows = [
        (span.label(start), *(values[place] for values in shown.values()), sum(v[place] for v in series.values()))
        for place, start in enumerate(span.starts)
        if any(values[place] for values in series.values())
    ]
    sums = [sum(values) for values in shown.values()]
    every = "hour" if span.unit == "hour" else "day" if span.unit == "day" else f"{span.unit} from"
    return Table(caption, (every, *shown, "all"), rows, total=("all", *sums, sum(sums)))


def _bars(
    report: Report, name: str, says: str, series: Mapping[str, Sequence[int]], unit: str, others: str = "kinds"
) -> str:
    span = report.span
    each = _AN.get(span.unit, f"in {span.unit}")
    return plots.bars(
        name,
        says,
        span.starts,
        span.step,
        series,
        unit=f"{unit} {each}",
        others=others,
        colours=_COLOURS,
        until=span.until,
        zone=span.zone,
    )


def _came(report: Report) -> Section:
    title, memories, size = "What came", report.memories, len(report.span.starts)
    if memories is None:
        return Section(title, [_NO_COUNT])
    series = sums([(kind, place, n) for (kind, place), n in memories.came.items()], size)
    caption = (
        "Memories by the day they say they were created (`created_at`), live ones and tombstones. What was "
        "deleted for good "
        "or forgotten since is not among them."
    )
    says = "Memories that came, by kind, over the span"
    rows = [(kind, sum(values), memories.came_and_went.get(kind, 0)) for kind, values in series.items()]
    total = ("all", sum(row[1] for row in rows), sum(row[2] for row in rows))
    return Section(
        title,
        [
            Figure(_bars(report, "came", says, series, "memories"), caption, _by_interval(report, says, series)),
            Table("Memories that came, by kind", ("kind", "came", "of these tombstones now"), rows, total=total),
        ],
    )


def _went(report: Report) -> Section:
    changes, size = report.changes, len(report.span.starts)
    rows = [(c.rule, c.place, c.n) for c in changes.changes if c.action in GONE]
    series = sums(rows, size)
    counts = changes.counts(gone)
    says = "Memories that were pruned or merged, by rule, over the span"
    purged = changes.sum_of("purge")
    blocks: list[Block] = [
        Figure(
            _bars(report, "went", says, series, "memories", "rules"),
            "Pruned and merged memories by the rule that was met. They stay as tombstones until the policy's "
            "time is over, and "
            "`jochi restore` brings them back.",
            _by_interval(report, says, series),
        ),
        Table(
            "Pruned or merged",
            ("rule", "kind", "memories", "taken back since"),
            [(Code(rule), kind or "several", n, undone) for (rule, kind), (n, undone) in counts.items()],
            total=("all", "", sum(n for n, _ in counts.values()), sum(undone for _, undone in counts.values())),
        ),
    ]
    if purged:
        blocks.append(f"{purged:,} tombstones were old enough to be deleted for good (`tombstone.ttl`).")
    return Section("What went, and why", blocks)


def _changed(report: Report) -> Section:
    counts = report.changes.counts(less_than_gone)
    return Section(
        "What changed, and what was brought back",
        [
            Table(
                "Times it was done: a memory can move more than once",
                ("rule", "what was done", "times", "taken back since"),
                [(Code(rule), did, n, undone) for (rule, did), (n, undone) in counts.items()],
            )
        ],
    )


def _held(report: Report) -> Section:
    return Section(
        "What rails held",
        [
            Table(
                "Memories that a rule would have changed and that a rail kept as they were, once for each rule and set "
                "of rails, when they first did",
                ("rail", "memories"),
                [(Code(rail), n) for rail, n in report.changes.rails().items()],
            )
        ],
    )


def _there(report: Report) -> Section:
    title, memories = "What is there now", report.memories
    if memories is None:
        return Section(title, [_NO_COUNT])
    blocks: list[Block] = [
        f"All {memories.n:,} live memories were read once to be counted, in pages, while the database went on."
    ]
    by_kind, by_tier = memories.by_kind(), memories.by_tier()
    order = sorted(
        by_kind | dict.fromkeys(memories.tombstones, (0, 0)), key=lambda kind: (-by_kind.get(kind, (0, 0))[0], kind)
    )
    rows = [(kind, *by_kind.get(kind, (0, 0)), *memories.tombstones.get(kind, (0, 0))) for kind in order]
    sums_of = [
        sum(found[place] for found in side.values()) for side in (by_kind, memories.tombstones) for place in (0, 1)
    ]
    kinds = Table(
        "Memories by kind",
        ("kind", "memories", "tokens", "memories", "tokens"),
        rows,
        groups=(("", 1), ("live", 2), ("tombstones", 2)),
        total=("all", *sums_of),
    )
    tiers = [tier for tier in (*TIERS, *sorted(set(by_tier) - set(TIERS))) if tier in TIERS or by_tier[tier][0]]
    table = Table(
        "Live memories by tier, and the budgets, which are tokens of one scope",
        ("tier", "memories", "tokens", "budget of a scope", "scopes in the tier", "scopes above the budget"),
        [
            (
                tier or "none",
                *by_tier.get(tier, (0, 0)),
                report.budgets.get(tier),
                memories.scopes_with[tier] if tier in TIERS else None,
                memories.scopes_over[tier] if tier in report.budgets else None,
            )
            for tier in tiers
        ],
        total=("all", *(sum(found[place] for found in by_tier.values()) for place in (0, 1)), None, None, None),
    )
    if memories.n:
        blocks.append(
            Figure(
                _budgets(report, memories),
                "Tokens by tier as they are now: earlier levels are not on record. The line is the budget of all scopes that have "
                f"anything in the tier. ARCHIVE has none, and {by_tier.get('ARCHIVE', (0, 0))[1]:,} tokens.",
                table,
            )
        )
    blocks += [kinds, _moved_tokens(report)] if report.runs is not None else [kinds]
    blocks += _scores(report, memories)
    return Section(title, blocks)


def _budgets(report: Report, memories: Memories) -> str:
    tokens = {tier: memories.by_tier().get(tier, (0, 0))[1] for tier in report.budgets}
    rows = {tier: [("tokens", n)] for tier, n in tokens.items()}
    notes = [f"{n:,}" for n in tokens.values()]
    limits = [budget * memories.scopes_with[tier] for tier, budget in report.budgets.items()]
    says = "Tokens in the tiers that have a budget, and the budgets"
    return plots.lanes("tiers", says, rows, {"tokens": plots.SERIES[0]}, unit="tokens", notes=notes, limits=limits)


def _moved_tokens(report: Report) -> Table:
    assert report.runs is not None
    left, came = (
        [sum(getattr(job, side)[place] for job in report.runs.jobs) for place in range(len(TIERS))]
        for side in ("left", "came")
    )
    return Table(
        "Tokens that runs of the span took out of each tier, and put into it",
        ("tier", "tokens out", "tokens in"),
        [(tier, left[place], came[place]) for place, tier in enumerate(TIERS)],
    )


def _scores(report: Report, memories: Memories) -> list[Block]:
    counts = dict(sorted(memories.points.items()))
    scored = sum(counts.values())
    rows = [(f"{low:g} to {low + 0.5:g}", n, Number(f"{100 * n / scored:.1f} %")) for low, n in counts.items()]
    caption = (
        f"The value score of {scored:,} memories, as the last look at each stored it; {memories.n - scored:,} "
        "have none." + (" The lines are the policy's bands." if report.bands else "")
    )
    says = "Live memories by value score"
    plot = plots.columns("scores", says, counts, report.bands or {}, unit="memories", along="points of the value score")
    return [Figure(plot, caption, Table(says, ("points", "memories", "share"), rows))]


def _scopes(report: Report, memories: Memories, *, names: bool) -> Section:
    rows = [
        (Code(size.name) if names else f"scope {place}", size.n, sum(size.tokens), *size.tokens)
        for place, size in enumerate(memories.largest, 1)
    ]
    hidden = (
        "" if names else " A scope may be a person, so they are numbered; `jochi report --scopes` shows their names."
    )
    return Section(
        "The largest scopes",
        [
            f"Scopes that hold memories: {memories.scopes:,}.{hidden}",
            Table("The scopes with the most tokens", ("scope", "memories", "tokens", *TIERS), rows),
        ],
    )


def _jobs(report: Report, runs: Runs) -> Section:
    size, span = len(report.span.starts), report.span
    ends = sums([(_end(run.status), run.place, run.n) for run in runs.runs], size)
    says = "Runs of all jobs, by how they ended, over the span"
    rows: list[tuple[object, ...]] = []
    for job in runs.jobs:
        n = runs.sum_of(job.job)
        if not n:
            continue
        selected, changed = (
            sum(getattr(run, name) for run in runs.runs if run.job == job.job) for name in ("selected", "changed")
        )
        failed = runs.sum_of(job.job, *_BAD)
        rows.append(
            (
                Code(job.job),
                n,
                failed,
                selected,
                changed,
                _ms(job.median),
                _ms(job.most),
                job.put_aside,
                span.day(job.since),
            )
        )
    rows.sort(key=lambda row: (-int(str(row[4])), str(row[0])))
    blocks: list[Block] = []
    late = [job for job in runs.jobs if job.since > span.since]
    if late:
        blocks.append(
            "The history of runs is bounded: by job and by age (`history_per_job`, `history_age` in the "
            "policy). The last "
            "column says since when there is a run on record; what a job did earlier counts among the records "
            "above, not here."
        )
    blocks += [
        Figure(
            _bars(report, "runs", says, ends, "runs", "ends"),
            "Runs of all jobs by how they ended.",
            _by_interval(report, says, ends),
        ),
        Table(
            "Jobs, those that changed most first",
            (
                "job",
                "runs",
                "failed or stopped",
                "looked at",
                "changed",
                "median",
                "longest",
                "put aside",
                "on record since",
            ),
            rows,
        ),
        Table(
            "The newest runs that failed or were stopped: `jochi runs show RUN` says the whole error, which may "
            "quote a memory",
            ("run", "began", "ended", "what failed", "put aside"),
            [
                (
                    Code(f.id),
                    span.moment(f.started_at),
                    _failed(f.status, f.approved is not None),
                    _classes(f.error),
                    f.put_aside,
                )
                for f in runs.failures
            ],
        ),
    ]
    return Section("Jobs and their runs", blocks)


def _end(status: str) -> str:
    return {**_ENDS, "open": "still running"}.get(status, status)


def _failed(status: str | None, approved: bool) -> str:
    return _end(status or "open") + (", and was approved" if approved else "")


def _classes(error: str | None) -> Code | None:
    """The last of the classes that an error names: what caused the others."""
    found = _CLASSES.findall(error or "")
    return Code(found[-1]) if found else None


def _ms(value: int | None) -> Number | None:
    if value is None:
        return None
    return Number(f"{value:,} ms" if value < 10_000 else f"{value / 1000:,.1f} s")


def _workers(report: Report) -> Section:
    spending = report.spending or []
    days = sorted({day.day for day in spending})
    says = "Tokens that models took, by derivation and day"
    place = {day: number for number, day in enumerate(days)}
    series = sums([(s.derivation, place[s.day], s.tokens_in + s.tokens_out) for s in spending], len(days))
    rows: list[tuple[object, ...]] = []
    names = sorted({*report.now.work, *(s.derivation for s in spending)})
    for name in names:
        left = report.now.work.get(name)
        own = [s for s in spending if s.derivation == name]
        if not own and (left is None or not (left.waiting or left.later or left.unsure or left.put_aside)):
            continue
        money = [s.money for s in own if s.money is not None]
        rows.append(
            (
                Code(name),
                left and left.waiting,
                left and left.put_aside,
                sum(s.done for s in own),
                sum(s.rejected for s in own),
                sum(s.tokens_in for s in own),
                sum(s.tokens_out for s in own),
                Number(f"{sum(money):,.4f}") if money else None,
            )
        )
    plot = ""
    if days:
        plot = plots.bars(
            "models",
            says,
            days,
            timedelta(days=1),
            series,
            unit="tokens a day",
            others="derivations",
            zone=days[0].tzinfo,
        )
    by_day = Table(
        says,
        ("day (UTC)", *series, "all"),
        [
            (
                f"{day:%Y-%m-%d}",
                *(values[place[day]] for values in series.values()),
                sum(v[place[day]] for v in series.values()),
            )
            for day in days
        ],
    )
    return Section(
        "Workers and models",
        [
            "What workers do is counted by days of UTC and kept for 31 of them. Money is by today’s prices of "
            "the policy; without "
            "prices there is none. "
            f"The days of this span that are on record: {len(days):,}.",
            Figure(plot, f"{says} (UTC).", by_day),
            Table(
                "Derivations: what is left now, and what was done in the span",
                ("derivation", "waits now", "put aside now", "done", "rejected", "tokens in", "tokens out", "money"),
                rows,
            ),
        ],
    )


def _forgetting(report: Report) -> Section:
    engine = report.now.engine
    stones = ""
    if engine is not None:
        due = f"{engine.tombstones_due:,} are old enough to be deleted for good"
        stones = f" There are {engine.tombstones:,} tombstones now, of which {due}."
    return Section(
        "Forgetting",
        [
            f"Receipts of forgetting that were written in the span: {report.receipts or 0:,}; forgettings that are not "
            f"ended: {report.forgettings or 0:,}. What was forgotten is on no record.{stones}"
        ],
    )


def _waiting(report: Report) -> Section:
    inbox = report.now.inbox
    if inbox is None:
        return Section("What waits for a person", ["What waits could not be read."])
    rows = [(kind, f"{n:,}{'+' if kind in inbox.more else ''}") for kind, n in inbox.counts.items()]
    return Section(
        "What waits for a person",
        [
            f"Now {inbox.sentence}. `jochi inbox` lists each with the commands that decide.",
            Table("What waits now", ("kind", "how many"), rows),
        ],
    )
