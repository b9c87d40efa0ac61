"""The plots that only the demonstration has: it knows what became of its memories by the hour, and what they were at first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from jochi.demo.story import Story
from jochi.operate.report import plots
from jochi.operate.report.plots import KEYS, SERIES, new_figure, new_grid, svg, time_axis
from jochi.operate.report.span import sums
from jochi.policy.rules import TIERS


def memories(story: Story) -> str:
    """Live memories by kind over the replayed time, stacked, tombstones on top."""
    moments = _moments(story)
    by_kind = _by_kind(story, moments)
    live = {kind: [made - pruned for made, pruned, _ in points] for kind, points in by_kind.items()}
    dead = [sum(values) for values in zip(*([p - q for _, p, q in points] for points in by_kind.values()), strict=True)]
    rows = plots.few({kind: live[kind] for kind in sorted(live, key=lambda kind: -max(live[kind]))}, "kinds")
    figure, axes = new_figure(3.9)
    colours = [*SERIES[: len(rows)], plots.GONE]
    axes.stackplot(moments, *rows.values(), dead, labels=[*rows, "tombstones"], colors=colours, linewidth=0)
    axes.set_ylabel("memories")
    axes.set_ylim(bottom=0)
    time_axis(axes, moments[0], moments[-1])
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), **KEYS)
    return svg(figure, "memories", "Live memories by kind and tombstones over the replayed time")


def forgotten(story: Story) -> str:
    """For each kind of which something was pruned: live, tombstones, deleted for good, over the replayed time."""
    moments = _moments(story)
    found = {
        kind: points for kind, points in _by_kind(story, moments).items() if any(pruned for _, pruned, _ in points)
    }
    if not found:
        return ""
    columns = min(3, max(2, len(found)))
    lines = -(-len(found) // columns)
    height = 2.3 * lines + 0.5
    figure, grid = new_grid(lines, columns, height)
    for axes, kind in zip(grid, sorted(found, key=lambda kind: -found[kind][-1][1]), strict=False):
        parts = [
            [made - pruned for made, pruned, _ in found[kind]],
            [pruned - purged for _, pruned, purged in found[kind]],
            [purged for _, _, purged in found[kind]],
        ]
        labels, colours = ["live", "tombstones", "deleted for good"], [SERIES[0], plots.GONE, plots.PURGED]
        axes.stackplot(moments, *parts, labels=labels, colors=colours, linewidth=0)
        axes.set_title(plots.short(kind))
        axes.set_ylim(bottom=0)
        time_axis(axes, moments[0], moments[-1], few=True)
    for axes in grid[len(found) :]:
        axes.set_visible(False)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="lower center", ncols=3, **KEYS)
    figure.get_layout_engine().set(rect=(0, 0.32 / height, 1, 1 - 0.32 / height))
    return svg(figure, "forgotten", "For each kind that lost memories: live, tombstones and deleted for good")


def pruned(story: Story) -> str:
    """Pruned memories by rule, in bars of equal time."""
    found = [
        (change, story.steps.starts[change.place]) for change in story.replayed.changes if change.action == "prune"
    ]
    if not found:
        return ""
    start, end = story.span[0], max(story.replayed_until, max(at for _, at in found))
    days = max(1, -(-(end - start).days // 45))
    width = timedelta(days=days)
    starts = [start + width * number for number in range((end - start) // width + 1)]
    rows = [(change.rule, (at - start) // width, change.n) for change, at in found]
    unit = "pruned in a day" if days == 1 else f"pruned in {days} days"
    says = "Pruned memories by rule over the replayed time"
    return plots.bars("pruned", says, starts, width, sums(rows, len(starts)), unit=unit, others="rules", until=end)


def near(story: Story) -> str:
    """Tokens by tier over the replayed time: all of them, and beside it what has a budget, with the budgets."""
    looks = [look for look in story.near if look.at <= story.replayed_until]
    if len(looks) < 2:
        return ""
    moments = [look.at for look in looks]
    figure, (everything, bounded) = new_grid(1, 2, 3.2)
    rows = ([look.tokens[tier] for look in looks] for tier in TIERS)
    everything.stackplot(moments, *rows, labels=TIERS, colors=list(plots.TIER_COLOURS.values()), linewidth=0)
    everything.set_title("tokens of all that is live")
    for tier in story.budgets.tokens:
        bounded.plot(moments, [look.tokens[tier] for look in looks], color=plots.TIER_COLOURS[tier], linewidth=1.6)
        bounded.axhline(story.budgets.of(tier), color=plots.INK, linewidth=0.9, linestyle=(0, (5, 3)))
    bounded.grid(visible=False)
    bounded.set_ylim(
        top=1.12
        * max(max(look.tokens[tier], story.budgets.of(tier) or 0) for look in looks for tier in story.budgets.tokens)
    )
    scopes = story.budgets.scopes
    bounded.set_title("tokens with a budget" + (f" ({scopes} scopes)" if scopes > 1 else ""))
    for axes in (everything, bounded):
        axes.set_ylim(bottom=0)
        time_axis(axes, moments[0], moments[-1], few=True)
    figure.legend(*everything.get_legend_handles_labels(), loc="lower center", ncols=4, **KEYS)
    figure.get_layout_engine().set(rect=(0, 0.1, 1, 0.9))
    return svg(figure, "near", "Tokens by tier over the replayed time, and the budgets")


def tokens(story: Story) -> str:
    """Tokens by kind: as imported, and now."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for row in story.totals():
        before[row.name] += row.imported[1]
        after[row.name] += row.now[1]
    kinds = sorted((kind for kind in before | after if before[kind] or after[kind]), key=lambda kind: -before[kind])
    rows = {kind: [("imported", before[kind]), ("now", after[kind])] for kind in kinds}
    colours = {"imported": plots.GONE, "now": SERIES[0]}
    notes = [_change(before[kind], after[kind]) for kind in kinds]
    return plots.lanes("tokens", "Tokens by kind, as imported and now", rows, colours, unit="tokens", notes=notes)


