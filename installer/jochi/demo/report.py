"""The demonstration's report: its own plots and words, on the page that `jochi report` makes (`jochi.operate.report`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from jochi.demo.story import Story, Totals, total
from jochi.demo.survey import EVERY, LIVE_FOR
from jochi.localserver.report import Report, Silent
from jochi.operate.report.page import (
    Block,
    Caution,
    Code,
    Commands,
    Figure,
    Number,
    Page,
    Section,
    Table,
    render,
    write_page,
)


def write_report(story: Story, path: Path, watcher: Report | None = None) -> None:
    """Writes the report to ``path`` (overwritten); `JochiError` if it can't be written there."""
    write_page(page_of(story, watcher or Silent()), path)


def render_story(story: Story) -> str:
    """The report as HTML. It holds counts, rules and keys; nothing of what the memories say."""
    return render(page_of(story, Silent()))


def page_of(story: Story, watcher: Report) -> Page:
    """The page, its plots drawn."""
    plots = _plots(story, watcher)
    licence = f" · data: {story.licence}; this page holds counts and keys, none of its text." if story.licence else ""
    why = "All memories on this page were made by a seeded generator. Nobody ever remembered them."
    return Page(
        title=f"Jochi: {story.source}",
        heading="What the database remembered, and what it let go",
        about=f"Jochi’s demonstration · {story.source} · begun {story.began_at:%Y-%m-%d %H:%M:%S} UTC{licence}",
        tag=("generated", why) if story.generated else None,
        figures=_headline(story),
        sections=list(_sections(story, plots)),
    )


def _plots(story: Story, watcher: Report) -> Mapping[str, str]:
    from jochi.demo.plots import PLOTS
    from jochi.operate.report.plots import draw

    made = {}
    for number, plot in enumerate(PLOTS):
        watcher.doing(f"drawing {plot.__name__}", number, len(PLOTS))
        made[plot.__name__] = draw(plot, story)
    return made


def _headline(story: Story) -> dict[str, str]:
    live = sum(row.now[0] for row in story.totals())
    bounded = [row for row in story.tiers() if row.name in story.budgets.tokens]
    before, after = (sum(getattr(row, moment)[1] for row in bounded) for moment in ("imported", "now"))
    found = {
        f"{story.label} imported": f"{story.memories:,}",
        "live now": f"{live:,}",
        "tokens kept near: imported → now": f"{before:,} → {after:,}",
        "pruned or merged in the replay": f"{sum(row[2] for row in story.pruned()):,}",
        "pruned or merged by the database alone": f"{sum(row[3] for row in story.pruned()):,}",
        "moves between tiers": f"{story.sum_of('moved'):,}",
        "archived, flagged": f"{story.sum_of('archived'):,}, {story.sum_of('flagged'):,}",
        "own runs that changed something": f"{len(story.changing_runs):,}",
    }
    if story.embeddings:
        found[f"embedded, {story.embeddings.per_second:.0f} a second"] = f"{story.embeddings.done:,}"
    return found


def _sections(story: Story, plots: Mapping[str, str]) -> Iterator[Section]:
    marked = " Generated memories." if story.generated else ""
    columns = ("in the replay", "by the database alone")

    def figure(name: str, caption: str, table: Table | None = None) -> Figure:
        return Figure(plots[name], caption + marked, table)

    bounded = {tier: story.budgets.of(tier) for tier in story.budgets.tokens}
    gone = {kind: n for kind, (n, _) in story.tombstones().items()}
    kinds = {row.name: gone.get(row.name, 0) for row in story.totals()}
    held_back = sum(story.held_back.values())
    yield Section(
        "The replay",
        [
            _replay(story),
            *(
                Caution(
                    f"The circuit breaker held back {n:,} prunes in the {who}: too much of one kind in one "
                    "scope within a day. They were "
                    "not pruned then."
                )
                for who, n in story.breaker.items()
            ),
            figure(
                "memories",
                "Live memories by kind; pruned ones stay as tombstones for 30 days and can be brought back.",
            ),
            figure(
                "forgotten",
                "The kinds that lost memories. Live and gone together are what had been made by then.",
            ),
        ],
    )
    yield Section(
        "What is kept near",
        [
            f"Near is what lies in HOT, WARM or COLD. {story.budget_words}",
            figure(
                "near",
                "Tokens by tier after each look at the budgets: everything that is live, and the three tiers "
                "that have a budget "
                "(dashed) by themselves.",
            ),
            _before_and_after(story, "tier", story.tiers(), "token budget", bounded),
        ],
    )
    yield Section(
        "What an agent starts with",
        [
            "Of all that it holds, each scope hands an agent so much at the start of a session: `jochi context "
            "show --scope …` says "
            "what and why.",
            Table(
                "What each scope hands over",
                ("scope", "memories", "tokens", "share of its limit", "of live memories", "of their tokens"),
                [
                    (
                        Code(start.scope),
                        start.memories,
                        start.tokens,
                        Number(f"{100 * start.tokens / start.max_tokens:.0f} %"),
                        start.of_memories,
                        start.of_tokens,
                    )
                    for start in story.starts
                ],
            ),
        ],
    )
    went: list[Block] = [
        figure("pruned", "Pruned in the replay, by the rule that was met."),
        Table(
            "Pruned or merged",
            ("rule", "kind", *columns),
            [(Code(rule), kind, a, b) for rule, kind, a, b in story.pruned()],
        ),
    ]
    if story.purged():
        went.append(f"{story.purged():,} tombstones were older than 30 days and deleted for good (`tombstone.ttl`).")
    yield Section("What was pruned or merged, and why", went)
    yield Section(
        "What was archived, moved and flagged",
        [
            Table(
                "Times it was done: a memory can move more than once",
                ("rule", "what it did", *columns),
                [(Code(rule), did, a, b) for rule, did, a, b in story.changed()],
            )
        ],
    )
    yield Section(
        "What rails held back",
        [
            Table(
                "Memories that a rule would have changed and that a rail kept as they were, once for each rule "
                "and set of rails",
                ("rail", *columns),
                [(Code(rail), a, b) for rail, a, b in story.rails()],
            )
        ],
    )
    yield Section(
        "Before and after",
        [
            figure("tokens", "Tokens by kind, as imported and now. Memories without text have none."),
            _before_and_after(story, "kind", story.totals(), "tombstones", kinds),
            f"“Imported” counts all of them; {held_back:,} were held back until the replay was done.",
        ],
    )
    yield _alone(story, figure("runs", "Every run of the database since it was armed. Filled: it changed something."))
    yield Section("Embeddings", [_embeddings(story)])
    yield Section(
        "Jobs",
        [
            Table(
                "Runs of each job",
                ("job", "run by", "runs", "changed something", "looked at", "changed", "total", "median"),
                [
                    (
                        Code(job.job),
                        "the database" if job.runner == "database" else "the replay",
                        *(job.runs, job.changing, job.selected, job.changed),
                        Number(f"{job.total:.2f} s"),
                        Number(f"{1000 * job.median:.0f} ms"),
                    )
                    for job in story.job_lines()
                ],
            )
        ],
    )
    yield Section("Look further", list(_look_further(story)))
    yield Section("What was run", [_what_was_run(story)])


