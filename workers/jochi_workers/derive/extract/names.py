"""What a name is compared by, and when two names may be one person's or thing's (seed 002, Entity Resolution; DESIGN §14).

Nothing here merges: names that are alike are shown to a person.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from jochi_workers.derive.extract.lists import words_in
from jochi_workers.derive.extract.output import Kind
from jochi_workers.guard import judge
from jochi_workers.guard.differences import opposed
from jochi_workers.guard.inflect import lemma
from jochi_workers.guard.lists import LANGUAGES, opposites
from jochi_workers.language.extra import packages

LONGEST = 200
MOST_APART = 3
"""Letters that two names may differ in (seed 002): fewer in short ones."""
LEAST_COSINE = 0.75
"""Raw; names are alike in meaning above it (seed 002)."""

_HASHED = 32
_END = 6
_MOST_TERMS = 60
_STEADY = 8
_POSSESSIVE = re.compile(r"(?<=[\w+#])['’ʼ]s(?!\w)")
_ASCII = re.compile(r"[a-z0-9][a-z0-9+#]*")
_APOSTROPHES = re.compile(r"['’ʼ]")
_TITLES = words_in("titles")
_TELLING = words_in("telling")
"""Words that tell father from son, and the first from the second: one name may not have them where the other doesn't."""


class NameMatch(NamedTuple):
    """Why two names may mean the same, and how much, 0 to 1.

    `distance`: in few letters another spelling. `part`: the words of one are among the other's. `script`: the same name in another
    script, or without its marks. `meaning`: by the cosine of what is known of both.
    """

    reason: Literal["distance", "part", "script", "meaning"]
    score: float


def words(text: str) -> list[str]:
    """The words of ``text`` in lower case: letters, marks and digits of any script, `+` and `#` behind a letter (C++)."""
    folded = text
    for _ in range(_STEADY):  # lower case can undo what composing did, and the other way round
        again = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())
        if again == folded:
            break
        folded = again
    folded = _APOSTROPHES.sub("", _POSSESSIVE.sub("", folded))
    return _ASCII.findall(folded) if folded.isascii() else _split(folded)


def singular(word: str) -> str:
    """An English noun's singular by the dictionary; any other word as it is."""
    base = lemma(word, "en") if word.endswith("s") and len(word) > 3 else None
    return base.casefold() if base else word


def canonical_name(name: str, kind: Kind = "Person") -> str:
    """By what a name is found: its words in lower case with hyphens, a person's without title and possessive s. At most `LONGEST`
    characters, of a longer one a hash at the end. '' for what has no letter. Again of itself the same; never raises."""
    found = words(name)
    while kind == "Person" and len(found) > 1 and found[0] in _TITLES:
        found = found[1:]
    joined = "-".join(found)
    if not any(character.isalpha() for character in joined):
        return ""
    if len(joined) > LONGEST:
        mark = hashlib.sha256(joined.encode()).hexdigest()[:_HASHED]
        joined = joined[: LONGEST - _HASHED - 1].rstrip("-") + "-" + mark
    return joined


def match_names(one: str, other: str, kind: Kind, cosine: float | None = None) -> NameMatch | None:
    """Why both may be the same ``kind``; None: nothing says so, or they are the same by `canonical_name`. `cosine`: raw.

    The first that holds counts, in the seed's order. A digit, a number or a word that tells two of a family apart (Jr., north, C++)
    rules all of it out. `match_names(a, b, …) == alike(b, a, …)`. `JochiError` without the extra [language].
    """
    one, other = sorted((one, other))
    left, right = canonical_name(one, kind), canonical_name(other, kind)
    if not left or not right or left == right:
        return None
    left_words, right_words = left.split("-"), right.split("-")
    if _apart(left_words, right_words) or (kind != "Person" and _opposed(one, other, left_words, right_words)):
        return None
    if score := _near(left_words, right_words):
        return NameMatch("distance", score)
    if kind != "Concept" and (score := _part(left_words, right_words, kind)):
        return NameMatch("part", score)
    if score := _transliterated(left_words, right_words):
        return NameMatch("script", score)
    if cosine is not None and math.isfinite(cosine) and cosine > LEAST_COSINE:
        return NameMatch("meaning", min(1.0, cosine))
    return None


def ready() -> None:
    """`JochiError` where what names are compared with isn't installed: the extra [language]."""
    packages("rapidfuzz.distance.Levenshtein", "anyascii")