def _change(before: int, after: int) -> str:
    change = f"{100 * (after - before) / before:+.0f} %" if before else ""
    return "0 %" if change in ("+0 %", "-0 %") else change.replace("-", "−")


def runs(story: Story) -> str:
    """The database's own runs after arming, a lane a job; what changed something is filled and says how much."""
    jobs = sorted({run.job for run in story.runs}, key=lambda job: (job == "curate_due", job))
    if not jobs:
        return ""
    figure, axes = new_figure(0.5 * len(jobs) + 1.0)
    for run in story.runs:
        lane = jobs.index(run.job)
        changed = run.changed > 0
        axes.plot(
            [run.seconds],
            [lane],
            "o",
            markersize=11 if changed else 6,
            color=SERIES[0] if changed else plots.PAGE,
            markeredgecolor=SERIES[0] if changed else plots.SOFT,
            markeredgewidth=1.2,
            zorder=3,
        )
        if changed:
            axes.annotate(
                f"{run.changed} changed", (run.seconds, lane), (0, 9), textcoords="offset points", ha="center", size=9
            )
    axes.set_yticks(range(len(jobs)), jobs)
    axes.set_ylim(-0.5, len(jobs) - 0.35)
    last = max((story.live_until - story.armed_at).total_seconds(), max(run.seconds for run in story.runs))
    axes.set_xlim(-last * 0.04, last * 1.04)
    axes.tick_params(axis="y", length=0, labelcolor=plots.INK)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("seconds after the jobs were armed")
    return svg(figure, "runs", "Runs that the database made on its own, by job")


PLOTS = (memories, forgotten, near, pruned, tokens, runs)
"""All of them; each gives an `<svg>` element, or nothing where there is nothing to show."""


def _moments(story: Story) -> list[datetime]:
    """About 250 moments from the first memory to the end of the replay."""
    start = story.span[0].astimezone(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    end = story.replayed_until
    return [start + (end - start) * part / 250 for part in range(251)]


def _by_kind(story: Story, moments: Sequence[datetime]) -> dict[str, list[tuple[int, int, int]]]:
    """By kind, at each moment: memories made so far, pruned so far, deleted for good so far."""
    events: dict[str, list[tuple[datetime, int, int]]] = {}
    for (kind, hour), n in story.created.items():
        events.setdefault(kind, []).append((hour, 0, n))
    for change in story.replayed.changes:
        if change.action in ("prune", "purge"):
            which = 1 if change.action == "prune" else 2
            events.setdefault(change.kind, []).append((story.steps.starts[change.place], which, change.n))
    found = {}
    for kind, of_kind in events.items():
        of_kind.sort()
        sums = [0, 0, 0]
        position = 0
        points = []
        for moment in moments:
            while position < len(of_kind) and of_kind[position][0] <= moment:
                sums[of_kind[position][1]] += of_kind[position][2]
                position += 1
            points.append((max(sums[0], sums[1]), sums[1], min(sums[2], sums[1])))
        found[kind] = points
    return found
