"""The demonstration's report: one HTML file without scripts, fonts or pictures from elsewhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from jochi.demo.story import Story, total
from jochi.demo.survey import EVERY, LIVE_FOR
from jochi.errors import JochiError, UsageError
from jochi.localserver.report import Report, Silent

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPLATE = "report.html.j2"


class MissingReportExtra(JochiError):
    """The packages of the extra `[report]` are not installed."""


def require_matplotlib() -> None:
    """Raises `MissingReportExtra` where there is nothing to draw with; asked before the work and not after it."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingReportExtra(
            "the report's plots need the package matplotlib, which is not installed", fix="pip install 'jochi[report]'"
        )


def require_writable(path: Path) -> None:
    """`UsageError` if no file can be made at ``path``; asked before the work and not after it."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(
            "a folder stands there" if path.is_dir() else "there is no such folder",
            where=str(path if path.is_dir() else path.parent),
            fix="name another file with --report",
        )


def write_report(story: Story, path: Path, watcher: Report | None = None) -> None:
    """Writes the report to ``path`` (overwritten); `UsageError` if it can't be written there."""
    text = render(story, watcher or Silent())
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"the report can't be written: {error.strerror}", where=str(path), fix="name another file with --report"
        ) from error


def render(story: Story, watcher: Report) -> str:
    """The report as HTML. It holds counts, rules and keys; nothing of what the memories say."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["n"] = lambda value: f"{value:,}"
    environment.filters["day"] = lambda value: f"{value:%Y-%m-%d}"
    environment.filters["second"] = lambda value: f"{value:%Y-%m-%d %H:%M:%S} UTC"
    totals = story.totals()
    gone = story.tombstones()
    bounded = [row for row in story.tiers() if row.name in story.budgets.tokens]
    return environment.get_template(TEMPLATE).render(
        story=story,
        totals=totals,
        sums=[total(getattr(row, name) for row in totals) for name in ("imported", "replayed", "now")],
        tombstones={row.name: gone.get(row.name, (0, 0))[0] for row in totals},
        budgets={tier: story.budgets.of(tier) for tier in story.budgets.tokens},
        near=[sum(getattr(row, moment)[1] for row in bounded) for moment in ("imported", "now")],
        plots=_plots(story, watcher),
        every=EVERY.seconds,
        minutes=LIVE_FOR.seconds // 60,
        held_back=sum(story.held_back.values()),
    )


def _plots(story: Story, watcher: Report) -> Mapping[str, str]:
    from jochi.demo import plots

    made = {}
    for number, name in enumerate(plots.PLOTS):
        watcher.doing(f"drawing {name}", number, len(plots.PLOTS))
        made[name] = plots.draw(name, story)
    return made