def search_terms(name: str, kind: Kind, scope: str) -> str | None:
    """By what ``name`` is found among those of its scope and kind, one text for the index of names; None: it has no letter.

    A mark of scope and kind; `_2` if it has several words; its words, the same in Latin letters, and these as one word; of long
    ones both ends: of three letters that are others, one end has at most one.
    """
    canonical = canonical_name(name, kind)
    if not canonical:
        return None
    found = canonical.split("-")
    latin = _latin(found)
    long = [word for word in dict.fromkeys(found + latin) if len(word) > 2 * _END - 1]
    ends = [end for word in long for end in (f"_{word[:_END]}", f"{word[-_END:]}_")]
    mark = hashlib.sha256(f"{scope}/{kind}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASHED]
    terms = dict.fromkeys([*found, *latin, "".join(latin), *ends][:_MOST_TERMS])
    return " ".join([mark, *(["_2"] if len(found) > 1 else []), *(term for term in terms if term)])


def name_mark(canonical: str, scope: str) -> str:
    """By what sources of a scope that have the same name find each other in the index of names, whatever kind it is of."""
    return hashlib.sha256(f"{scope}/{canonical}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASHED]


def _latin(found: Sequence[str]) -> list[str]:
    [latin] = packages("anyascii")
    return words(latin.anyascii(" ".join(map(bare, found))))


def _split(text: str) -> list[str]:
    found: list[list[str]] = [[]]
    for character in text:
        category = unicodedata.category(character)
        if category[0] in "LN" or (found[-1] and (category[0] == "M" or character in "+#")):
            found[-1].append(character)
        elif category != "Cf" and found[-1]:
            found.append([])
    return ["".join(each) for each in found if each]


def _signs(names: Sequence[str]) -> list[str]:
    return sorted(
        name for name in names if name in _TELLING or any(map(str.isdigit, name)) or name[-1] in "+#" or len(name) == 1
    )


def _apart(left_words: Sequence[str], right_words: Sequence[str]) -> bool:
    """Whether a number, an initial or a word as `Jr.` tells them apart. An initial that one alone has doesn't: J. F. Smith, John
    Smith."""
    left, right = set(_signs(left_words)) - set(right_words), set(_signs(right_words)) - set(left_words)
    telling = {sign for sign in left | right if len(sign) > 1 or not sign.isalpha() or sign in ("v", "x")}
    return bool(telling or (left and right))


def _opposed(one: str, other: str, left_words: Sequence[str], right_words: Sequence[str]) -> bool:
    """Whether the merge guard reads more in the difference than another name: a direction, a colour, a month, a number."""
    ruling = judge(one, other, cosine=None)
    return (ruling.verdict == "veto" and bool({*ruling.reasons} - {"name", "word"})) or any(
        opposed(left_words, right_words, language) for language in LANGUAGES
    )


def _near(left_words: Sequence[str], right_words: Sequence[str]) -> float:
    """How alike they are spelled, 0 to 1; 0 where they are further apart than names of that length may be."""
    [distance] = packages("rapidfuzz.distance.Levenshtein")
    left, right = "-".join(left_words), "-".join(right_words)
    apart = int(distance.distance(left, right, score_cutoff=MOST_APART))
    if apart > MOST_APART:
        return 0.0
    if left.replace("-", "") != right.replace("-", "") and (
        len(left_words) != len(right_words)
        or any(
            one != other and (one[0] != other[0] or distance.distance(one, other) > _allowed(one, other))
            for one, other in zip(left_words, right_words, strict=True)
        )
    ):
        return 0.0
    return 1 - apart / max(len(left), len(right))


def _allowed(one: str, other: str) -> int:
    """Letters that two words may differ in: 0 below five letters (Anna, Hanna), 1 from five, 2 from eight, 3 from twelve."""
    size = min(len(one), len(other))
    return 0 if size < 5 else min(MOST_APART, size // 4)


def _part(left_words: Sequence[str], right_words: Sequence[str], kind: Kind) -> float:
    """The share of the longer one's words that the shorter one has; 0 where it has one that the longer hasn't."""
    short, long = sorted((left_words, right_words), key=lambda each: (len(each), sum(map(len, each)), each))
    rest = list(long)
    same = 0
    for word in short:
        if word in rest:
            same += len(word) > 1
            rest.remove(word)
            continue
        whole = next((each for each in rest if len(word) == 1 and each[0] == word), None)
        if whole is None:
            return 0.0
        rest.remove(whole)
    if not same or (kind == "Entity" and any(word in opposites(language) for word in rest for language in LANGUAGES)):
        return 0.0
    return same / len(long)


def _transliterated(left_words: Sequence[str], right_words: Sequence[str]) -> float:
    """How alike they are in Latin letters. Within one script only its marks may differ: others may only sound alike."""
    left, right = ("".join(bare(word) for word in each) for each in (left_words, right_words))
    if _scripts(left) == _scripts(right):
        return 1.0 if left == right else 0.0
    one, two = _latin(left_words), _latin(right_words)
    if "".join(one) == "".join(two):
        return 1.0
    return _near(one, two) if one and two else 0.0


def bare(word: str) -> str:
    """Without accents and other marks, decomposed."""
    return "".join(each for each in unicodedata.normalize("NFD", word) if unicodedata.category(each) != "Mn")


def _scripts(text: str) -> set[str]:
    return {unicodedata.name(each, "?").split(" ")[0] for each in text if each.isalpha()}
