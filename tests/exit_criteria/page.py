"""The figures as a page of the docs: a table of the criteria, a table and a plot of the curve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from tests.exit_criteria.criteria import Criterion
from tests.exit_criteria.curve import Point

PLOT = "locomo-curve.png"


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


def write(file: Path, criteria: Sequence[Criterion], points: Sequence[Point]) -> None:
    """Replaces what stands between the page's marks, and draws the plot beside the docs' other pictures."""
    parts = {"criteria": "\n".join(["| criterion | holds | figure |", "|---|---|---|", *(_line(c) for c in criteria)])}
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
