"""Pairs made from LoCoMo's observations, which are read from the user's file at run time and never kept.

Each rule changes one thing where the words around it say that it means what the rule takes it for: a colour only before a thing
that has one, "May" only where a month stands, a name only where both are names of women or of men, roles only around a verb that
has a direction and where no pronoun speaks of either, a negation only in a sentence with one verb. A text that a rule isn't sure
of gives no pair of that class. Names, cities and closed lists are those of `english.py`; the others were written for this set, and
none of them was taken from LoCoMo.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from random import Random

from tests.merge_pairs import english, trivial
from tests.merge_pairs.pair import Language, Pair, held_out, make

from jochi.text.content import content_hash
from jochi.write import importing

LANGUAGE: Language = "en"
VARIANTS = 2
"""True duplicates of one observation: trivial variants and contractions."""
DUPLICATES_OF = 4
"""One observation in so many gets duplicates; all get the differences that the rules find."""

NAMES = 0.15
"""Share of the observations whose speaker is changed into somebody else."""

_FEMALE = tuple(name.strip() for name in english.FEMALE.split(","))
_MALE = tuple(name.strip() for name in english.MALE.split(","))
_CITIES = tuple(name.strip() for name in english.CITIES.split(","))
_COUNTRIES = (
    *(
        "Canada",
        "Spain",
        "France",
        "Italy",
        "Germany",
        "Japan",
        "Brazil",
        "Mexico",
        "Ireland",
        "Greece",
        "Sweden",
        "Norway",
    ),
    *(
        "Portugal",
        "Thailand",
        "Turkey",
        "India",
        "Peru",
        "Scotland",
        "England",
        "Australia",
        "Switzerland",
        "Iceland",
        "Kenya",
    ),
)
_STATES = (
    "Michigan",
    "Florida",
    "Texas",
    "California",
    "Oregon",
    "Colorado",
    "Ohio",
    "Montana",
    "Minnesota",
    "Vermont",
)
_THINGS = (
    "bag|ball|balloon|banner|bike|blanket|boat|boot|bowl|bracelet|cake|candle|car|cat|chair|coat|collar|couch|cup|curtain|dog|"
    "door|dress|fence|flag|flower|hair|hat|house|jacket|jersey|kitten|lamp|leash|mug|necklace|paint|pants|pot|puppy|rose|rug|"
    "scarf|shirt|shoes|sky|sofa|stripes|sunset|sweater|team|tie|tile|towel|truck|tulip|umbrella|van|vase|wall|yarn"
)
_VERBS_WITH_DIRECTION = (
    "advised|asked|called|congratulated|consoled|complimented|encouraged|gave|helped|hired|inspired|invited|lent|messaged|offered|paid|"
    "praised|recommended|reminded|showed|suggested|supported|taught|texted|thanked|told|visited|admires|advises|asks|compliments|"
    "congratulates|encourages|gives|helps|inspires|invites|motivates|offers|praises|recommends|reminds|shows|suggests|supports|"
    "teaches|tells|thanks|wishes|is proud of|is supportive of|appreciates|believes in|admired|appreciated"
)
_MUTUAL = re.compile(
    r"\b(and|with|together|both|each other|mutual|share[sd]?|between|joint|we|they|their|them|other)\b", re.I
)
_PRONOUN = re.compile(r"\b(he|she|his|her|hers|him|himself|herself)\b", re.I)
_PLAIN_VERBS = (
    "appreciate attend bake believe collect consider cook draw dream drive enjoy feel find hope know like listen live love need "
    "own paint plan play practice prefer read recommend remember run see support think trust use value volunteer want work write"
)
_BASE = {
    **{f"{verb}s": verb for verb in _PLAIN_VERBS.split()},
    **{"has": "have", "goes": "go", "does": "do", "teaches": "teach", "watches": "watch", "wishes": "wish"},
}
_OPPOSITES = (
    *(("morning", "evening"), ("older", "younger"), ("bought", "sold"), ("increased", "decreased")),
    *(
        ("indoor", "outdoor"),
        ("indoors", "outdoors"),
        ("largest", "smallest"),
        ("oldest", "youngest"),
        ("sunrise", "sunset"),
    ),
    *(("summer", "winter"), ("upstairs", "downstairs"), ("north", "south"), ("biggest", "smallest")),
)
_RESULT = re.compile(
    r"\b(won|lost)\b(?= (?:a|an|the|his|her|their|another) [^.,]*"
    r"\b(?:game|match|tournament|competition|race|championship|contest)\b)"
)
_OPPOSITE_FEELINGS = (
    *(
        ("loves", "hates"),
        ("likes", "dislikes"),
        ("optimistic", "pessimistic"),
        ("happy", "unhappy"),
        ("easy", "difficult"),
    ),
    *(("agrees", "disagrees"), ("trusts", "distrusts"), ("easier", "harder"), ("good", "bad"), ("always", "never")),
)
"""Only in sentences of one thought: "hates animals and thinks they bring joy" is no memory that anybody writes."""
_SETS = (
    ("piano", "violin", "guitar", "flute", "cello", "trumpet", "clarinet", "drums"),
    ("hiking", "swimming", "kayaking", "surfing", "climbing", "cycling", "skiing", "camping", "fishing"),
    ("dog", "cat", "rabbit", "parrot", "hamster", "turtle"),
    ("dogs", "cats", "rabbits", "parrots", "hamsters", "turtles"),
    ("pizza", "lasagna", "sushi", "soup", "salad", "pasta", "curry"),
    ("basketball", "tennis", "soccer", "hockey", "baseball", "volleyball"),
    ("museum", "zoo", "library"),
    ("brother", "father", "grandfather"),
    ("sister", "mother", "grandmother"),
    ("nurse", "teacher", "lawyer", "doctor", "chef", "pilot"),
    ("chocolate", "vanilla", "strawberry", "coconut", "caramel"),
)
_UNITS = (("minutes", "hours"), ("days", "weeks", "months", "years"), ("miles", "kilometers"), ("pounds", "kilograms"))
_TITLES = (
    "The Paper Lantern",
    "Roads of Salt",
    "Winter Harbour",
    "A Map of Small Things",
    "The Ninth Orchard",
    "Glass Rivers",
)
_CONTRACTIONS = (
    *(
        (r"\bis not\b(?! only)", "isn't"),
        (r"\bdoes not\b", "doesn't"),
        (r"\bdid not\b", "didn't"),
        (r"\bhas not\b(?! only)", "hasn't"),
    ),
    *((r"\bwas not\b", "wasn't"), (r"\bcannot\b", "can't"), (r"\bcurrently\b", "at the moment")),
)

Speakers = tuple[str, str]
Rule = Callable[[str, Speakers, Random], str | None]
Words = tuple[str, ...]


def drawn_from(text: str) -> str:
    """The source of a pair. It stays what it was when the set was made, whatever the hash is called: another one would draw the
    set anew and move what nobody has seen."""
    return f"locomo/v1:{content_hash(text).partition(':')[2]}"


def observed(file: Path) -> Iterator[Pair]:
    """The pairs of all observations of a LoCoMo file, in its order. The source of a pair is the content hash of its observation."""
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    beliefs = [
        (record.scope, record.properties["subject"], record.properties["content"])
        for record in importing.records(file, now=now, on_bad=lambda bad: None)
        if record.kind == "Belief"
    ]
    told: dict[str, set[str]] = {}
    for scope, speaker, _ in beliefs:
        told.setdefault(scope, set()).add(speaker)
    for number, (scope, speaker, text) in enumerate(beliefs):
        others = sorted(told[scope] - {speaker})
        source = drawn_from(text)
        dice = Random(source)
        for kind, changed in differences(text, (speaker, others[0] if others else ""), dice):
            texts = (text, changed) if dice.random() < 0.5 else (changed, text)
            yield make(kind, LANGUAGE, texts, "different", source)
        if number % DUPLICATES_OF == 0 or _contracted(text) is not None:
            for kind, variant in duplicates(text, dice):
                yield make(kind, LANGUAGE, (text, variant), "same", source)


def differences(text: str, speakers: Speakers, dice: Random) -> Iterator[tuple[str, str]]:
    """(class, the text with one difference), for each class whose rule finds its place in the text."""
    for kind, rule in RULES.items():
        changed = rule(text, speakers, dice)
        if changed is not None and changed != text:
            yield kind, changed


def duplicates(text: str, dice: Random) -> Iterator[tuple[str, str]]:
    """(class, the text in another form)."""
    contracted = _contracted(text)
    if contracted is not None:
        yield "paraphrase", contracted
    for kind in dice.sample(trivial.KINDS, VARIANTS):
        # Capitals tell words apart in other people's text (IT and it), so only the first letter is changed here.
        variant = text[0].lower() + text[1:] if kind == "case" else trivial.variant(kind, text, LANGUAGE, dice)
        if variant is not None and variant != text:
            yield kind, variant


def _contracted(text: str) -> str | None:
    for pattern, short in _CONTRACTIONS:
        if re.search(pattern, text):
            return re.sub(pattern, short, text, count=1)
    return None


def _number(text: str, speakers: Speakers, dice: Random) -> str | None:
    words = {word: n for n, word in english.NUMBER_WORDS.items()}
    # Not in 24/7, 2D, 1st, "1980s", and nothing that is part of a date or a version.
    pattern = (
        rf"(?<![\w.,/$-])(\d{{1,4}}|{'|'.join(words)})(?![\w/%-]|[.,:]\d)(?! (?:of|or|out|{'|'.join(english.MONTHS)}))"
    )
    found = [match for match in re.finditer(pattern, text) if not _in_a_date(text, match)]
    if not found:
        return None
    match = dice.choice(found)
    if match[1] in words:
        return _put(text, match, dice.choice([word for word in words if word != match[1]]))
    if 1900 < int(match[1]) < 2100:
        return None
    return _put(text, match, str(int(match[1]) + dice.choice((1, 2, 3, 10))))


def _date(text: str, speakers: Speakers, dice: Random) -> str | None:
    months = "|".join(english.MONTHS)
    day = re.search(rf"\b(\d{{1,2}})(?= (?:{months})\b)", text) or re.search(
        rf"(?<=\b)(?:{months}) (\d{{1,2}})\b", text
    )
    if day is not None:
        other = dice.choice([n for n in range(1, 29) if n != int(day[1])])
        return text[: day.start(1)] + str(other) + text[day.end(1) :]
    year = re.search(r"(?<=\b(?:in|of) )(?:the year )?((?:19|20)\d\d)\b", text) or re.search(
        r"(?<=, )((?:19|20)\d\d)\b", text
    )
    if year is not None:
        return text[: year.start(1)] + str(int(year[1]) - dice.randint(1, 5)) + text[year.end(1) :]
    return None


def _in_a_date(text: str, match: re.Match[str]) -> bool:
    return re.search(rf"(?:{'|'.join(english.MONTHS)}) $", text[: match.start()]) is not None


def _early(words: Words) -> Words:
    """Those of an open list that the seen part may have."""
    return tuple(word for word in words if not held_out(f"word/{word}"))


def _listed(words: Words, before: str = "", after: str = "", *, choices: Words = ()) -> Rule:
    pattern = re.compile(rf"{before}\b({'|'.join(words)})\b{after}")

    def rule(text: str, speakers: Speakers, dice: Random) -> str | None:
        match = pattern.search(text)
        others = [word for word in choices or words if word not in text]
        if match is None or not others or text.count(match[1]) > 1:
            return None
        return _put(text, match, dice.choice(others))

    return rule


def _first_of(*rules: Rule) -> Rule:
    def rule(text: str, speakers: Speakers, dice: Random) -> str | None:
        return next((made for one in rules if (made := one(text, speakers, dice)) not in (None, text)), None)

    return rule


def _time(text: str, speakers: Speakers, dice: Random) -> str | None:
    match = re.search(r"\b(1[01]|[1-9])(?=(?::\d\d)? ?(?:am|pm|a\.m\.|p\.m\.|AM|PM)\b)", text)
    return None if match is None else _put(text, match, str(int(match[1]) % 11 + 1))


def _name(text: str, speakers: Speakers, dice: Random) -> str | None:
    speaker, _ = speakers
    group = _FEMALE if speaker in _FEMALE else _MALE if speaker in _MALE else ()
    names = [name for name in _early(group) if name not in speakers and name not in text]
    # Every observation names its speaker: a share of them is enough for this class.
    if not names or dice.random() > NAMES or not re.match(rf"{speaker}\b", text):
        return None
    # A possessive follows the name, whatever it ends in.
    return re.sub(rf"\b{speaker}\b", dice.choice(names), text)


def _role(text: str, speakers: Speakers, dice: Random) -> str | None:
    one, other = speakers
    if not other or _PRONOUN.search(text) or _MUTUAL.search(text):
        return None
    if not re.match(rf"{one} (?:{_VERBS_WITH_DIRECTION}) ", text) or text.count(other) != 1 or text.count(one) != 1:
        return None
    # "Sam visited Evan's brother" is about the brother.
    if not re.search(rf"\b{other}\b(?!')", text):
        return None
    return re.sub(rf"\b({one}|{other})\b", lambda found: other if found[1] == one else one, text)


def _negation(text: str, speakers: Speakers, dice: Random) -> str | None:
    speaker, _ = speakers
    if len(text.split()) > 16 or re.search(
        r"\b(and|but|not|never|no|nor|without|which|who|as|while|because|so)\b|n't|,|;", text
    ):
        return None
    match = re.match(
        rf"{re.escape(speaker)} ({'|'.join(_BASE)}|is|was|can|will|would)\b(?! (?:to be|been|had)\b)", text
    )
    if match is None:
        return None
    verb = match[1]
    if verb in ("is", "was", "can", "will", "would"):
        return _put(text, match, "cannot" if verb == "can" else f"{verb} not")
    if verb == "has" and not re.match(r" (?:a|an|two|three|four|many|some|plans|friends|pets)\b", text[match.end() :]):
        return None
    return _put(text, match, f"does not {_BASE[verb]}")


def _unit(text: str, speakers: Speakers, dice: Random) -> str | None:
    for units in _UNITS:
        match = re.search(
            rf"\b(?:\d+|{'|'.join(english.NUMBER_WORDS.values())}|few|several|many) ({'|'.join(units)})\b", text
        )
        if match is not None:
            return _put(text, match, dice.choice([unit for unit in units if unit != match[1]]))
    return None


def _currency(text: str, speakers: Speakers, dice: Random) -> str | None:
    match = re.search(r"(\$)(?=\d)", text)
    return None if match is None else _put(text, match, dice.choice("€£"))


def _quoted(text: str, speakers: Speakers, dice: Random) -> str | None:
    match = re.search(r'"([^"]{3,60})"', text)
    return None if match is None else _put(text, match, dice.choice(_TITLES) + ("," if match[1].endswith(",") else ""))


def _antonym(text: str, speakers: Speakers, dice: Random) -> str | None:
    one_thought = re.search(r"\b(and|but|as|which|because|while|not|that|when)\b|,|n't", text) is None
    result = _RESULT.search(text)
    if result is not None:
        return _put(text, result, "won" if result[1] == "lost" else "lost")
    for one, other in (*_OPPOSITES, *(_OPPOSITE_FEELINGS if one_thought else ())):
        match = re.search(rf"(?<!-)(?<!was )\b({one}|{other})\b(?!-| (?:at|time|of))", text)
        if match is not None and not (one in text and other in text):
            changed = _put(text, match, other if match[1] == one else one)
            changed = re.sub(
                r"\ba(?= (?:unhappy|easy|easier|older|indoor|outdoor|optimistic|evening|increased)\b)", "an", changed
            )
            return re.sub(r"\ban(?= (?:happy|difficult|harder|younger|pessimistic|morning|decreased)\b)", "a", changed)
    return None


def _value(text: str, speakers: Speakers, dice: Random) -> str | None:
    for words in _SETS:
        match = re.search(rf"(?<!hot )(?<!-)\b({'|'.join(words)})\b(?!-)", text)
        if match is not None and len(re.findall(rf"\b{match[1]}\b", text)) == 1:
            return _put(text, match, dice.choice([word for word in words if word not in text]))
    return None


def _put(text: str, match: re.Match[str], word: str) -> str:
    return text[: match.start(1)] + word + text[match.end(1) :]


RULES: dict[str, Rule] = {
    "number": _number,
    "date": _date,
    "weekday": _listed(english.WEEKDAYS),
    "time": _time,
    "month": _first_of(
        _listed(tuple(month for month in english.MONTHS if month not in ("March", "May", "August"))),
        _listed(english.MONTHS, before=r"(?:\b[Ii]n |\b[Ss]ince |\bof |\bnext |\blast |\d )"),
    ),
    "name": _name,
    "place": _first_of(
        *(
            _listed(
                group,
                choices=_early(group),
                before=r"(?:\bin |\bto |\bfrom |\bnear |\bvisit(?:ed|ing)? |\baround )",
                after=r"(?! [A-Z]|'|-)",
            )
            for group in (_CITIES, _COUNTRIES, _STATES)
        )
    ),
    "negation": _negation,
    "unit": _unit,
    "currency": _currency,
    "colour": _listed((*english.COLOURS, "orange", "gray"), after=rf"(?= (?:{_THINGS})s?\b)"),
    "antonym": _antonym,
    "quoted": _quoted,
    "role": _role,
    "value": _value,
}
"""What can be changed in other people's text, by class. Versions and identifiers don't occur there."""

__all__ = ["RULES", "differences", "duplicates", "observed"]
