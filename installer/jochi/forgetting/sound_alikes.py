"""Names that sound like the one that is to be forgotten: a hint for who asked, and nothing is done to them (DESIGN §15)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex
from anyascii import anyascii
from neo4j.exceptions import ClientError

from jochi.database.engine import Engine
from jochi.database.statements import statement
from jochi.forgetting.equivalents import names
from jochi.forgetting.spelling import Spelling
from jochi.forgetting.words import phrase

_MOST = 200
"""Memories that are looked at."""
_MOST_WORDS = 4
_WORD = regex.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class SoundAlike:
    """A name that sounds like the one asked for, as the memory ``key`` writes it. It stays."""

    text: str
    key: str


def find_sound_alikes(engine: Engine, spelling: Spelling, scope: str | None) -> list[SoundAlike]:
    """Those in the scope (None: in all) whose words are spelled within two letters; each name once. Writes nothing."""
    words = _words(spelling.text)
    if words is None:
        return []
    query = " ".join(f"+{word.lower()}~2" for word in words)
    if scope is not None:
        quoted = scope.replace("\\", "\\\\").replace('"', '\\"')
        query = f'+scope:"{quoted}"^0 {query}'
    given = {"query": query, "prefix": "" if scope is None else f"{scope}/", "limit": _MOST}
    try:
        rows = engine.database.run(statement("forget/alike"), given, write=False)[0]["found"]
    except ClientError:  # the full-text index isn't there (`jochi doctor` says so): forgetting does without the hint
        return []
    found: dict[tuple[str, ...], SoundAlike] = {}
    for row in rows:
        for text in row["texts"]:
            for name in sound_alikes_in(text, spelling.text):
                if not spelling.says(name):
                    found.setdefault(phrase(name), SoundAlike(name, row["key"]))
    return list(found.values())


def sound_alikes_in(text: str, name: str) -> Iterator[str]:
    """The names in a text that sound like this one, by Metaphone: word for word, and not the same words."""
    wanted = _words(name)
    if wanted is None:
        return
    sounds, size = [_sound(word) for word in wanted], len(wanted)
    for row in names(text):
        parts = [part for part in re.split(r"[ \u00a0]", row) if part]
        for at in range(len(parts) - size + 1):
            part = parts[at : at + size]
            if [_sound(word) for word in part] == sounds and phrase(" ".join(part)) != phrase(name):
                yield " ".join(part)


def _words(name: str) -> Sequence[str] | None:
    """The words of a name in Latin letters; None of anything else."""
    parts = name.split()
    plain = all(_WORD.fullmatch(part) and _sound(part) and anyascii(part[0]) == part[0].upper() for part in parts)
    return parts if parts and len(parts) <= _MOST_WORDS and plain else None


def _sound(word: str) -> str:
    from jellyfish import metaphone

    return metaphone(anyascii(word))
