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
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from tests.agent_set.product import MODELS, installed, policy_of
from tests.request_set.case import FOLDER, VERDICTS, Case, Verdict, fold, load

from jochi import Jochi
from jochi.errors import JochiError
from jochi.forgetting import Candidate, Request, Target
from jochi.forgetting.parts import parts_of
from jochi_workers import embeddings
from jochi_workers.embeddings import Provider, embed_question
from jochi_workers.embeddings.handler import EmbedHandler
from jochi_workers.handler import Handler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

_TEXTS = "MATCH (n:Curated) WHERE n.key STARTS WITH $prefix RETURN n.content AS content"


@dataclass
class Done:
    """Whether a way acted and asked nobody; else what it asked about."""

    acted: bool
    asked: Sequence[Candidate | Target] = ()


Way = Callable[[Jochi, Case, str, "Provider | None"], Done]
"""Makes the request in a scope."""


def in_words(client: Jochi, case: Case, scope: str, provider: Provider | None) -> Done:
    """As the docs say: what is meant without doubt, else a person is asked."""
    embed = None if provider is None else partial(embed_question, provider)
    if case.new is not None:
        replaced = client.supersede(case.words, case.new, scope=scope, embed=embed)
        return Done(not replaced.unsure, (*replaced.candidates, *replaced.asked))
    done = client.forget(case.words, scope=scope, embed=embed, wait=0)
    return Done(not done.candidates and not done.asked and done.receipt is not None, (*done.candidates, *done.asked))


def answered(client: Jochi, case: Case, scope: str, asked: Sequence[Candidate | Target]) -> None:
    """A person answers: of each memory that is shown what says most of what must go, and nothing that must stay."""
    chosen: dict[str, str | None] = {}
    for one in asked:
        stated = one.statement if isinstance(one, Candidate) else None
        options = dict.fromkeys((stated, None, *(part.text for part in parts_of(one.content or ""))))
        sizes = {words: _says_of(case, words or one.content or "") for words in options}
        best = max(sizes, key=lambda words: sizes[words])
        if sizes[best] and one.key not in chosen:
            chosen[one.key] = best
    if case.new is not None:
        for key, words in chosen.items():
            client.supersede(case.words, case.new, scope=scope, key=key, statement=words)
    elif chosen:
        stated_words = tuple((key, words) for key, words in chosen.items() if words is not None)
        client.forget(Request(tuple(chosen), statements=stated_words), wait=0)


def first_hit(client: Jochi, case: Case, scope: str, provider: Provider | None) -> Done:
    """The naive way: the first hit of recall goes, and what is new is remembered."""
    vector = None if provider is None else embed_question(provider, case.words)
    hits = client.recall(case.words, vector=vector, scope=scope, k=1)
    if hits:
        client.forget(Request(tuple(hit.key for hit in hits)), wait=0)
    if case.new is not None:
        client.remember({"kind": "MemoryEntry", "id": "new", "scope": scope, "content": case.new})
    return Done(bool(hits))


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


def _says_of(case: Case, text: str) -> int:
    """How much of what must go a text says; 0 where it says anything that must stay."""
    if any(fold(stays) in fold(text) for stays in case.stays):
        return 0
    return sum(fold(gone) in fold(text) for gone in case.gone)


@dataclass
class Played:
    """The verdict, what is live afterwards, the error where there was one, how much a person was asked about, and the verdict
    after an answer."""

    verdict: Verdict
    texts: list[str]
    trouble: str
    asked: int
    then: Verdict


def played(client: Jochi, case: Case, way: str, provider: Provider | None) -> Played:
    """Makes the request, and where somebody is asked about what must go, answers."""
    scope = f"{way}-{case.id}"
    trouble, done = "", Done(acted=False)

    def live() -> list[str]:
        rows = client.database.run(_TEXTS, {"prefix": f"{scope}/"}, write=False)
        return [row["content"] for row in rows if row["content"]]

    try:
        done = WAYS[way](client, case, scope, provider)
    except JochiError as error:
        trouble = str(error)
    texts = live()
    verdict: Verdict = case.judge(texts, acted=done.acted)
    if trouble and verdict != "wrong":
        verdict = "error"
    then = verdict
    if verdict in ("asked", "left") and done.asked and not case.asks:
        answered(client, case, scope, done.asked)
        then = case.judge(live(), acted=True)
    return Played(verdict, texts, trouble, len(done.asked), then)


def main() -> None:
    """Prints a table by kind; `--cases` what went otherwise than right."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--provider", choices=sorted(MODELS), help="with vectors of this model")
    options.add_argument("--unseen", action="store_true", help="the other third, in sums only")
    options.add_argument("--folder", type=Path, default=FOLDER, help="other cases, written by METHOD.md")
    options.add_argument("--kinds", nargs="*", default=[])
    options.add_argument("--ways", nargs="*", default=["words"], choices=sorted(WAYS))
    options.add_argument("--cases", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    if given.cases and given.unseen:
        options.error("what is unseen is printed in sums only")
    cases = [case for case in load(given.kinds, given.folder) if case.unseen == given.unseen]
    provider = embeddings.provider(given.provider) if given.provider else None
    console = Console(width=150)
    found: dict[str, dict[str, Counter[Verdict]]] = {way: {} for way in given.ways}
    then: dict[tuple[str, str], Counter[Verdict]] = {}
    lists: list[int] = []
    by_language: Counter[tuple[str, Verdict]] = Counter()
    with installed(policy_of(given.provider or "minilm")) as client:
        prepare(client, cases, given.ways, provider, given.seed)
        for way in given.ways:
            for case in track(cases, way, console=Console(stderr=True), disable=not sys.stderr.isatty()):
                one = played(client, case, way, provider)
                found[way].setdefault(case.kind, Counter())[one.verdict] += 1
                if one.verdict == "asked":
                    lists.append(one.asked)
                    then.setdefault((way, case.kind), Counter())[one.then] += 1
                by_language[case.language, one.verdict] += 1
                if given.cases and one.verdict != "right":
                    _show(console, case, one)
    grid = Table("way", "kind", "of", *VERDICTS, "asked, then right", "then wrong")
    for way, kinds in found.items():
        then[way, "all"] = sum((then.get((way, kind), Counter()) for kind in kinds), Counter[Verdict]())
        for kind, counts in [*kinds.items(), ("all", sum(kinds.values(), Counter[Verdict]()))]:
            after = then.get((way, kind), Counter())
            row = (*(counts[each] for each in VERDICTS), after["right"], after["wrong"])
            grid.add_row(way, kind, str(counts.total()), *map(str, row))
        grid.add_section()
    console.print(grid)
    if lists:
        console.print(f"a list to choose from has {sum(lists) / len(lists):.1f} entries, at most {max(lists)}")
    languages = Table("language", *VERDICTS)
    for language in sorted({language for language, _ in by_language}):
        languages.add_row(language, *(str(by_language[language, each]) for each in VERDICTS))
    console.print(languages)


def _show(console: Console, case: Case, one: Played) -> None:
    texts = one.texts
    console.print(
        f"{case.id} [{one.verdict}, then {one.then}] {case.words!r} new={case.new!r} why: {case.why}", markup=False
    )
    for text in case.memories:
        console.print(f"    {'=' if text in texts else '-'} {text}", markup=False)
    for text in texts:
        if text not in case.memories:
            console.print(f"    + {text}", markup=False)
    if one.trouble:
        console.print(f"    error: {one.trouble}", markup=False)


if __name__ == "__main__":
    main()
