"""The report's plots as inline SVG. Colours are CSS variables of the page, so that light and dark follow the reader."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import dates
from matplotlib.figure import Figure

from jochi.demo.story import Story
from jochi.policy.rules import TIERS

_dates: Any = dates  # its classes are untyped

# matplotlib wants real colours: each of these stands for one variable of the page and occurs nowhere else.
_VARIABLES = {
    "#010101": "ink",
    "#020202": "soft",
    "#030303": "line",
    "#040404": "page",
    "#050505": "gone",
    "#060606": "purged",
}
INK, SOFT, LINE, PAGE, GONE, PURGED = _VARIABLES
SERIES = tuple(f"#0a0a{number:02x}" for number in range(8))
_VARIABLES.update({colour: f"c{number}" for number, colour in enumerate(SERIES)})

_STYLE = Path(__file__).with_name("plots.mplstyle")
_WIDTH = 9.2
_MOST_KINDS = 7


def memories(story: Story) -> str:
    """Live memories by kind over the replayed time, stacked, tombstones on top."""
    moments = _moments(story)
    live = {kind: [made - pruned for made, pruned, _ in points] for kind, points in _by_kind(story, moments).items()}
    dead = [
        sum(v)
        for v in zip(*([p - q for _, p, q in points] for points in _by_kind(story, moments).values()), strict=True)
    ]
    ranked = sorted(live, key=lambda kind: -max(live[kind]))
    named, rest = ranked[:_MOST_KINDS], ranked[_MOST_KINDS:]
    rows = [live[kind] for kind in named]
    names = list(named)
    if rest:
        rows.append([sum(values) for values in zip(*(live[kind] for kind in rest), strict=True)])
        names.append(f"{len(rest)} other kinds" if len(rest) > 1 else rest[0])
    figure, axes = _figure(3.9)
    axes.stackplot(
        moments, *rows, dead, labels=[*names, "tombstones"], colors=[*SERIES[: len(rows)], GONE], linewidth=0
    )
    axes.set_ylabel("memories")
    axes.set_ylim(bottom=0)
    _time_axis(axes, moments[0], moments[-1])
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1, handleheight=1
    )
    return _svg(figure, "memories", "Live memories by kind and tombstones over the replayed time")


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
    figure, grid = _grid(lines, columns, height)
    for axes, kind in zip(grid, sorted(found, key=lambda kind: -found[kind][-1][1]), strict=False):
        parts = [
            [made - pruned for made, pruned, _ in found[kind]],
            [pruned - purged for _, pruned, purged in found[kind]],
            [purged for _, _, purged in found[kind]],
        ]
        axes.stackplot(
            moments,
            *parts,
            labels=["live", "tombstones", "deleted for good"],
            colors=[SERIES[0], GONE, PURGED],
            linewidth=0,
        )
        axes.set_title(kind)
        axes.set_ylim(bottom=0)
        _time_axis(axes, moments[0], moments[-1], few=True)
    for axes in grid[len(found) :]:
        axes.set_visible(False)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="lower center", ncols=3, handlelength=1, handleheight=1)
    figure.get_layout_engine().set(rect=(0, 0.32 / height, 1, 1 - 0.32 / height))
    return _svg(figure, "forgotten", "For each kind that lost memories: live, tombstones and deleted for good")


def pruned(story: Story) -> str:
    """Pruned memories by rule, in bars of equal time."""
    actions = [action for action in story.actions if action.action == "prune" and action.replayed]
    if not actions:
        return ""
    start, end = story.span[0], max(story.replayed_until, actions[-1].at)
    days = max(1, -(-(end - start).days // 45))
    width = timedelta(days=days)
    counts: dict[str, Counter[int]] = {}
    for action in actions:
        counts.setdefault(action.rule or "–", Counter())[(action.at - start) // width] += action.n
    places = list(range((end - start) // width + 1))
    bottom = [0] * len(places)
    figure, axes = _figure(3.0)
    for number, rule in enumerate(sorted(counts, key=lambda rule: -counts[rule].total())):
        heights = [counts[rule][place] for place in places]
        axes.bar(
            [start + width * place for place in places],
            heights,
            width=width * 0.86,
            bottom=bottom,
            align="edge",
            color=SERIES[number % len(SERIES)],
            label=rule,
            linewidth=0,
        )
        bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
    axes.set_ylabel("pruned in a day" if days == 1 else f"pruned in {days} days")
    _time_axis(axes, start, end)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, handlelength=1, handleheight=1, borderaxespad=0.2)
    return _svg(figure, "pruned", "Pruned memories by rule over the replayed time")


def near(story: Story) -> str:
    """Tokens by tier over the replayed time: all of them, and beside it what has a budget, with the budgets."""
    looks = [look for look in story.near if look.at <= story.replayed_until]
    if len(looks) < 2:
        return ""
    moments = [look.at for look in looks]
    figure, (everything, bounded) = _grid(1, 2, 3.2)
    colours: dict[str, str] = dict(zip(TIERS, (SERIES[1], SERIES[2], SERIES[0], GONE), strict=True))
    everything.stackplot(
        moments,
        *([look.tokens[tier] for look in looks] for tier in TIERS),
        labels=TIERS,
        colors=list(colours.values()),
        linewidth=0,
    )
    everything.set_title("tokens of all that is live")
    for tier in story.budgets.tokens:
        bounded.plot(moments, [look.tokens[tier] for look in looks], color=colours[tier], linewidth=1.6)
        bounded.axhline(story.budgets.of(tier), color=INK, linewidth=0.9, linestyle=(0, (5, 3)))
    bounded.grid(visible=False)
    bounded.set_ylim(
        top=1.12
        * max(max(look.tokens[tier], story.budgets.of(tier) or 0) for look in looks for tier in story.budgets.tokens)
    )
    scopes = story.budgets.scopes
    bounded.set_title("tokens with a budget" + (f" ({scopes} scopes)" if scopes > 1 else ""))
    for axes in (everything, bounded):
        axes.set_ylim(bottom=0)
        _time_axis(axes, moments[0], moments[-1], few=True)
    figure.legend(*everything.get_legend_handles_labels(), loc="lower center", ncols=4, handlelength=1, handleheight=1)
    figure.get_layout_engine().set(rect=(0, 0.1, 1, 0.9))
    return _svg(figure, "near", "Tokens by tier over the replayed time, and the budgets")


def tokens(story: Story) -> str:
    """Tokens by kind: as imported, and now."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for row in story.totals():
        before[row.name] += row.imported[1]
        after[row.name] += row.now[1]
    kinds = sorted(before | after, key=lambda kind: before[kind])
    kinds = [kind for kind in kinds if before[kind] or after[kind]]
    if not kinds:
        return ""
    figure, axes = _figure(0.42 * len(kinds) + 1.0)
    places = range(len(kinds))
    axes.barh([p + 0.2 for p in places], [before[kind] for kind in kinds], height=0.36, color=GONE, label="imported")
    axes.barh([p - 0.2 for p in places], [after[kind] for kind in kinds], height=0.36, color=SERIES[0], label="now")
    most = max(max(before.values()), max(after.values()))
    for place, kind in enumerate(kinds):
        change = f"{100 * (after[kind] - before[kind]) / before[kind]:+.0f} %" if before[kind] else ""
        change = "0 %" if change in ("+0 %", "-0 %") else change.replace("-", "−")
        axes.text(
            max(before[kind], after[kind]) + most * 0.01,
            place,
            change,
            va="center",
            color=SOFT,
            size=9,
        )
    axes.set_yticks(list(places), kinds)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("tokens")
    axes.set_xlim(0, most * 1.08)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles, labels, loc="lower right", handlelength=1, handleheight=1)
    return _svg(figure, "tokens", "Tokens by kind, as imported and now")


