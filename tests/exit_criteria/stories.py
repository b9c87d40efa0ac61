"""LoCoMo through all phases without a model (seed 002): raw, processed, extracted, storylines, themes; then questions.

`python -m tests.exit_criteria.stories [--data locomo10.json]`. Of the questions whose evidence is in one session: the share
whose session is reached, at granularity 1 within 10 sources, at 2 within 3 storylines, and by plain recall of turns for as
many tokens.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from tests.conftest import LOCOMO
from tests.own_server import own_server

from jochi import Jochi
from jochi.jobs.runner import run_job
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi.use.explore import Place
from jochi.write import importing
from jochi.write.ingesting import Fault, read
from jochi.write.newborn import Newborn
from jochi_workers import embeddings
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.embeddings.handler import EmbedHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

POLICY = '[policy]\nname = "stories"\nextends = "default"\n' + "".join(
    f"[derive.{name}]\nderiving = true\nper_cycle = 10_000\nper_day = 10_000\n"
    for name in ("process", "extract", "storylines", "macros")
)
SOURCES, STORYLINES, EVERY = 10, 3, 4
"""So many are handed over; of the questions every fourth is asked."""
_TURN = re.compile(r"D(\d+):\d+")


def questions(data: Path) -> Iterator[tuple[str, str, int]]:
    """Scope, question and session, of those whose whole evidence is in one session."""
    for sample in json.loads(data.read_text()):
        for each in sample["qa"]:
            sessions = {int(n) for said in each.get("evidence", []) for n in _TURN.findall(said)}
            if len(sessions) == 1:
                yield sample["sample_id"], each["question"], sessions.pop()


@contextmanager
def timed(name: str, figures: dict[str, Any]) -> Iterator[None]:
    start = perf_counter()
    yield
    figures[name] = round(perf_counter() - start, 1)


def work(client: Jochi, provider: Any, *names: str) -> None:
    policy, counter = client.policy.policy, Estimate()
    makers = [DeriveHandler(one, OfflineMaker(one, counter), counter) for one in map(derivation, names)]
    Worker(client.engine, [PrepareHandler(counter), *makers, EmbedHandler(provider, policy.embedding)]).run(once=True)


def through_all_phases(client: Jochi, data: Path, provider: Any) -> dict[str, Any]:
    """Seconds and counts of each phase."""
    figures: dict[str, Any] = {}
    by_scope: dict[str, list[Any]] = {}
    for piece in read(data, format="locomo"):
        if not isinstance(piece, Fault):
            by_scope.setdefault(str(piece[0].id).partition("/")[0], []).append(piece)
    with timed("raw: seconds", figures):
        for scope, pieces in by_scope.items():
            client.ingest(pieces, scope=scope)
    with timed("processed, with vectors: seconds", figures):
        work(client, provider, "process")
    with timed("extracted: seconds", figures):
        work(client, provider, "process", "extract")
    # The conversations are years old; whoever they are of has used what is known of them.
    known = "MATCH (n:Curated) WHERE n:Person OR n:Concept OR n:Entity RETURN n.key AS key"
    client.touch([row["key"] for row in client.database.run(known, write=False)], agent="owner")
    later = datetime.now(timezone.utc) + timedelta(days=1)
    with timed("storylines and themes: seconds", figures):
        for job in ("fold_accesses", "count_mentions", "curate_due", "promote_storylines"):
            run_job(client.engine, job, now=later, drain=True)
        work(client, provider, "storylines")
        run_job(client.engine, "promote_macros", now=later, drain=True)
        work(client, provider, "storylines", "macros")
    for label in ("Source", "SourceSummary", "Person", "Concept", "Entity", "Note", "Storyline", "Macro"):
        rows = client.database.run(f"MATCH (m:Curated:{label}) RETURN count(m) AS n", write=False)
        figures[label] = rows[0]["n"]
    return figures


def sessions(client: Jochi) -> dict[str, int]:
    rows = client.database.run("MATCH (s:Curated:Source) RETURN s.key AS key, s.title AS title", write=False)
    return {row["key"]: int(row["title"].rpartition(" ")[2]) for row in rows}


def handed_over(place: Place, counter: Estimate) -> int:
    """Tokens that an agent reads of it: its text, of a source its summary, and the summaries beneath a storyline."""
    beneath = place.members if place.kind == "Storyline" else ()
    return sum(
        counter.count(text) for text in (place.summary or place.content or "", *(one.content or "" for one in beneath))
    )


def reached(client: Jochi, asked: Sequence[tuple[str, str, int]], vectors: Mapping[str, Any]) -> dict[str, Any]:
    """Shares of questions, and tokens handed over for one."""
    counter, by_source = Estimate(), sessions(client)
    found: dict[str, list[bool]] = {"sources": [], "storylines": [], "either": []}
    tokens: dict[str, int] = {"sources": 0, "storylines": 0}
    for scope, text, session in asked:
        given: dict[str, Any] = {"vector": vectors[text], "scope": scope}
        # People are places, too: of the sources the first ten count.
        places = [p for p in client.explore(text, granularity=1, k=3 * SOURCES, **given).places if p.kind == "Source"][
            :SOURCES
        ]
        stories = client.explore(text, granularity=2, k=STORYLINES, **given).places
        one = any(by_source.get(place.key) == session for place in places)
        two = any(by_source.get(member.key) == session for place in stories for member in place.members)
        found["sources"].append(one)
        found["storylines"].append(two)
        found["either"].append(one or two)
        tokens["sources"] += sum(handed_over(place, counter) for place in places)
        tokens["storylines"] += sum(handed_over(place, counter) for place in stories)
    shares = {name: round(100 * sum(hits) / len(hits), 1) for name, hits in found.items()}
    return {
        "questions": len(asked),
        **shares,
        **{f"tokens, {name}": round(n / len(asked)) for name, n in tokens.items()},
    }


def by_turns(
    client: Jochi, asked: Sequence[tuple[str, str, int]], vectors: Mapping[str, Any], room: Mapping[str, int]
) -> dict[str, float]:
    """The share whose session is among the turns that recall finds for so many tokens."""
    counter = Estimate()
    hits = dict.fromkeys(room, 0)
    for scope, text, session in asked:
        for name, most in room.items():
            used = 0
            for hit in client.recall(text, vector=vectors[text], scope=scope, k=100, kinds=["MemoryEntry"]):
                used += counter.count(hit.content or "")
                if used > most:
                    break
                if int(_TURN.search(hit.key)[1]) == session:  # type: ignore[index]
                    hits[name] += 1
                    break
    return {f"turns for the tokens of {name}": round(100 * n / len(asked), 1) for name, n in hits.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=LOCOMO)
    data = parser.parse_args().data
    asked = list(questions(data))[::EVERY]
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(POLICY)
        loaded = load_policy(policy)
    with own_server("stories", policy=loaded) as client:
        client.apply()
        provider = embeddings.provider("minilm")
        texts = sorted({text for _, text, _ in asked})
        vectors = {text: made.vector for text, made in zip(texts, provider.embed(texts), strict=True)}
        figures = through_all_phases(client, data, provider)
        figures |= reached(client, asked, vectors)
        kinds, newborn = frozenset(loaded.policy.labels()), Newborn.of(loaded.policy)
        importing.import_files(client.database, [data], now=datetime.now(timezone.utc), kinds=kinds, newborn=newborn)
        work(client, provider)
        room = {name: figures[f"tokens, {name}"] for name in ("sources", "storylines")}
        figures |= by_turns(client, asked, vectors, room)
    console = Console()
    for name, value in figures.items():
        console.print(f"{name}: {value:,}")


if __name__ == "__main__":
    main()
