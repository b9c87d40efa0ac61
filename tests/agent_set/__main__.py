"""`make agent-set`: what an agent gets from Jochi, beside a search of what was said, on the seen conversations.

`python -m tests.agent_set [--unseen] [--provider NAME] [--only NN …] [--cases] [--memory] [--verbose] [--product-only]`. On the
server of JOCHI_TEST_URI (its memories are wiped), else on a local one that is gone afterwards. Of unseen conversations nothing
but sums is ever printed. With `--unseen` it ends with 1 where something that must hold doesn't.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from rich.console import Console
from tests.agent_set import report
from tests.agent_set.baselines import RANKINGS, Baseline, RawTurns
from tests.agent_set.conversation import Conversation, load
from tests.agent_set.product import MODELS, Product, installed, policy_of
from tests.agent_set.report import Column
from tests.agent_set.score import HITS, TOKENS, Remembered

from jochi.errors import JochiError
from jochi.text.tokens import best_counter
from jochi_workers import embeddings


def main() -> None:
    """Plays, judges and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--unseen", action="store_true", help="the third that is kept for the end, in sums")
    options.add_argument("--provider", choices=tuple(MODELS), default="minilm", help="whose vectors the product has")
    options.add_argument("--only", metavar="NN", nargs="+", default=(), help="some conversations, by their numbers")
    options.add_argument("--cases", action="store_true", help="what went wrong, conversation by conversation")
    options.add_argument("--memory", action="store_true", help="all that is remembered of each")
    options.add_argument("--verbose", action="store_true", help="by domain, too")
    options.add_argument("--product-only", action="store_true", help="without the baselines")
    given = options.parse_args()
    if given.unseen and (given.cases or given.memory or given.only or given.verbose):
        options.error("unseen conversations are shown in sums only: leave out --cases, --memory, --only and --verbose")
    try:
        conversations = load(unseen=given.unseen, only=given.only)
    except JochiError as error:
        options.error(str(error))
    console = Console(width=200)
    counter = best_counter()
    began = time.monotonic()
    remembered = product(conversations, given.provider)
    took = time.monotonic() - began
    if given.cases or given.memory:
        for conversation, one in zip(conversations, remembered, strict=True):
            shown = [*(report.memory(conversation, one) if given.memory else ())]
            shown += report.cases(conversation, one) if given.cases else ()
            console.print("\n".join(shown), markup=False, highlight=False, soft_wrap=True)
    ours = report.figures(conversations, remembered, counter.count, k=HITS)
    columns = [
        Column(
            f"{each.name}, {name}\n{each.k} hits",
            report.figures(conversations, each.remembered, counter.count, k=each.k),
        )
        for name, each in ([] if given.product_only else baselines(conversations, ours["all"][TOKENS].share or 0))
    ]
    part = "unseen" if given.unseen else "seen"
    turns = sum(len(each.turns) for each in conversations)
    console.print(
        f"{len(conversations)} {part} conversations, {turns} turns; tokens by {counter.name}; learned in {took:.0f} s"
    )
    columns.insert(0, Column(f"Jochi, {given.provider}\n{HITS} hits", ours))
    console.print(report.table(columns, domains=given.verbose))
    lines = report.must_hold(ours, columns[1:])
    if not given.only:
        console.print(report.must_hold_table(lines))
    if given.unseen and any(line.holds is False for line in lines):
        raise SystemExit(1)


def product(conversations: Sequence[Conversation], provider: str) -> list[Remembered]:
    """What Jochi remembers of each."""
    model = embeddings.provider(provider)
    try:
        with installed(policy_of(provider)) as client:
            return Product(client, model).remembered(conversations)
    finally:
        model.close()


def baselines(conversations: Sequence[Conversation], tokens: float) -> Iterator[tuple[str, Baseline]]:
    """Each with the name of its provider: at as many hits, and at as many tokens, as the product."""
    for name in MODELS:
        model = embeddings.provider(name)
        turns = RawTurns(conversations, model)
        model.close()
        for ranking in RANKINGS:
            yield name, turns.ranked(ranking, HITS)
        for ranking in RANKINGS:
            yield name, turns.with_tokens(ranking, tokens, best_counter().count)


if __name__ == "__main__":
    main()