def _replay(story: Story) -> str:
    caught_up = (
        f", then in one step to {story.caught_up_at:%Y-%m-%d}, which the plots leave out"
        if story.caught_up_at.date() != story.replayed_until.date()
        else ""
    )
    return (
        f"The memories of {story.span[0]:%Y-%m-%d} to {story.span[1]:%Y-%m-%d} were imported and their time was "
        "replayed: the same "
        f"procedures that the database runs, with a `$now` that moved in steps of "
        f"{int(story.step.total_seconds() / 3600)} hours to "
        f"{story.replayed_until:%Y-%m-%d}{caught_up}."
    )


def _before_and_after(
    story: Story, of: str, rows: Sequence[Totals], last: str, at_the_end: Mapping[str, int | None]
) -> Table:
    sums = [total(getattr(row, moment) for row in rows) for moment in ("imported", "replayed", "now")]
    return Table(
        f"Live {story.label} by {of}",
        (of, *("memories", "tokens") * 3, last),
        [(row.name or "none", *row.imported, *row.replayed, *row.now, at_the_end.get(row.name)) for row in rows],
        groups=(("", 1), ("imported", 2), ("after the replay", 2), ("now", 2), ("", 1)),
        total=("all", *(n for pair in sums for n in pair), sum(n or 0 for n in at_the_end.values())),
    )


def _alone(story: Story, figure: Figure) -> Section:
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in story.held_back.items())
    text = (
        f"After the replay the jobs were armed and Python only looked. So that there was something to watch, "
        f"{sum(story.held_back.values()):,} of the newest {story.label} ({kinds}) had been held back, and the "
        "demonstration itself gave "
        f"them an `expires_at`: one or more every {EVERY.seconds} seconds for {LIVE_FOR.seconds // 60} minutes. "
        "A plan until "
        f"{story.plan.at:%Y-%m-%d %H:%M:%S} UTC counted {story.applied:,} prunes and was applied: without that "
        "no destructive job runs."
    )
    rows = [
        (
            Code(run.id),
            Number(f"{run.seconds:.1f}"),
            Number(f"{1000 * run.took:.0f} ms"),
            run.selected,
            run.changed,
            ", ".join(f"{rule} {n:,}" for rule, n in run.rules.items()),
        )
        for run in story.changing_runs
    ]
    columns = ("run", "seconds after arming", "took", "looked at", "changed", "why")
    return Section("The database on its own", [text, figure, Table("Runs that changed something", columns, rows)])


def _embeddings(story: Story) -> str:
    made = story.embeddings
    if made is None:
        return "None: the extra `[embeddings]` is not installed."
    failed = f"; {made.failed:,} failed" if made.failed else ""
    return (
        f"A worker embedded {made.done:,} {story.label} on this machine with {made.model} in {made.seconds:.1f} "
        "s, while the database "
        f"went on by itself{failed}. Turns of a conversation are left out here."
    )


def _look_further(story: Story) -> Iterator[Block]:
    start = (
        "" if story.kept else "jochi server start --name demo      # it was stopped at the end; prints three exports\n"
    )
    one = "".join(f"jochi explain {key}\njochi restore {key}\n" for key in story.examples[:1])
    yield Commands(f"{start}jochi status\njochi jobs history curate_due --changed\n{one}jochi server stop --name demo")
    if story.examples:
        named = ", ".join(f"`{key}`" for key in story.examples)
        yield f"Pruned by the database alone and still there as tombstones, for example: {named}."


def _what_was_run(story: Story) -> Table:
    licence = f" ({story.licence})" if story.licence else ""
    bad = f", {story.bad_count:,} bad lines left out" if story.bad_count else ""
    amount = f"{story.memories:,} {story.label}, {story.relationships:,} relationships{bad}"
    return Table(
        "This demonstration",
        ("what", "which"),
        [
            *story.versions.items(),
            ("policy", story.policy),
            ("schedule", f"the seeds’ rules and rails, worked every {EVERY.seconds} s"),
            ("data", f"{story.source}{licence}"),
            ("amount", amount),
            *((f"time: {name}", f"{seconds:.1f} s") for name, seconds in story.phases.items()),
        ],
    )
