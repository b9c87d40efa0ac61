"""`make exit-criteria [DATA=locomo10.json] [PAGE=file]`: prints each line of the seed with its figure.

The clock is the data's own: 24 hours of a generated team at the seed's schedule, 75 days of it every four hours, LoCoMo by the day.
Ends with 1 if a line doesn't hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

from rich.console import Console
from tests.exit_criteria import bands, curve, page, starts
from tests.exit_criteria.activity import activity
from tests.exit_criteria.criteria import (
    Criterion,
    over_budget,
    protected_and_pruned,
    stale_notifications,
    unarchived_tasks,
)
from tests.exit_criteria.play import Played, play
from tests.own_server import own_server

from jochi import Jochi
from jochi.generate import team
from jochi.policy import load_policy
from jochi.write import importing

END = datetime(2026, 6, 1, tzinfo=timezone.utc)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SEED_SCHEDULE = {
    "fold_accesses": 5 * MINUTE,
    "curate_due": 5 * MINUTE,
    "enforce_budgets": 5 * MINUTE,
    "roll_access_days": HOUR,
    "sweep_orphans": HOUR,
    "hygiene": 6 * HOUR,
}
FACTORS = (20, 10, 5, 2, 1)
"""The budgets of the curve: so many times 1600 / 400 / 200, the largest first, for each is cut out of the one before."""


def slower(times: int) -> dict[str, timedelta]:
    """The seed's schedule with intervals so many times as long."""
    return {job: interval * times for job, interval in SEED_SCHEDULE.items()}


def wiped(client: Jochi) -> Jochi:
    """Without memories; the engine stays, ready to run."""
    client.database.autocommit(
        "MATCH (n) WHERE NOT n:JochiProcedure AND NOT n:JochiPolicy AND NOT n:JochiPump AND NOT n:JochiJob "
        "AND NOT n:__Neo4jMigration CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
    )
    client.apply()
    return client


class Watch:
    """Looks after each run of a job: at the tiers after the budgets' own, at what went after those that prune."""

    def __init__(self, client: Jochi) -> None:
        self.client = client
        self.looks = 0
        self.over: list[str] = []
        self.pruned = 0
        self.wrong: list[str] = []

    def __call__(self, job: str, at: datetime) -> None:
        if job == "enforce_budgets":
            self.looks += 1
            self.over += [f"{at}: {line}" for line in over_budget(self.client)]
        elif job in ("curate_due", "sweep_orphans"):
            pruned, wrong = protected_and_pruned(self.client, at)
            self.pruned += pruned
            self.wrong += wrong

    def criterion(self, what: str) -> Criterion:
        """HOT, WARM and COLD within their budgets after every enforcement."""
        return Criterion(
            f"{what}: HOT ≤ 1600, WARM ≤ 400, COLD ≤ 200 tokens per scope after every enforcement",
            self.looks > 0 and not self.over,
            f"{self.looks} looks, {len(self.over)} above" + (f" ({self.over[0]})" if self.over else ""),
        )

    def unharmed(self, what: str) -> Criterion:
        """No protected memory was pruned, and some unprotected ones were."""
        said = f"{len(self.wrong)} of {self.pruned:,} pruned" + _first(self.wrong)
        return Criterion(f"{what}: no protected memory ever pruned", self.pruned > 0 and not self.wrong, said)


def errors(what: str, played: Played) -> Criterion:
    """The schedule ran without errors."""
    total = sum(played.runs.values())
    asked = sum(played.approved.values())
    said = f"{total:,} runs, {len(played.errors)} errors" + (f" ({played.errors[0]})" if played.errors else "")
    said += f", {asked:,} times the breaker asked" if asked else ""
    return Criterion(f"{what}: schedule without errors", total > 0 and not played.errors, said)


def one_day(client: Jochi) -> list[Criterion]:
    """24 hours of activity at the seed's schedule, for the budgets."""
    watch = Watch(wiped(client))
    events = activity(team(7, end=END, days=2, size=800))
    played = play(client, events, SEED_SCHEDULE, start=END - DAY, end=END, after=watch)
    return [errors("24 h of a team", played), watch.criterion("24 h of a team")]


def a_quarter(client: Jochi) -> list[Criterion]:
    """75 days every four hours, for the rest."""
    watch, step = Watch(wiped(client)), 4 * HOUR
    events = activity(team(11, end=END, days=75, size=6_000))
    played = play(client, events, slower(48), start=END - 75 * DAY, end=END, after=watch)
    slack = 2 * step + 15 * MINUTE
    stale, undone = stale_notifications(client, END, slack), unarchived_tasks(client, END, slack)
    archived = client.database.run("MATCH (a:CurationAudit {action: 'archive'}) RETURN count(a) AS n", write=False)[0][
        "n"
    ]
    return [
        errors("75 days of a team", played),
        watch.criterion("75 days of a team"),
        Criterion("read Notifications gone after 7 days", not stale, f"{len(stale)} left" + _first(stale)),
        Criterion(
            "completed Tasks archived at 14 days",
            not undone,
            f"{len(undone)} left, {archived:,} archived" + _first(undone),
        ),
        watch.unharmed("75 days of a team"),
    ]


