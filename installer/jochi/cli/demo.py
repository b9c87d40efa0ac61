"""`jochi demo`: the demonstration, watched at a terminal."""

from __future__ import annotations

import shlex
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jochi import clock
from jochi.cli.output import out, say, table
from jochi.cli.progress import screen

if TYPE_CHECKING:
    from jochi.demo import Story
    from jochi.demo.story import Totals
    from jochi.localserver import Running

REPORT = Path("jochi-demo-report.html")


@contextmanager
def _ended_by_a_kill() -> Iterator[None]:
    """A polite kill (CI, make) unwinds like Ctrl-C, so that the server is stopped too."""

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def demo(
    data: Annotated[
        Path | None, typer.Option("--data", help="A LoCoMo or JSON Lines file. Without it, a month is generated.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the server running at the end.")] = False,
    report: Annotated[Path, typer.Option("--report", help="Where the report goes.")] = REPORT,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the generated memories.")] = 7,
) -> None:
    """Show everything: start a local server, replay months in minutes, and watch the jobs that the database runs on its own.

    The demonstration has a server of its own (named demo). Its database is emptied first.
    """
    from jochi.demo import Demo, file_source, generated_source, run_demo
    from jochi.demo.report import write_report
    from jochi.demo.run import server_for
    from jochi.operate.report.page import require_matplotlib, require_writable

    require_matplotlib()
    require_writable(report, "--report")
    now = clock.now()
    source = generated_source(seed, now=now) if data is None else file_source(data, now=now)
    began = time.monotonic()
    with _ended_by_a_kill(), screen() as shown:
        made = Demo(server_for(shown), source, shown, seed=seed if data is None else None, keep=keep)
        story = run_demo(made)
    show(story)
    with screen() as made.watcher, made.phase("writing the report"):
        write_report(story, report, made.watcher)
    seconds = time.monotonic() - began
    table("Time", ("part", "seconds"), [(name, f"{s:.1f}") for name, s in story.phases.items()], right=(1,))
    say(f"\nReport: {report} ({seconds:.0f} s in all)")
    if keep and made.running is not None:
        _show_how_to_go_on(made.running)
    else:
        out.print("The demonstration's server is stopped; `jochi demo --keep` leaves it running.", markup=False)


def show(story: Story) -> None:
    """What happened, as tables."""
    from jochi.demo.survey import LIVE_FOR

    what = f" ({story.label})" if story.generated else ""
    start, end = story.span
    out.print(
        f"\n{story.source}: {story.memories:,} {story.label}, {start:%Y-%m-%d} to {end:%Y-%m-%d}, "
        f"{story.relationships:,} relationships" + (f" [{story.licence}]" if story.licence else ""),
        markup=False,
    )
    if story.bad_count:
        out.print(
            f"bad lines left out: {story.bad_count:,}; the first: {story.bad[0] if story.bad else '–'}",
            markup=False,
        )
    tombstones = story.tombstones()
    _before_and_after(
        f"Before and after, by kind{what}",
        "kind",
        story.totals(),
        "tombstones",
        lambda kind: tombstones.get(kind, (0, 0))[0],
        sum(n for n, _ in tombstones.values()),
    )
    out.print(
        f"{sum(story.held_back.values()):,} of the imported {story.label} were held back until the replay was done and came in "
        f"with an expiry that the demonstration set over {LIVE_FOR.seconds // 60} minutes, so that there is something to watch.",
        markup=False,
    )
    _before_and_after(
        f"Before and after, by tier{what}", "tier", story.tiers(), "token budget", story.budgets.of, story.budgets.total
    )
    out.print(f"{story.budget_words} Tombstones are in no tier.", markup=False)
    columns = ("in the replay", "by the database alone")
    table(f"What was pruned or merged, and why{what}", ("rule", "kind", *columns), story.pruned(), right=(2, 3))
    if story.purged():
        out.print(f"{story.purged():,} tombstones were older than 30 days and deleted for good (tombstone.ttl).")
    table(
        f"What was archived, moved and flagged{what}", ("rule", "what it did", *columns), story.changed(), right=(2, 3)
    )
    table(
        f"What rails held back{what}",
        ("rail", *columns),
        story.rails(),
        right=(1, 2),
    )
    if story.embeddings is not None:
        made = story.embeddings
        failed = f", {made.failed:,} failed" if made.failed else ""
        out.print(
            f"{made.done:,} {story.label} embedded in {made.seconds:.1f} s ({made.per_second:.0f} a second, {made.model}){failed}, "
            "while the database went on by itself.",
            markup=False,
        )
    for who, n in story.breaker.items():
        out.print(
            f"[bold]The circuit breaker held back {n:,} prunes in the {who}.[/] What it held back was not pruned then."
        )
    table(
        f"Jobs{what}",
        ("job", "run by", "runs", "changed something", "looked at", "changed", "total", "median"),
        [
            (
                j.job,
                j.runner,
                j.runs,
                j.changing,
                j.selected,
                j.changed,
                f"{j.total:.2f} s",
                f"{1000 * j.median:.0f} ms",
            )
            for j in story.job_lines()
        ],
        right=range(2, 8),
    )
    table(
        "Runs that the database made on its own and that changed something",
        ("run", "seconds after arming", "took", "changed", "why"),
        [
            (
                r.id,
                f"{r.seconds:.1f}",
                f"{1000 * r.took:.0f} ms",
                r.changed,
                ", ".join(f"{rule} {n}" for rule, n in r.rules.items()) or "–",
            )
            for r in story.changing_runs
        ],
        right=(1, 2, 3),
    )


def _before_and_after(
    title: str, of: str, rows: Sequence[Totals], last: str, at_the_end: Callable[[str], object], end: object
) -> None:
    from jochi.demo.story import total

    shown: list[tuple[object, ...]] = [
        (row.name or "none", *row.imported, *row.replayed, *row.now, at_the_end(row.name)) for row in rows
    ]
    sums = (total(getattr(row, moment) for row in rows) for moment in ("imported", "replayed", "now"))
    shown.append(("all", *(number for pair in sums for number in pair), end))
    columns = (of, "imported", "tokens", "after replay", "tokens", "now", "tokens", last)
    table(title, columns, shown, right=range(1, 8))


def _show_how_to_go_on(running: Running) -> None:
    from jochi.demo import INSTANCE

    out.print("The server keeps running, and the database goes on curating without Python. To look:\n", markup=False)
    for line in (
        f"export JOCHI_URI={running.uri}",
        f"export JOCHI_USER={running.user}",
        f"export JOCHI_PASSWORD_FILE={shlex.quote(str(running.password_file))}",
        "jochi jobs history curate_due --changed",
        f"jochi server stop --name {INSTANCE}        # to stop it",
    ):
        say(f"  {line}")
