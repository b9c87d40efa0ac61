"""What forgetting adds to `Jochi.remember`: comparing each memory with what was forgotten, on the client; and what reading takes.

The reading (what a text says to be the same, what is left of it) is done when something is forgotten, of what the database found
for it. `remember` reads nothing of a text but the forms of the kinds that were ever forgotten.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.table import Table
from tests.bench.language import turns
from tests.bench.store import settle, wipe

from jochi import Jochi
from jochi.forgetting import VARIABLE, Request
from jochi.forgetting.clauses import remove_clauses
from jochi.forgetting.equivalents import find_equivalents
from jochi.forgetting.words import phrase, words
from jochi.write.remembering.screening import RowScreen

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
ROWS, ROUNDS = 2_000, 7
MOST = 3.0
"""Milliseconds that comparing a memory may take."""
PHRASES = ("5 Elm St", "lives in Turku")
NAMED = (
    *PHRASES,
    *(
        "+49 170 5550199",
        "alice.smith@gmail.com",
        "DE89370400440532013000",
        "B-AB 1234",
        "00:1A:2B:3C:4D:5E",
        "2001:db8::1",
    ),
    *("José García", "Екатерина Иванова", "王伟"),
)


def _wipe(client: Jochi) -> None:
    """Memories, and what was ever forgotten."""
    wipe(client.database)
    client.database.run("MATCH (n:JochiForgotten|JochiForgetting|JochiReceipt) DETACH DELETE n")


def _texts() -> list[str]:
    _, found = turns()
    return [found[n % len(found)] for n in range(ROWS)]


def _rows(part: str, texts: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"kind": "Belief", "scope": f"{part}-{n % 20}", "id": f"m{n}", "content": f"{n}: {text}"}
        for n, text in enumerate(texts)
    ]


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def rise(client: Jochi, texts: Sequence[str], part: str) -> tuple[float, float]:
    """By what share comparing makes a `remember` longer, and milliseconds of it for each memory; medians."""
    shares, each = [], []
    for number in range(ROUNDS):
        rows = _rows(f"{part}{number}", texts)
        numbered = list(enumerate(rows))
        screen = RowScreen(client.engine)
        alone = _timed(lambda screen=screen, numbered=numbered: screen.pass_on(numbered))  # type: ignore[misc]
        whole = _timed(lambda rows=rows: client.remember(rows, now=NOW))  # type: ignore[misc]
        shares.append(alone / (whole - alone))
        each.append(alone / len(rows) * 1000)
    return statistics.median(shares[1:]), statistics.median(each[1:])


def reading(texts: Sequence[str]) -> float:
    """Milliseconds a text: what it says to be the same as its first word, and what is left of it without that."""
    chosen = [text for text in texts if len(words(text)) > 3][:300]

    def read() -> None:
        for text in chosen:
            text = unicodedata.normalize("NFC", text)
            word = words(text)[1]
            list(find_equivalents(text, word.start, word.stop))
            remove_clauses(text, phrase(text[word.start : word.stop]))

    read()
    return _timed(read) / len(chosen) * 1000


def add_rows(client: Jochi, table: Table) -> tuple[float, float]:
    """The figures of this part; returns the two that `check` judges."""
    client.install(arm=False)
    _wipe(client)
    settle()
    texts = _texts()
    with tempfile.TemporaryDirectory() as folder:
        before, os.environ[VARIABLE] = os.environ.get(VARIABLE), str(Path(folder, "forget.key"))
        try:
            rise(client, texts, "warm")
            found = []
            for what, asked in (("phrases alone", PHRASES), ("identifiers and names of all kinds", NAMED)):
                for said in asked:
                    client.forget(Request(phrase=said, scope="nobody"), wait=0)
                share, each = rise(client, texts, what.split()[0])
                found.append(share)
                wanted = "" if asked is PHRASES else "≤ 3 ms"
                table.add_row(f"remember, compared with forgotten {what}", f"+{share:.1%} ({each:.3f} ms each)", wanted)
        finally:
            os.environ.pop(VARIABLE)
            if before is not None:
                os.environ[VARIABLE] = before
    took = reading(texts)
    table.add_row("reading one text where something is forgotten", f"{took:.1f} ms", "")
    _wipe(client)
    return found[0], each


def check(found: tuple[float, float]) -> None:
    """Fails where a `remember` is longer than it may be."""
    share, each = found
    assert each <= MOST, (share, each)


def main() -> None:
    """On the server of JOCHI_TEST_URI, whose memories are wiped."""
    import neo4j
    from rich.console import Console

    auth = (os.environ.get("JOCHI_TEST_USER", "neo4j"), os.environ.get("JOCHI_TEST_PASSWORD", ""))
    table = Table("what", "figure", "wanted", title=f"load of the box: {os.getloadavg()[0]:.1f}")
    with neo4j.GraphDatabase.driver(os.environ["JOCHI_TEST_URI"], auth=auth) as driver:
        found = add_rows(Jochi(driver), table)
    Console(width=120).print(table)
    check(found)


if __name__ == "__main__":
    main()
