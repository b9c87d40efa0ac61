"""The figures as a page of the docs: a table of the criteria, a table and a plot of the curve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from tests.exit_criteria.bands import Kept, Left
from tests.exit_criteria.criteria import Criterion
from tests.exit_criteria.curve import Point
from tests.exit_criteria.starts import Compared, Share
from tests.exit_criteria.starts import criteria as starts_criteria

PLOT = "locomo-curve.png"
STARTS_PLOT = "locomo-starts.png"
BANDS_PLOT = "locomo-bands.png"
TIERS = ("HOT", "WARM", "COLD", "ARCHIVE")


def curve_table(points: Sequence[Point]) -> str:
    """The curve as Markdown."""
    rows = [
        "| policy | budgets | tokens near | questions with all evidence near | … that still exists |",
        "|---|---|---|---|---|",
    ]
    rows += [
        f"| {p.policy} | {'all' if p.policy == 'keep all' else f'×{p.factor:g}'} | {p.tokens:,} | {p.near:.1%} | {p.exists:.1%} |"
        for p in points
    ]
    return "\n".join(rows)


def kept_table(kept: Sequence[Kept]) -> str:
    """What each profile keeps, look by look, as Markdown."""
    rows = [
        f"| day | profile | {' | '.join(f'{tier} tokens' for tier in TIERS)} | memories in all |",
        f"|---|---|{'---|' * 5}",
    ]
    for k in sorted(kept, key=lambda k: k.days):
        cells = " | ".join(f"{k.tokens.get(tier, 0):,}" for tier in TIERS)
        rows.append(f"| {k.days} | {k.profile} | {cells} | {sum(k.memories.values()):,} |")
    return "\n".join(rows)


def left_table(left: Sequence[Left]) -> str:
    """What each profile has left at the end, and who still finds its evidence, as Markdown."""
    rows = [
        "| profile | memories | tokens | asked questions: evidence near | … exists | others: evidence near | … exists |",
        f"|{'---|' * 7}",
    ]
    rows += [
        f"| {one.profile} | {one.memories:,} | {one.tokens:,} "
        f"| {one.asked_near:.1%} | {one.asked_exists:.1%} | {one.other_near:.1%} | {one.other_exists:.1%} |"
        for one in left
    ]
    return "\n".join(rows)


def starts_table(started: Sequence[Compared]) -> str:
    """What an agent starts with, by policy and way to choose it, as Markdown."""
    rows = [
        "| policy | chosen by | tokens a scope | asked questions | others | asked, or observed | others, or observed |",
        f"|{'---|' * 7}",
    ]
    for one in started:
        for s in one.starts:
            shares = " | ".join(_share(x) for x in (s.asked, s.other, s.asked_observed, s.other_observed))
            rows.append(f"| {one.policy} | {s.way} | {s.tokens:,.0f} | {shares} |")
        rows.append(f"| {one.policy} | everything, for comparison | {one.all_tokens:,.0f} | | | | |")
    return "\n".join(rows)


def _share(x: Share) -> str:
    return f"{x.mean:.1%} ({100 * x.low:.1f}–{100 * x.high:.1f})"


def write(
    file: Path,
    criteria: Sequence[Criterion],
    points: Sequence[Point],
    kept: Sequence[Kept] = (),
    left: Sequence[Left] = (),
    started: Sequence[Compared] = (),
) -> None:
    """Replaces what stands between the page's marks, and draws the plots beside the docs' other pictures."""
    parts = {}
    if criteria:
        parts["criteria"] = _criteria_table(criteria)
    if started:
        parts |= {"starts-criteria": _criteria_table(starts_criteria(started)), "starts": starts_table(started)}
        _plot_starts(started, file.parent.parent / "images" / STARTS_PLOT)
    if kept:
        parts |= {"bands": kept_table(kept), "left": left_table(left)}
        _plot_bands(kept, file.parent.parent / "images" / BANDS_PLOT)
    if points:
        parts["curve"] = curve_table(points)
        _plot(points, file.parent.parent / "images" / PLOT)
    text = file.read_text(encoding="utf-8")
    for name, part in parts.items():
        head, _, rest = text.partition(f"<!-- {name} -->\n")
        _, found, tail = rest.partition(f"<!-- end {name} -->")
        if not found:
            raise ValueError(f"{file} has no place for {name}")
        text = f"{head}<!-- {name} -->\n{part}\n<!-- end {name} -->{tail}"
    file.write_text(text, encoding="utf-8")


def _criteria_table(criteria: Sequence[Criterion]) -> str:
    return "\n".join(["| criterion | holds | figure |", "|---|---|---|", *(_line(c) for c in criteria)])


def _line(criterion: Criterion) -> str:
    return f"| {criterion.what} | {'yes' if criterion.holds else '**no**'} | {criterion.figure} |"


def _plot(points: Sequence[Point], file: Path) -> None:
    figure = Figure(figsize=(7.6, 4.2), dpi=144, layout="constrained")
    axes = figure.subplots()
    for name, style in (("ours", "o-"), ("LRU", "s--"), ("TTL only", "^:"), ("random", "x-.")):
        mine = sorted((p for p in points if p.policy == name), key=lambda p: p.tokens)
        axes.plot(
            [p.tokens for p in mine], [100 * p.near for p in mine], style, label=name, linewidth=1.6, markersize=5
        )
    for p in points:
        if p.policy == "keep all":
            axes.axhline(100 * p.near, color="0.5", linewidth=1)
            axes.text(0.02, 100 * p.near - 2, "keep all", transform=axes.get_yaxis_transform(), va="top", color="0.4")
    axes.set_xscale("log")
    axes.set_ylim(0, 102)
    for axis in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        axis(lambda tokens, _: f"{tokens / 1000:,.0f}k")
    axes.set_xlabel("tokens in HOT, WARM and COLD, ten conversations")
    axes.set_ylabel("questions with all their evidence there, %")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(file)


def _plot_bands(kept: Sequence[Kept], file: Path) -> None:
    figure = Figure(figsize=(7.6, 3.4), dpi=144, layout="constrained")
    axes = figure.subplots()
    for name, style in zip(dict.fromkeys(k.profile for k in kept), ("^:", "o-", "s--"), strict=False):
        mine = sorted((k for k in kept if k.profile == name), key=lambda k: k.days)
        tokens = [sum(k.tokens.values()) / 1000 for k in mine]
        axes.plot([k.days for k in mine], tokens, style, label=name, linewidth=1.6, markersize=5)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("days since the first memory, ten conversations")
    axes.set_ylabel("thousand tokens that exist")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper left")
    figure.savefig(file)


def _plot_starts(started: Sequence[Compared], file: Path) -> None:
    figure = Figure(figsize=(7.6, 3.6), dpi=144, layout="constrained")
    halves = figure.subplots(1, 2, sharey=True)
    width = 0.8 / len(started[0].starts)
    for axes, title, observed in zip(halves, ("the turn itself", "… or observed from it"), (False, True), strict=True):
        for n, way in enumerate(s.way for s in started[0].starts):
            shares = [
                (s.asked_observed if observed else s.asked) for one in started for s in one.starts if s.way == way
            ]
            means = [100 * x.mean for x in shares]
            spread = [[100 * (x.mean - x.low) for x in shares], [100 * (x.high - x.mean) for x in shares]]
            places = [i + (n - 1.5) * width for i in range(len(started))]
            axes.bar(places, means, width, yerr=spread, label=way, error_kw={"linewidth": 0.8, "capsize": 2})
        axes.set_xticks(range(len(started)), [one.policy for one in started])
        axes.set_title(title, fontsize=10)
        axes.grid(axis="y", alpha=0.3)
    halves[0].set_ylabel("asked questions with all evidence, %")
    halves[0].legend(frameon=False, fontsize=8)
    figure.savefig(file)
