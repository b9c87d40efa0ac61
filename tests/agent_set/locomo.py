"""LoCoMo's questions: how much of their evidence the first ten hits hold, of raw turns and of what Jochi learned of them.

`python -m tests.agent_set.locomo [--data FILE] [--conversations N] [--provider NAME]`. The file is that of JOCHI_LOCOMO; its
licence forbids shipping it, so none of its text is here or printed. A hit of Jochi's counts for a turn that it was made of.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table
from tests.agent_set.baselines import nearest, question_vectors, vectors
from tests.agent_set.product import MODELS, Product, installed, policy_of
from tests.agent_set.score import Count
from tests.conftest import LOCOMO
from tests.exit_criteria.observing import Talk, conversations

from jochi import Turn
from jochi.graph.driver_values import to_python
from jochi.text.tokens import best_counter
from jochi_workers import embeddings
from jochi_workers.embeddings import embed_question

HITS = 10
CATEGORIES = {1: "several turns", 2: "times", 3: "with knowledge of the world", 4: "one turn", 5: "not answerable"}
"""LoCoMo's numbers of its questions."""
_TURN = re.compile(r"D\d+:\d+")
_MADE_OF = "MATCH (f:Curated:Fact) WHERE f.key STARTS WITH $prefix RETURN f.key AS key, f.message_ids AS turns"


class Question(NamedTuple):
    """``evidence``: the ids of the turns that it rests on."""

    scope: str
    ask: str
    category: int
    evidence: frozenset[str]


class Found(NamedTuple):
    """What one system hands over to a question: the turns that its hits were made of, and the tokens of the hits."""

    turns: frozenset[str]
    tokens: int


def questions(data: Path, talks: Sequence[Talk]) -> Iterator[Question]:
    """Those whose evidence names turns that there are."""
    ids = {scope: {turn.id for _, turn in turns} for scope, turns, _ in talks}
    for sample in json.loads(data.read_text(encoding="utf-8")):
        for asked in sample["qa"] if sample["sample_id"] in ids else ():
            evidence = {turn for each in asked["evidence"] for turn in _TURN.findall(str(each))}
            if evidence and evidence <= ids[sample["sample_id"]]:
                yield Question(sample["sample_id"], asked["question"], int(asked["category"]), frozenset(evidence))


def raw_turns(talks: Sequence[Talk], asked: Sequence[Question], provider: embeddings.Provider) -> list[Found]:
    """The nearest turns of each question's conversation, in the order of ``asked``."""
    count, found = best_counter().count, []
    for scope, turns, _ in talks:
        lines = [f"{turn.speaker}: {turn.text}" for _, turn in turns]
        rows = (
            question_vectors(provider, [each.ask for each in asked if each.scope == scope]) @ vectors(provider, lines).T
        )
        for row in rows.tolist():
            hits = nearest(row, HITS)
            found.append(Found(frozenset(str(turns[n][1].id) for n in hits), sum(count(lines[n]) for n in hits)))
    return found


def learned(product: Product, talks: Sequence[Talk], asked: Sequence[Question]) -> list[Found]:
    """The same of the product, which is told the conversations session by session."""
    count, found = best_counter().count, []
    for scope, turns, _ in track(talks, "learning", transient=True):
        for _, session in groupby(turns, lambda pair: pair[0]):
            product.learn([_in_session(n, turn) for n, turn in session])
        rows = product.client.database.run(_MADE_OF, {"prefix": f"{scope}/"}, write=False)
        made_of: Mapping[str, list[str]] = {row["key"]: row["turns"] or [] for row in map(to_python, rows)}
        asks = [each.ask for each in asked if each.scope == scope]
        for ask in asks:
            hits = product.client.recall(ask, vector=embed_question(product.provider, ask), scope=scope, k=HITS)
            # What is told with a hit is handed over, too, and counts among its tokens.
            keys = [key for hit in hits for key in (hit.key, *(one.key for one in hit.later))]
            ids = frozenset(turn for key in keys for turn in made_of.get(key, ()))
            found.append(Found(ids, sum(count(hit.text) for hit in hits)))
    return found


def evidence(asked: Sequence[Question], found: Sequence[Found], category: int | None = None) -> Count:
    """Of the turns that questions rest on, how many are found; of one category, or of all."""
    chosen = [pair for pair in zip(asked, found, strict=True) if category in (None, pair[0].category)]
    return Count(
        sum(len(one.evidence & hits.turns) for one, hits in chosen), sum(len(one.evidence) for one, _ in chosen)
    )


def main() -> None:
    """Plays, asks and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=LOCOMO, help="LoCoMo's file (default: that of JOCHI_LOCOMO)")
    options.add_argument("--conversations", type=int, metavar="N", help="only the first N of the ten")
    options.add_argument("--provider", choices=tuple(MODELS), default="minilm")
    given = options.parse_args()
    if not given.data.exists():
        options.error(f"LoCoMo's file isn't there: {given.data}. Name it with --data, or in JOCHI_LOCOMO")
    talks = list(conversations(given.data))[: given.conversations]
    asked = list(questions(given.data, talks))
    model = embeddings.provider(given.provider)
    raw = raw_turns(talks, asked, model)
    with installed(policy_of(given.provider)) as client:
        began = time.monotonic()
        ours = learned(Product(client, model), talks, asked)
        took = time.monotonic() - began
    model.close()
    turns = sum(len(said) for _, said, _ in talks)
    grid = Table(
        *("evidence in the first ten", "questions", f"raw turns, {given.provider}", f"Jochi, {given.provider}"),
        title=f"LoCoMo: {len(talks)} of ten conversations, {turns} turns; learned and asked in {took:.0f} s",
    )
    for category, name in [(None, "all"), *CATEGORIES.items()]:
        number = sum(category in (None, one.category) for one in asked)
        grid.add_row(name, str(number), *(_shown(evidence(asked, each, category)) for each in (raw, ours)))
    shares = [evidence(asked, each).share or 0 for each in (raw, ours)]
    means = [f"{sum(each.tokens for each in found) / max(1, len(found)):.0f}" for found in (raw, ours)]
    grid.add_row("tokens of ten hits", "", *means)
    console = Console(width=110)
    console.print(grid)
    console.print(f"not below raw turns: {'holds' if shares[1] >= shares[0] else 'FAILS'}")


def _in_session(n: int, turn: Turn) -> Turn:
    return Turn(turn.text, f"session-{n}", turn.scope, turn.speaker, turn.at, turn.id)


def _shown(count: Count) -> str:
    return "" if count.share is None else f"{100 * count.share:.1f} % ({count.right}/{count.of})"


if __name__ == "__main__":
    main()
