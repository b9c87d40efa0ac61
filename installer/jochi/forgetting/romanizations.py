"""Names of another script in Latin letters, by all usual tables (`romanizations.toml`): Щербаков is Shcherbakov and Scherbakov, and
not Sherbakov. For scripts that write their vowels."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from anyascii import anyascii

from jochi.text.kept import kept
from jochi.text.letters import script_of
from jochi.toml import beside

_LEAST = 4
"""Letters of a name."""
VOWELLESS = frozenset(("ARABIC", "HEBREW", "TAMIL"))
"""Scripts of which a name in Latin letters tells more than they write: what only has its consonants may be another name."""


@cache
def _tables() -> dict[str, list[tuple[str, str]]]:
    return {
        script: [
            (letters, "|".join(sorted(ways.replace("∅", "").split(" "), key=len, reverse=True)))
            for letters, ways in sorted(
                table.items(), key=lambda each: -len(each[0].rstrip("$")) - each[0].endswith("$")
            )
        ]
        for script, table in beside(__file__, "romanizations.toml").items()
    }


def romanizations_in(text: str, name: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where a text (NFC) says a name of another script in Latin letters."""
    pattern = _pattern(name)
    if pattern is not None:
        yield from (found.span() for found in pattern.finditer(_bare(text)))


def romanized_needles(name: str) -> list[str]:
    """What a database can look for, in small letters: of a name in Latin letters its beginnings, of another one the longest row of
    letters that all tables write alike."""
    if name.isascii():
        return [word[:2].lower() for word in name.split() if len(word) > 2 and word.isalpha()]
    rows: list[str] = []
    for word in name.split():
        pattern = _word(_bare(word))
        rows += re.split(r"\(\?:[^)]*\|[^)]*\)", pattern) if pattern else []
    found = max((re.sub(r"\(\?:|\)", "", row) for row in rows), key=len, default="")
    return [found] if len(found) > 1 else []


@kept(1_024)
def _pattern(name: tuple[str, ...]) -> re.Pattern[str] | None:
    words = [_word(_bare(each)) for each in name]
    if any(word is None for word in words) or sum(map(len, name)) < _LEAST:
        return None
    return re.compile(r"(?<![\w-])" + r"[ \u00a0]".join(str(word) for word in words) + r"(?![\w-])")


def _word(word: str) -> str | None:
    script = script_of(word[:1])
    table, found, at = _tables().get(script, []), "", 0
    while at < len(word):
        for letters, ways in table:
            plain = letters.rstrip("$")
            if word.startswith(plain, at) and (plain == letters or at + len(plain) == len(word)):
                found += f"(?:{ways})"
                at += len(plain)
                break
        else:
            return None
    return found


def _bare(text: str) -> str:
    """Small letters without accents, as many characters as there were; those that are letters of their own stay."""
    return "".join(each if each in "йїёžšč" else unicodedata.normalize("NFD", each)[0] for each in map(_lower, text))


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def consonants(name: str) -> str:
    """What of a name in Latin letters a script without vowels writes."""
    bare = re.sub("[^a-z]", "", anyascii(name).lower())
    return re.sub(r"(.)\1+", r"\1", re.sub("[aeiouyhw]", "", bare.replace("ck", "k").replace("c", "k")))
