"""Which texts are known to pass EXPLAIN on which server: those of the shipped policies, on versions that were tried before release.

`python -m tests.checked` starts such servers and writes the file. A text is rendered by what a server can do and not by its
version, so that most are the same on all of them: the file has each hash once, beside the versions that it passed on. To plan
them again would be nine tenths of a first install, and no plan of EXPLAIN's is used by a run. Other texts, by a policy of one's
own, and all of them on other versions, are checked where they are installed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jochi.database.server_facts import ServerFacts

FILE = Path(__file__).with_name("checked.json")

_APOC = re.compile(r"^(?!\s*//).*?\b(apoc\.[\w.]+)(?=\()", re.MULTILINE)


@dataclass(frozen=True)
class Tried:
    """A version that texts were tried on: with which APOC, and in which default languages."""

    apoc: str
    languages: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """What the file says: versions, and for each hash the versions that it passed on."""

    tried: dict[str, Tried]
    passed: dict[str, frozenset[str]]

    @classmethod
    def read(cls, file: Path = FILE) -> Checked:
        """What ``file`` says."""
        raw = json.loads(file.read_text(encoding="utf-8"))
        tried = {version: Tried(row["apoc"], tuple(row["languages"])) for version, row in raw["versions"].items()}
        return cls(tried, {text: frozenset(group["on"]) for group in raw["checked"] for text in group["texts"]})

    def write(self, file: Path = FILE) -> None:
        """Texts that passed on the same versions stand together."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for text, versions in sorted(self.passed.items()):
            groups.setdefault(tuple(sorted(versions)), []).append(text)
        raw = {
            "versions": {
                version: {"apoc": tried.apoc, "languages": list(tried.languages)}
                for version, tried in sorted(self.tried.items())
            },
            "checked": [{"on": list(versions), "texts": texts} for versions, texts in sorted(groups.items())],
        }
        file.write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")


@cache
def _shipped() -> Checked:
    return Checked.read()


def known_to_compile(facts: ServerFacts) -> frozenset[str]:
    """The hashes of the texts that passed EXPLAIN on a server of this version; none where nobody tried."""
    tried = _shipped().tried.get(facts.version)
    if tried is None or facts.default_language not in tried.languages:
        return frozenset()
    return frozenset(text for text, versions in _shipped().passed.items() if facts.version in versions)


def samples_of_apoc(texts: Iterable[str], facts: ServerFacts) -> frozenset[str]:
    """Hashes of some texts that together call all of APOC that ``texts`` call, the shortest that do.

    None where APOC is the one that they passed with: another one might have other parameters and other results.
    """
    tried = _shipped().tried.get(facts.version)
    if tried is None or tried.apoc == facts.apoc:
        return frozenset()
    chosen: set[str] = set()
    covered: set[str] = set()
    for text in sorted(texts, key=lambda each: (len(each), each)):
        if new := set(_APOC.findall(text)) - covered:
            covered |= new
            chosen.add(hash_of(text))
    return frozenset(chosen)


def hash_of(text: str) -> str:
    """Of one section, 16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
