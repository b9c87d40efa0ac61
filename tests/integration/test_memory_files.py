"""Thirty memory files of other people's making go through a graph: no line is lost, a second run changes nothing, and a secret
of one is in no other (tests/memory_files)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.conftest import say_go
from tests.duplicate_pairs import NOON
from tests.unit.test_memory_files import WITH_A_FORM, files, text_of, words

from jochi import Jochi

pytestmark = [pytest.mark.server, pytest.mark.exhaustive]

MARKER = re.compile(r"^\s*(?:[-*+]|[0-9]{1,9}[.)])\s+")
"""The number of an item that stands alone says nothing."""

EVERYTHING = """
MATCH (n) UNWIND keys(n) AS name
WITH n, n[name] AS value WHERE value IS :: STRING NOT NULL
RETURN coalesce(n.scope, '') AS scope, collect(value) AS said"""


def test_they_are_taken_over_without_loss_and_their_secrets_stay(jochi: Jochi, tmp_path: Path) -> None:
    say_go(jochi)
    made: dict[str, Path] = {}
    for source, _ in [*files("seen"), *files("unseen")]:
        old, file = text_of(source), tmp_path / source.name
        file.write_bytes(old.encode())
        done = jochi.migrate_context(file, source.stem, max_tokens=20_000, now=NOON)
        made[source.name] = file
        new = file.read_text(encoding="utf-8")
        lines = re.split(r"\r\n|\n|\r", old)
        named = {at for first, last, _ in done.skipped for at in range(first, last + 1)}
        # A heading that says no more than a section does is the section's; its underline, or a front matter, says nothing.
        headings = {at for at, line in enumerate(lines, 1) if re.match("#|=+$|-{2,}$", line.strip())}
        headings |= {at for at, line in enumerate(lines) if re.fullmatch(r"=+|-{2,}", line.strip())}
        there = words(new.replace("\\", ""))
        lost = [
            (at, line)
            for at, line in enumerate(lines, 1)
            if at not in named | headings and words(MARKER.sub("", line).replace("\\", "")) - there
        ]
        assert (source.name, lost) == (source.name, [])

        memories = jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"]
        assert jochi.migrate_context(file, source.stem, now=NOON).already
        again = jochi.write_context(file, source.stem, now=NOON)
        assert (source.name, again.rewritten, again.taken_in) == (source.name, False, ())
        assert file.read_text(encoding="utf-8") == new
        assert jochi.database.run("MATCH (m:Curated) RETURN count(m) AS n")[0]["n"] == memories

    graph = {row["scope"]: "\n".join(row["said"]) for row in jochi.database.run(EVERYTHING)}
    kept, elsewhere = 0, []
    all_files = [*files("seen"), *files("unseen")]
    for source, expected in all_files:
        for secret in expected.get("secret", ()):
            kept += secret["kind"] in WITH_A_FORM and secret["text"] not in graph[source.stem] + graph[""]
            elsewhere += [
                (source.name, other.name, secret["text"])
                for other, _ in all_files
                if secret["text"] in made[other.name].read_text(encoding="utf-8")
                and secret["text"] not in text_of(other)
            ]
    assert elsewhere == []
    assert kept >= 35, "of 41 that have a form, as measured"