def _first(keys: list[str]) -> str:
    return f" ({keys[0]})" if keys else ""


def locomo(client: Jochi, data: Path) -> tuple[list[Criterion], list[curve.Point]]:
    """LoCoMo with its real dates by the day, then the curve over budgets of several sizes."""
    watch = Watch(wiped(client))
    events = activity(importing.records(data, now=END, on_bad=lambda bad: None))
    start, end = events[0].at, events[-1].at + DAY
    played = play(client, events, slower(288), start=start, end=end, after=watch)
    lines = [
        errors("LoCoMo", played),
        watch.criterion("LoCoMo"),
        watch.unharmed("LoCoMo"),
    ]
    return lines, list(_points(client, data, end))


def _points(client: Jochi, data: Path, now: datetime) -> Iterator[curve.Point]:
    asked = curve.questions(data)
    client.database.run("MATCH (m:Curated) WITH m.key AS key MATCH (m:Curated {key: key}) SET m.tier = 'HOT'")
    yield curve.ceiling(asked, curve.read(client))
    with tempfile.TemporaryDirectory() as folder:
        for factor in FACTORS:
            file = Path(folder, f"times{factor}.toml")
            budgets = "".join(
                f"{tier} = {tokens * factor}\n" for tier, tokens in (("HOT", 1600), ("WARM", 400), ("COLD", 200))
            )
            file.write_text(
                f'[policy]\nname = "times {factor}"\nextends = "default"\n[tiers]\n{budgets}', encoding="utf-8"
            )
            scaled = Jochi(client.database.driver, policy=load_policy(file))
            scaled.install(arm=False)
            scaled.apply()
            scaled.run("enforce_budgets", drain=True, now=now)
            yield from curve.points(asked, curve.read(scaled), factor, "ours")


def profiles(client: Jochi, data: Path) -> tuple[list[bands.Kept], list[bands.Left]]:
    """LoCoMo every six days with the questions that are asked, once for each way of using the score."""
    records = list(importing.records(data, now=END, on_bad=lambda bad: None))
    written, asked = activity(records), curve.questions(data)
    end = written[-1].at + bands.QUIET
    used = bands.uses(bands.halves(asked)[0], records, end)
    events = sorted([*written, *used], key=lambda event: (event.at, event.record is None))
    kept, left = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in bands.PROFILES.items():
            file = Path(folder, "profile.toml")
            file.write_text(f'[policy]\nname = "{name}"\nextends = "default"\n[value]\n{lines}\n', encoding="utf-8")
            with_profile = Jochi(client.database.driver, policy=load_policy(file))
            with_profile.install(arm=False)
            looks, rest = bands.compare(wiped(with_profile), name, events, asked, end=end)
            kept += looks
            left.append(rest)
    return kept, left


def main() -> int:
    """Runs all of it; 1 if a line doesn't hold."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, help="LoCoMo's file; without it that part is left out")
    options.add_argument("--page", type=Path, help="a page of the docs to write the figures into")
    options.add_argument(
        "--bands", action="store_true", help="only the comparison of the value score's bands; needs --data"
    )
    options.add_argument("--starts", action="store_true", help="only what an agent starts with; needs --data")
    given = options.parse_args()
    if (given.bands or given.starts) and not given.data:
        options.error("--bands and --starts need --data")
    everything = not (given.bands or given.starts)
    console = Console(width=150)
    lines: list[Criterion] = []
    found: list[curve.Point] = []
    kept: list[bands.Kept] = []
    left: list[bands.Left] = []
    started: list[starts.Compared] = []

    def judge(more: list[Criterion]) -> None:
        """Each line is shown as soon as it is known: all of them take half an hour."""
        lines.extend(more)
        for line in more:
            console.print(
                f"{'holds ' if line.holds else 'FAILS '} {line.what}: {line.figure}", markup=False, highlight=False
            )

    with own_server("exit-criteria") as client:
        if everything:
            judge(one_day(client))
            judge(a_quarter(client))
        if not (given.data and given.data.is_file()):
            console.print("SKIPPED: LoCoMo, whose file isn't here; its licence forbids shipping it")
        else:
            if everything:
                more, found = locomo(client, given.data)
                judge(more)
                console.print(page.curve_table(found))
            if everything or given.bands:
                kept, left = profiles(client, given.data)
                console.print(page.kept_table(kept))
                console.print(page.left_table(left))
            if everything or given.starts:
                started = starts.measure(client, given.data, wiped)
                console.print(page.starts_table(started))
    of_the_page = list(lines)
    judge(starts.criteria(started))
    if given.page:
        page.write(given.page, of_the_page, found, kept, left, started)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
