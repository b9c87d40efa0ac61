"""What LoCoMo costs with a model (seed 002, Cost & Performance): processed, extracted, storylines, descriptions, meaning.

`python -m tests.exit_criteria.with_model [--data locomo10.json] [--samples 2]`. A local server speaks the real protocol and
answers with what is made without a model, in the model's form; so prompts, schemas, checks and tokens are real, and only the
words of the answers are plainer. Tokens are counted by tiktoken where its vocabulary is at hand, else estimated. Prices are
the seed's own.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from tests.conftest import LOCOMO, SETTINGS
from tests.own_server import own_server
from tests.unit.stub_chat import Answer, Stub, stub_server

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.policy import load_policy
from jochi.text.tokens import TokenCounter, best_counter
from jochi.write.ingesting import Fault, read
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import BatchOutput, ModelMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.handler import Row
from jochi_workers.models import Model, Reply
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

PHASES = ("process", "extract", "storylines", "macros", "describe", "meaning")
POLICY = '[policy]\nname = "with-model"\nextends = "default"\n' + "".join(
    f"[derive.{name}]\nderiving = true\nper_cycle = 10_000\nper_day = 10_000\n"
    "cycle_tokens = 1_000_000_000\nday_tokens = 1_000_000_000\n"
    for name in PHASES
)
PRICE_IN, PRICE_OUT, PRICE_VECTOR = 0.075, 0.30, 0.00001536
"""Dollars for a million tokens, and for a vector (seed 002, Nightly Consolidation Cost Estimates)."""
SEED = {"processing": 0.01, "extraction": 0.03, "embeddings": 0.01}
IN_USE = 0.4
"""The share of things in use that the seed reckons with."""


class Bench(ModelMaker):
    """A model that says what is said without one. ``rows``: what was asked, in groups."""

    def __init__(self, name: str, stub: Stub, counter: TokenCounter, *, at_once: int = 1, model: str = "large") -> None:
        found = derivation(name)
        asked = Model("openai", model, base_url=f"{stub.url}/v1")
        super().__init__(found, asked, None, found.batch_prompt(), at_once)
        self._stub, self._counter, self._found = stub, counter, found
        self.groups: list[Sequence[Row]] = []

    def _said(self, row: Row) -> Any:
        return self._found.offline(row, self._counter)

    def make(self, row: Row) -> Reply[Any]:
        self.groups.append([row])
        said = self._said(row)
        self._stub.script.append(Answer(said.model_dump_json() if isinstance(said, BaseModel) else said))
        return super().make(row)

    def make_all(self, rows: Sequence[Row]) -> list[Reply[Any]]:
        if len(rows) > 1:
            self.groups.append(rows)
            outputs = [self._said(row) for row in rows]
            self._stub.script.append(Answer(BatchOutput[Any](outputs=outputs).model_dump_json()))
        return super().make_all(rows)


class Run:
    """What was asked, by phase: calls, tokens sent and written, rejected."""

    def __init__(self, client: Jochi, stub: Stub, counter: TokenCounter) -> None:
        self.client, self.stub, self.counter = client, stub, counter
        self.spent: dict[str, Counter[str]] = {}
        self.makers: dict[str, Bench] = {}

    def work(self, *names: str) -> None:
        numbers = self.client.policy.policy.derive["describe"].numbers
        for name in names:
            at_once = int(numbers["together"]) if name == "describe" else 1
            self.makers.setdefault(name, Bench(name, self.stub, self.counter, at_once=at_once))
        makers = [
            DeriveHandler(derivation(name), self.makers[name], self.counter, room=int(numbers["together_tokens"]))
            for name in names
        ]
        worker = Worker(self.client.engine, [PrepareHandler(self.counter), *makers])
        worker.run(once=True)
        for name in names:
            of, made = self.spent.setdefault(name, Counter()), worker.progress[name]
            of += Counter(made=made.done, rejected=made.failed, sent=made.tokens_in, written=made.tokens_out)
            of["calls"] = len(self.makers[name].groups)


def dollars(spent: Mapping[str, int]) -> float:
    return (spent["sent"] * PRICE_IN + spent["written"] * PRICE_OUT) / 1_000_000


def through(run: Run, data: Path, samples: int) -> int:
    """All phases; how many words there were to read."""
    client, now = run.client, datetime.now(timezone.utc)
    by_scope: dict[str, list[Any]] = {}
    for piece in read(data, format="locomo"):
        if not isinstance(piece, Fault):
            by_scope.setdefault(str(piece[0].id).partition("/")[0], []).append(piece)
    for scope in list(by_scope)[:samples]:
        client.ingest(by_scope[scope], scope=scope, now=now - timedelta(days=200))
    texts = client.database.run("MATCH (s:Curated:Source) RETURN s.content AS said", write=False)
    run.work("process", "extract")
    known = "MATCH (n:Curated) WHERE n:Person OR n:Concept OR n:Entity RETURN n.key AS key"
    client.touch([row["key"] for row in client.database.run(known, write=False)], agent="owner")
    later = now + timedelta(days=1)
    for job in ("fold_accesses", "count_mentions", "curate_due", "promote_storylines"):
        run_job(client.engine, job, now=later, drain=True)
    run.work("storylines")
    run_job(client.engine, "promote_macros", now=later, drain=True)
    run.work("storylines", "macros")
    run_job(client.engine, "consolidate", now=later, drain=True)
    run.work("describe")
    run_job(client.engine, "find_meaning", now=later, drain=True)
    run.work("meaning")
    return sum(len(row["said"].split()) for row in texts)


def savings(run: Run) -> list[tuple[str, int, int, int]]:
    """Name, calls, tokens sent and written of one night, one saving after the other; the rows are those that were read."""
    maker, counter = run.makers["describe"], run.counter
    rows = [row for group in maker.groups for row in group]

    def cost(groups: Sequence[Sequence[Row]]) -> tuple[int, int, int]:
        bench = Bench("describe", run.stub, counter, at_once=100)
        made = [bench.make_all(group) for group in groups]
        replies = [reply for each in made for reply in each]
        return len(groups), sum(each.tokens_in for each in replies), sum(each.tokens_out for each in replies)

    apart = [[{**row, "relations": []}] for row in rows]
    apart += [
        [{**row, "inputs": row["inputs"][:1], "before": None, "relations": [one]}]
        for row in rows
        for one in row["relations"]
    ]
    used = [row for n, row in enumerate(rows) if n % 5 < 5 * IN_USE]
    numbers = run.client.policy.policy.derive["describe"].numbers
    handler = DeriveHandler(derivation("describe"), maker, counter, room=int(numbers["together_tokens"]))

    def together(left: list[Row]) -> list[list[Row]]:
        groups = []
        while left:
            groups.append(handler._group(left))
            left = [row for row in left if row not in groups[-1]]
        return groups

    few, many = ([row for row in used if bool(row["few"]) is little] for little in (True, False))
    return [
        ("a call for each text", *cost(apart)),
        ("relationships with their thing", *cost([[row] for row in rows])),
        ("only what was used (40 %, as the seed reckons)", *cost([[row] for row in used])),
        ("several things in one call", *cost(together(used))),
        ("of these by the small model", *cost(together(few))),
        ("and by the large one", *cost(together(many))),
    ]


def told_again(run: Run) -> tuple[int, int]:
    """Made once more of the same: how many descriptions, and how many of them want another vector."""
    client = run.client
    client.database.run(
        "MATCH (d:Curated:Description) SET d.embedding = [1.0], d.embedding_hash = d.content_hash, "
        "d.embedding_model = $m REMOVE d.embed_due",
        {"m": client.policy.policy.embedding.model},
    )
    before = run.spent["describe"]["made"]
    client.database.run("MATCH (t:Curated)-[:DESCRIBED_BY]->() SET t.is_dirty = true")
    run_job(client.engine, "consolidate", now=datetime.now(timezone.utc) + timedelta(days=2), drain=True)
    run.work("describe")
    rows = client.database.run(
        "MATCH (d:Curated:Description) WHERE d.embed_due IS NOT NULL RETURN count(d) AS n", write=False
    )
    return run.spent["describe"]["made"] - before, rows[0]["n"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=LOCOMO)
    parser.add_argument("--samples", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(POLICY)
        loaded = load_policy(policy)
    counter, console = best_counter(), Console()
    with stub_server() as stub, own_server("with-model", settings=SETTINGS, policy=loaded) as client:
        stub.count = counter.count
        client.apply()
        run = Run(client, stub, counter)
        words = through(run, given.data, given.samples)
        vectors = client.database.run(
            "MATCH (m:Curated) WHERE m.embed_due IS NOT NULL RETURN count(m) AS n", write=False
        )[0]["n"]
        table = Table(
            "phase",
            "made",
            "rejected",
            "calls",
            "sent",
            "written",
            "$ for 10,000 words",
            title=f"{words:,} words, {counter.name}",
        )
        for name in PHASES:
            spent = run.spent[name]
            figures = (f"{spent[each]:,}" for each in ("made", "rejected", "calls", "sent", "written"))
            table.add_row(name, *figures, f"{dollars(spent) * 10_000 / words:.4f}")
        table.add_row("vectors", f"{vectors:,}", "", "", "", "", f"{vectors * PRICE_VECTOR * 10_000 / words:.4f}")
        total = sum(dollars(spent) for spent in run.spent.values()) + vectors * PRICE_VECTOR
        table.add_row("all", "", "", "", "", "", f"{total * 10_000 / words:.4f} (seed: {sum(SEED.values()):.2f})")
        console.print(table)
        nights = Table("a night", "calls", "sent", "written")
        for name, *figures in savings(run):
            nights.add_row(name, *(f"{n:,}" for n in figures))
        console.print(nights)
        console.print(
            "made again of the same notes: {} descriptions, of which {} want another vector".format(*told_again(run))
        )


if __name__ == "__main__":
    main()