def runs(story: Story) -> str:
    """The database's own runs after arming, a lane a job; what changed something is filled and says how much."""
    jobs = sorted({run.job for run in story.runs}, key=lambda job: (job == "curate_due", job))
    if not jobs:
        return ""
    figure, axes = _figure(0.5 * len(jobs) + 1.0)
    for run in story.runs:
        lane = jobs.index(run.job)
        changed = run.changed > 0
        axes.plot(
            [run.seconds],
            [lane],
            "o",
            markersize=11 if changed else 6,
            color=SERIES[0] if changed else PAGE,
            markeredgecolor=SERIES[0] if changed else SOFT,
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
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("seconds after the jobs were armed")
    return _svg(figure, "runs", "Runs that the database made on its own, by job")


PLOTS: dict[str, Callable[[Story], str]] = {
    "memories": memories,
    "forgotten": forgotten,
    "near": near,
    "pruned": pruned,
    "tokens": tokens,
    "runs": runs,
}
"""The plots by name."""


def draw(name: str, story: Story) -> str:
    """One plot as an `<svg>` element, or nothing where there is nothing to show."""
    with mpl.rc_context(fname=_STYLE):
        return PLOTS[name](story)


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
    for action in story.actions:
        if action.replayed and action.action in ("prune", "purge"):
            events.setdefault(action.kind, []).append((action.at, 1 if action.action == "prune" else 2, action.n))
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


def _figure(height: float) -> tuple[Any, Any]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _grid(lines: int, columns: int, height: float) -> tuple[Any, list[Any]]:
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, list(figure.subplots(lines, columns, squeeze=False).flat)


def _time_axis(axes: Any, start: datetime, end: datetime, *, few: bool = False) -> None:
    axes.xaxis.set_major_locator(_dates.AutoDateLocator(minticks=2, maxticks=4 if few else 9))
    axes.xaxis.set_major_formatter(_dates.DateFormatter("%b %Y" if end - start > timedelta(days=120) else "%d %b"))
    axes.set_xlim(start, end)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _svg(figure: Any, name: str, says: str) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    # Several drawings stand in one page: their ids must differ.
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(r'href="#', f'href="#{name}-', text)
    text = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return re.sub(r"<svg\b", f'<svg role="img" aria-label="{says}"', text, count=1)
