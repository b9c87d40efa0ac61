"""What observing costs: the scan of a turn's signals; a turn against the bare write of one node, in one run; and learning."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from functools import partial

from rich.table import Table
from tests.bench.store import settle, wipe
from tests.conftest import LOCOMO

from jochi import Jochi, Turn
from jochi.text.tokens import best_counter
from jochi.write.observing.signals import scan
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.handler import Handler
from jochi_workers.judge import JudgeHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
PAIRS = 1_500
LEARNED, SESSION = 400, 20
"""So many turns are learned from, in sessions of so many."""
BARE = "CREATE (:Bare {key: $in.key, text: $in.text, at: $in.at})"


def said() -> list[str]:
    """Turns of LoCoMo, or made up ones where its file isn't there."""
    if not LOCOMO.exists():
        return [f"I think the deployment of service {n} went well, and I prefer it to the last one" for n in range(500)]
    samples = json.loads(LOCOMO.read_text())
    return [
        turn["text"]
        for sample in samples
        for talk in sample["conversation"].values()
        if isinstance(talk, list)
        for turn in talk
    ]


def percentiles(times: Sequence[float]) -> str:
    cuts = statistics.quantiles(times, n=100)
    return f"{statistics.median(times):.2f} ms, p99 {cuts[98]:.2f} ms"


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def observe(client: Jochi, table: Table) -> None:
    """Adds the figures of this part."""
    client.install(arm=False)
    wipe(client.database)
    settle()
    dice, turns = random.Random(1), said()
    scan("warm")
    short = [timed(lambda text=text: scan(text)) for text in turns]  # type: ignore[misc]
    long = ["  ".join(dice.choices(turns, k=200))[:10_000] for _ in range(200)]
    table.add_row("scan of a turn", percentiles(short), "")
    table.add_row(
        "scan of 10,000 characters", percentiles([timed(lambda text=text: scan(text)) for text in long]), "< 10 ms"
    )  # type: ignore[misc]
    bare: list[float] = []
    ours: dict[str, list[float]] = {"buffered": [], "learning": []}
    for n in range(-200, PAIRS):  # the first are a warm-up
        text, at = dice.choice(turns) or "-", NOW + timedelta(seconds=n)
        # Who is first pays for what the machine did meanwhile: each is as often as the other.
        both: dict[str, float] = {}
        for which in ("bare", "observe") if n % 2 else ("observe", "bare"):
            began = time.perf_counter()
            if which == "bare":
                client.database.run(BARE, {"in": {"key": str(n), "text": text, "at": at}})
            else:
                outcome = client.observe(Turn(text, session=f"s{n % 20}", id=str(n), at=at), now=at).outcome
            both[which] = (time.perf_counter() - began) * 1000
        if n >= 0:
            bare.append(both["bare"])
            ours[outcome].append(both["observe"])
    every = [*ours["buffered"], *ours["learning"]]
    table.add_row("bare write of a node", percentiles(bare), "")
    table.add_row("observe", percentiles(every), "")
    for outcome, times in ((name, times) for name, times in ours.items() if len(times) > 1):
        table.add_row(f"observe, {outcome}: {len(times)}", percentiles(times), "")
    for name, at_most, cut in (("medians", "", 49), ("p99", "<= 5 ms", 98)):
        over = statistics.quantiles(every, n=100)[cut] - statistics.quantiles(bare, n=100)[cut]
        table.add_row(f"observe over the bare write, {name}", f"{over:.2f} ms", at_most)


def learning(client: Jochi, table: Table) -> None:
    """Turns a second that one worker learns from, as `jochi worker` does without a model and without vectors."""
    counter, learn = best_counter(), derivation("learn")
    handlers: list[Handler] = [
        PrepareHandler(counter),
        JudgeHandler(),
        DeriveHandler(learn, OfflineMaker(learn, counter), counter),
    ]
    warm, turns = said()[:SESSION], said()[SESSION : SESSION + LEARNED]
    for part in (warm, turns):  # the first is a warm-up: the server plans, the model of the language is loaded
        wipe(client.database)
        for n, text in enumerate(part):
            at = NOW + timedelta(seconds=n)
            client.observe(Turn(text or "-", session=f"s{n // SESSION}", id=str(n), at=at), now=at)
        client.flush(now=NOW + timedelta(days=1))
        worker = Worker(client.engine, handlers)
        took = timed(partial(worker.run, once=True)) / 1000
    table.add_row(f"learning: a worker, {len(turns)} turns", f"{len(turns) / took:.0f} turns/s", ">= 20")


def main() -> None:
    """On the server of JOCHI_TEST_URI, whose memories are wiped."""
    import os

    import neo4j
    from rich.console import Console

    auth = (os.environ.get("JOCHI_TEST_USER", "neo4j"), os.environ.get("JOCHI_TEST_PASSWORD", ""))
    table = Table("what", "figure", "wanted", title=f"load of the box: {os.getloadavg()[0]:.1f}")
    with neo4j.GraphDatabase.driver(os.environ["JOCHI_TEST_URI"], auth=auth) as driver:
        client = Jochi(driver)
        observe(client, table)
        learning(client, table)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
