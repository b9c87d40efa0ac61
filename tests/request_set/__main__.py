"""Requests in a person's words, in twelve scripts, on a real server: how many are done exactly right, asked about, and wrong.

`python -m tests.request_set [--provider e5] [--unseen] [--kinds …] [--cases] [--seed N]`. Each case has a scope of its own. Its
memories are written in an order of chance, a worker prepares them, the request is made by the public verb, and what is live
afterwards is read. `JOCHI_TEST_URI` names a server instead of a local one; its database is wiped.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Console
from rich.progress import track
from rich.table import Table
from tests.agent_set.product import MODELS, installed, policy_of
from tests.request_set.case import VERDICTS, Case, Verdict, load

from jochi import Jochi
from jochi.errors import JochiError
from jochi.forgetting import Request
from jochi_workers import embeddings
from jochi_workers.embeddings import Provider, embed_question
from jochi_workers.embeddings.handler import EmbedHandler
from jochi_workers.handler import Handler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

_TEXTS = "MATCH (n:Curated) WHERE n.key STARTS WITH $prefix RETURN n.content AS content"
Way = Callable[[Jochi, Case, str, "Provider | None"], bool]
"""Makes the request in a scope; whether it acted, and asked nobody."""


def in_words(client: Jochi, case: Case, scope: str, provider: Provider | None) -> bool:
    """As the docs say: what is meant without doubt, else a person is asked."""
    embed = None if provider is None else partial(embed_question, provider)
    if case.new is not None:
        return not client.supersede(case.words, case.new, scope=scope, embed=embed).unsure
    done = client.forget(case.words, scope=scope, embed=embed, wait=0)
    return not done.candidates and not done.asked and done.receipt is not None


def first_hit(client: Jochi, case: Case, scope: str, provider: Provider | None) -> bool:
    """The naive way: the first hit of recall goes, and what is new is remembered."""
    vector = None if provider is None else embed_question(provider, case.words)
    hits = client.recall(case.words, vector=vector, scope=scope, k=1)
    if hits:
        client.forget(Request(tuple(hit.key for hit in hits)), wait=0)
    if case.new is not None:
        client.remember({"kind": "MemoryEntry", "id": "new", "scope": scope, "content": case.new})
    return bool(hits)


WAYS: dict[str, Way] = {"words": in_words, "first": first_hit}


def prepare(client: Jochi, cases: Sequence[Case], ways: Sequence[str], provider: Provider | None, seed: int) -> None:
    """Writes all stores, each in an order of chance, and has a worker prepare them."""
    dice = random.Random(seed)
    rows = [
        {"kind": "MemoryEntry", "id": f"m{n}", "scope": f"{way}-{case.id}", "content": text}
        for case in cases
        for way in ways
        for n, text in enumerate(case.memories)
    ]
    dice.shuffle(rows)
    client.remember(rows, on_refused="raise")
    handlers: list[Handler] = [PrepareHandler()]
    if provider is not None:
        handlers.append(EmbedHandler(provider, client.policy.policy.embedding))
    Worker(client.engine, handlers).run(once=True)
    client.database.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")


def played(client: Jochi, case: Case, way: str, provider: Provider | None) -> tuple[Verdict, list[str], str]:
    """The verdict, what is live afterwards, and the error where there was one."""
    scope = f"{way}-{case.id}"
    trouble, acted = "", False
    try:
        acted = WAYS[way](client, case, scope, provider)
    except JochiError as error:
        trouble = str(error)
    rows = client.database.run(_TEXTS, {"prefix": f"{scope}/"}, write=False)
    texts = [row["content"] for row in rows if row["content"]]
    verdict = case.judge(texts, acted=acted)
    return ("error" if trouble and verdict != "wrong" else verdict), texts, trouble


def main() -> None:
    """Prints a table by kind; `--cases` what went otherwise than right."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--provider", choices=sorted(MODELS), help="with vectors of this model")
    options.add_argument("--unseen", action="store_true", help="the other third, in sums only")
    options.add_argument("--kinds", nargs="*", default=[])
    options.add_argument("--ways", nargs="*", default=["words"], choices=sorted(WAYS))
    options.add_argument("--cases", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    if given.cases and given.unseen:
        options.error("what is unseen is printed in sums only")
    cases = [case for case in load(given.kinds) if case.unseen == given.unseen]
    provider = embeddings.provider(given.provider) if given.provider else None
    console = Console(width=150)
    found: dict[str, dict[str, Counter[Verdict]]] = {way: {} for way in given.ways}
    by_language: Counter[tuple[str, Verdict]] = Counter()
    with installed(policy_of(given.provider or "minilm")) as client:
        prepare(client, cases, given.ways, provider, given.seed)
        for way in given.ways:
            for case in track(cases, way, console=Console(stderr=True), disable=not sys.stderr.isatty()):
                verdict, texts, trouble = played(client, case, way, provider)
                found[way].setdefault(case.kind, Counter())[verdict] += 1
                by_language[case.language, verdict] += 1
                if given.cases and verdict != "right":
                    _show(console, case, verdict, texts, trouble)
    grid = Table("way", "kind", "of", *VERDICTS)
    for way, kinds in found.items():
        for kind, counts in [*kinds.items(), ("all", sum(kinds.values(), Counter[Verdict]()))]:
            grid.add_row(way, kind, str(counts.total()), *(str(counts[each]) for each in VERDICTS))
        grid.add_section()
    console.print(grid)
    languages = Table("language", *VERDICTS)
    for language in sorted({language for language, _ in by_language}):
        languages.add_row(language, *(str(by_language[language, each]) for each in VERDICTS))
    console.print(languages)


def _show(console: Console, case: Case, verdict: Verdict, texts: Sequence[str], trouble: str) -> None:
    console.print(f"{case.id} [{verdict}] {case.words!r} new={case.new!r} why: {case.why}", markup=False)
    for text in case.memories:
        console.print(f"    {'=' if text in texts else '-'} {text}", markup=False)
    for text in texts:
        if text not in case.memories:
            console.print(f"    + {text}", markup=False)
    if trouble:
        console.print(f"    error: {trouble}", markup=False)


if __name__ == "__main__":
    main()
