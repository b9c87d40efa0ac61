"""Plots of a report as inline SVG. Colours are CSS variables of the page, so that light and dark follow the reader."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import dates
from matplotlib.figure import Figure

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

TIER_COLOURS: Mapping[str, str] = dict(zip(TIERS, (SERIES[1], SERIES[2], SERIES[0], GONE), strict=True))
"""Nearest first."""

_STYLE = Path(__file__).with_name("plots.mplstyle")
_WIDTH = 9.2
_LONGEST = 28
MOST_SERIES = 7
"""Names with a colour of their own; the others share the last one."""

KEYS = {"handlelength": 1, "handleheight": 1}
"""A legend's samples are squares."""


@contextmanager
def styled() -> Iterator[None]:
    """Plots are drawn in here."""
    with mpl.rc_context(fname=_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a letter that the measuring font lacks is shown by the reader's
        yield


def new_figure(height: float) -> tuple[Any, Any]:
    """A figure of the page's width and its axes."""
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def new_grid(lines: int, columns: int, height: float) -> tuple[Any, list[Any]]:
    """A figure of the page's width and several axes, line by line."""
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, list(figure.subplots(lines, columns, squeeze=False).flat)


def short(name: str) -> str:
    """A name as a plot can show it."""
    plain = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def few(series: Mapping[str, Sequence[int]], others: str) -> dict[str, list[int]]:
    """The first `MOST_SERIES` by name, and the sum of the ``others``, if there are any."""
    names = list(series)
    if len(names) <= MOST_SERIES + 1:
        return {name: list(series[name]) for name in names}
    rest = names[MOST_SERIES:]
    sums = [sum(values) for values in zip(*(series[name] for name in rest), strict=True)]
    return {**{name: list(series[name]) for name in names[:MOST_SERIES]}, f"{len(rest)} other {others}": sums}


def numbers(axis: Any) -> None:
    """Whole numbers along an axis, with separators."""
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axis.get_major_locator().set_params(integer=True)


def time_axis(axes: Any, start: datetime, end: datetime, *, few: bool = False, zone: tzinfo | None = None) -> None:
    """Time from left to right, numbers upwards."""
    span = end - start
    form = "%H:%M" if span <= timedelta(days=2) else "%b %Y" if span > timedelta(days=120) else "%d %b"
    axes.xaxis.set_major_locator(_dates.AutoDateLocator(minticks=2, maxticks=4 if few else 9, tz=zone))
    axes.xaxis.set_major_formatter(_dates.DateFormatter(form, tz=zone))
    axes.set_xlim(start, end)
    numbers(axes.yaxis)


def bars(
    name: str,
    says: str,
    starts: Sequence[datetime],
    step: timedelta,
    series: Mapping[str, Sequence[int]],
    *,
    unit: str,
    others: str = "kinds",
    colours: Mapping[str, str] | None = None,
    until: datetime | None = None,
    zone: tzinfo | None = None,
) -> str:
    """Stacked bars, one for each interval; nothing where all is 0. ``unit``: what is counted, on the axis."""
    shown = few({key: values for key, values in series.items() if any(values)}, others)
    if not shown:
        return ""
    with styled():
        figure, axes = new_figure(3.1)
        bottom = [0] * len(starts)
        for number, (key, values) in enumerate(shown.items()):
            colour = (colours or {}).get(key, SERIES[number % len(SERIES)])
            axes.bar(
                starts,
                values,
                width=step * 0.86,
                bottom=bottom,
                align="edge",
                color=colour,
                label=_safe(key),
                linewidth=0,
            )
            bottom = [a + b for a, b in zip(bottom, values, strict=True)]
        axes.set_ylabel(unit)
        time_axis(axes, starts[0], max(starts[-1] + step, until or starts[-1]), zone=zone)
        axes.set_ylim(bottom=0)
        legend_above(axes, len(shown))
        return svg(figure, name, says)


def legend_above(axes: Any, entries: int) -> None:
    """A legend over the plot, in lines of four."""
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
    axes.legend(ncols=min(4, max(entries, 1)), **place, **KEYS)


def columns(
    name: str, says: str, counts: Mapping[float, int], marks: Mapping[str, float], *, unit: str, along: str
) -> str:
    """A histogram with columns of half a point, and lines at the ``marks``, each with its name."""
    if not counts:
        return ""
    with styled():
        figure, axes = new_figure(2.9)
        axes.bar(list(counts), list(counts.values()), width=0.44, align="edge", color=SERIES[0], linewidth=0)
        low, high = min(counts), max(counts) + 0.5
        inside = {mark: at for mark, at in marks.items() if low <= at <= high}
        for mark, at in inside.items():
            axes.axvline(at, color=INK, linewidth=0.9, linestyle=(0, (5, 3)))
            axes.annotate(
                mark,
                (at, 1),
                (3, 2),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                size=9,
                color=SOFT,
            )
        axes.set_xlim(low - 0.25, high + 0.25)
        numbers(axes.yaxis)
        axes.set_ylabel(unit)
        axes.set_xlabel(along)
        return svg(figure, name, says)


def lanes(
    name: str,
    says: str,
    rows: Mapping[str, Sequence[tuple[str, float]]],
    colours: Mapping[str, str],
    *,
    unit: str,
    notes: Sequence[str] = (),
    limits: Sequence[float | None] = (),
) -> str:
    """Horizontal bars, the first on top; each row has one bar for each key of ``colours``. ``notes``: a few words behind each row;
    ``limits``: a line across each."""
    if not rows:
        return ""
    with styled():
        figure, axes = new_figure(0.42 * len(rows) + 1.0)
        places = [len(rows) - 1 - number for number in range(len(rows))]
        thick = 0.76 / len(colours)
        for number, (key, colour) in enumerate(colours.items()):
            shift = 0.38 - thick * (number + 0.5)
            values = [dict(row).get(key, 0) for row in rows.values()]
            axes.barh([p + shift for p in places], values, height=thick * 0.94, color=colour, label=_safe(key))
        most = max([value for row in rows.values() for _, value in row] + [limit or 0 for limit in limits] + [1])
        for place, limit in zip(places, limits, strict=False):
            if limit is not None:
                axes.plot([limit, limit], [place - 0.42, place + 0.42], color=INK, linewidth=1.4)
        for place, note, row, limit in zip(places, notes, rows.values(), [*limits, *[None] * len(rows)], strict=False):
            end = max([value for _, value in row] + [limit or 0])
            axes.text(end + most * 0.01, place, note, va="center", color=SOFT, size=9)
        axes.set_yticks(places, [short(row) for row in rows])
        axes.tick_params(axis="y", length=0, labelcolor=INK)
        axes.grid(visible=False, axis="y")
        axes.grid(visible=True, axis="x")
        axes.spines["left"].set_visible(False)
        numbers(axes.xaxis)
        axes.set_xlabel(unit)
        axes.set_xlim(0, most * (1.16 if notes else 1.04))
        if len(colours) > 1:
            axes.legend(loc="lower right", **KEYS)
        return svg(figure, name, says)


def draw(plot: Callable[..., str], *asked: Any) -> str:
    """What ``plot`` draws, in the report's style."""
    with styled():
        return plot(*asked)


def svg(figure: Any, name: str, says: str) -> str:
    """The figure as an `<svg>` element. ``name``: before its ids; ``says``: what a reader who can't see it is told."""
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
    return re.sub(r"<svg\b", lambda _: f'<svg role="img" aria-label="{escape(says)}"', text, count=1)


def _safe(name: str) -> str:
    # What begins so is left out of a legend by matplotlib.
    plain = short(name) or "–"
    return f"\N{ZERO WIDTH SPACE}{plain}" if plain.startswith("_") else plain
