"""A report as one HTML file: no script, no font or picture from elsewhere, and a policy for browsers that lets none in.

What the page says comes as `Page`: sections of text, plots and tables. Every name that somebody else chose is escaped here and
nowhere else. The demonstration's report is made of the same.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import sub
from typing import Any

import jinja2
from markupsafe import Markup, escape

from jochi.errors import JochiError, UsageError
from jochi.files import write_atomically

LONGEST = 80
"""Characters of a name in a table: a longer one is cut off."""

MOST_ROWS = 200
"""Rows of a table: what is left out is said in its last line."""


class MissingReportExtra(JochiError):
    """The packages of the extra `[report]` are not installed."""


class Code(str):
    """A name of the engine's: set in the type of code."""


class Caution(str):
    """A paragraph that stands out."""


class Commands(str):
    """Lines to be typed."""


@dataclass(frozen=True)
class Table:
    """Rows under columns. Numbers and moments are written by whoever shows them; None is a dash.

    ``groups``: titles over several columns, each with how many. ``total``: a last row.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    groups: Sequence[tuple[str, int]] = ()
    total: Sequence[object] | None = None

    @property
    def numeric(self) -> frozenset[int]:
        """The columns that hold numbers: these stand on the right."""
        rows = [*self.rows, *([] if self.total is None else [self.total])]
        found = {place for row in rows for place, cell in enumerate(row) if _is_number(cell)}
        return frozenset(found - {0})


class Number(str):
    """A number with its unit, written already: `12 ms`."""


@dataclass(frozen=True)
class Figure:
    """A plot (an `<svg>` element; empty: there is nothing to draw) over its caption, with its numbers as a table behind it."""

    plot: str
    caption: str
    table: Table | None = None


Block = str | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it. A plain text is a paragraph, in which `so` is code."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """``title``: of the window; ``figures``: the numbers at the head, with their names."""

    title: str
    heading: str
    about: str
    figures: Mapping[str, str]
    sections: Sequence[Section]
    tag: tuple[str, str] | None = None
    """A word that marks the page, and why."""


def require_matplotlib() -> None:
    """Raises `MissingReportExtra` where there is nothing to draw with; asked before the work and not after it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingReportExtra(
            "the report's plots need the package matplotlib, which is not installed", fix="pip install 'jochi[report]'"
        )


def require_writable(path: Path, option: str) -> None:
    """`UsageError` if no file can be made at ``path``, which ``option`` names; asked before the work and not after it."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(
            "a folder stands there" if path.is_dir() else "there is no such folder",
            where=str(path if path.is_dir() else path.parent),
            fix=f"name another file with {option}",
        )


def write_page(page: Page, path: Path) -> None:
    """Writes it to ``path``, whole or not at all; `JochiError` if it can't be written there."""
    write_atomically(path, render(page))


def render(page: Page) -> str:
    """The page as HTML."""
    return _environment().get_template("page.html.j2").render(page=page)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell": _cell, "prose": _prose, "paragraph_class": _paragraph_class, "shown": _shown}
    environment.tests |= {
        "table": lambda block: isinstance(block, Table),
        "figure": lambda block: isinstance(block, Figure),
        "commands": lambda block: isinstance(block, Commands),
    }
    return environment


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | Number) and not isinstance(cell, bool)


def _cell(value: object) -> Markup:
    if value is None:
        return Markup("–")
    if isinstance(value, int):
        return Markup(f"{value:,}")
    text = str(value)
    short = escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
    return Markup(f"<code>{short}</code>") if isinstance(value, Code) else short


def _prose(text: str) -> Markup:
    return Markup(sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


def _paragraph_class(text: str) -> str:
    return "warn" if isinstance(text, Caution) else "text"


def _shown(rows: Sequence[Any]) -> tuple[Sequence[Any], int]:
    return rows[:MOST_ROWS], max(0, len(rows) - MOST_ROWS)
