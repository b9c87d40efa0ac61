"""Which texts are known to pass EXPLAIN on which server: those of the shipped policies, on the version that `jochi` ships jars of.

They passed it there before release (`python -m tests.checked` writes the file), and what decides whether a text compiles are the
versions (`ServerFacts.signature`). To plan them again would be nine tenths of a first install, and no plan of EXPLAIN's is used by
a run. Other texts, by a policy of one's own, and all of them on other versions, are checked where they are installed.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from jochi.database.server_facts import ServerFacts


def known_to_compile(facts: ServerFacts) -> frozenset[str]:
    """The hashes of the texts that passed EXPLAIN on a server of these versions; none where nobody tried."""
    versions, hashes = _read(checked_file(facts.version))
    return hashes if versions == (facts.version, facts.apoc) else frozenset()


def checked_file(version: str) -> Path:
    """The texts of one version of Neo4j."""
    return Path(__file__).with_name(f"checked-{version}.json")


def hash_of(text: str) -> str:
    """Of one section, 16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _read(file: Path) -> tuple[tuple[str, str] | None, frozenset[str]]:
    if not file.is_file():
        return None, frozenset()
    told = json.loads(file.read_text(encoding="utf-8"))
    return (told["version"], told["apoc"]), frozenset(told["texts"])
