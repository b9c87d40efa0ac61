"""Generated memories around things that are to be forgotten, with what must become of each (docs/reference/forgetting.md).

A group is a scope, what is asked for in it, and its memories; the same seed makes the same groups. What is expected comes from
how a text was put together, never from the code that forgets. `make forgetting-cases` plays them on a server.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anyascii import anyascii

from jochi.text.content import content_hash

CLASSES = ("clause", "list item", "spelling", "same", "property", "derived")
_OF_ONE = 12
"""Memories of one group that say what is asked for."""


@dataclass(frozen=True)
class Memory:
    """``after``: its content once it is forgotten; None: the memory is nowhere. ``says``: whether it says what is asked for.

    ``then``: what must be in ``properties`` afterwards. ``same``, ``mentions``: ids that a SAME_AS or a mentions leads to.
    """

    id: str
    text: str
    after: str | None
    says: bool = True
    properties: Mapping[str, Any] = field(default_factory=dict)
    then: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "MemoryEntry"
    same: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """``asked`` is to be forgotten in ``scope``; ``residue`` are the spellings that must be nowhere there, but in what stays."""

    of: str
    shape: str
    scope: str
    asked: str
    memories: tuple[Memory, ...]
    residue: tuple[str, ...]


def groups(of: str, cases: int, seed: int = 1) -> list[Group]:
    """Of a class at least so many memories that say what is asked for, in their groups, and others that only look like it."""
    dice = random.Random(f"{of}/{seed}")
    found: list[Group] = []
    while sum(memory.says for group in found for memory in group.memories) < cases:
        number = len(found)
        shape, asked, memories, residue = _MAKERS[of](dice, number)
        # Of the same words twice, the second is never written.
        once = {content_hash(memory.text): memory for memory in reversed(memories)}
        memories = dice.sample(list(once.values()), len(once))
        found.append(
            Group(of, shape, f"{of.replace(' ', '-')}-{seed}-{number}", asked, tuple(memories), tuple(residue))
        )
    return found


Made = tuple[str, str, list[Memory], list[str]]

# Clauses and lists: what is left is known from the parts.

CITIES = [
    "Lyon",
    "Porto",
    "Graz",
    "Turku",
    "Bergen",
    "Ghent",
    "Cork",
    "Brno",
    "Gdansk",
    "Leeds",
    "Malmö",
    "Nantes",
    "Perth",
    "Osaka",
    "Quito",
    "Boston",
    "Dakar",
    "Hobart",
]
FIRMS = [
    "Acme",
    "Siemens",
    "Nokia",
    "Initech",
    "Hooli",
    "Vandelay",
    "Globex",
    "Umbrella",
    "Zalando",
    "Danone",
    "Spotify",
    "Ericsson",
    "Heineken",
]
PEOPLE = [
    "Robert Klein",
    "Nadia Haddad",
    "Tomas Novak",
    "Ingrid Berg",
    "Paolo Conti",
    "Mei Tanaka",
    "Oscar Lund",
    "Priya Nair",
]
_PREDICATES: list[tuple[str, Sequence[str]]] = [
    ("works for {}", FIRMS),
    ("lives in {}", CITIES),
    ("grew up in {}", CITIES),
    ("rents a flat in {}", CITIES),
    ("is married to {}", PEOPLE),
    ("shares an office with {}", PEOPLE),
    ("speaks {}", ["Dutch", "Polish", "Tamil", "Farsi", "Finnish", "Swahili"]),
    ("is allergic to {}", ["peanuts", "penicillin", "pollen", "latex", "shellfish"]),
    ("plays the {}", ["cello", "oboe", "banjo", "drums", "harp", "trombone"]),
    ("drives a {}", ["red Volvo", "blue Fiat", "Tesla", "rusty Land Rover"]),
    ("takes {} every morning", ["Ibuprofen 400", "Metformin", "vitamin D", "Lithium"]),
    ("earns {} a year", ["52,000 euros", "90,000 dollars", "64,500 pounds"]),
    ("can be reached at {}", ["kim@acme.io", "+44 20 7946 0123", "0170 5550199"]),
    ("moved to {}", ["5 Elm St", "22 Baker Lane", "14 Rue Verte"]),
    ("supports {}", ["Celtic", "Ajax", "the Red Sox", "Bayern"]),
    ("collects {}", ["stamps", "vinyl records", "old maps"]),
    ("hates {}", ["olives", "opera", "meetings", "cilantro"]),
    ("never eats {}", ["meat", "gluten", "seafood"]),
    ("has a meeting with {} on Friday", PEOPLE),
    ("was born on {}", ["3 May 1984", "12 August 1990", "1 March 2001"]),
    ("voted for {}", ["the Greens", "Labour", "the Liberals"]),
    ("doesn't trust {}", PEOPLE + FIRMS),
    ("wants to visit {}", CITIES),
    ("owes {} 300 euros", PEOPLE),
    ("suffers from {}", ["asthma", "migraines", "insomnia"]),
    ("lost the keys in {}", CITIES),
    ("paid {} in cash", ["the plumber", "Dr. Weber", "the landlord"]),
]
SUBJECTS = [
    *(
        "Alice",
        "Bruno",
        "Chiara",
        "Dmitri",
        "Elif",
        "Fatou",
        "Goran",
        "Hana",
        "Ivan",
        "Julia",
        "Kofi",
        "Lena",
        "Mr. Novak",
    ),
    *("She", "He", "My brother", "The new manager", "Our neighbour Tom", "The client", "Dr. Silva", "Her oldest son"),
]
_OTHERS = ["Omar sells used cars", "her sister teaches chemistry", "the dog hates the postman", "the rent is too high"]


def _predicate(dice: random.Random, without: str) -> str:
    while True:
        template, fillers = dice.choice(_PREDICATES)
        said = template.format(dice.choice(fillers))
        if without not in said:
            return said


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _inner(subject: str) -> str:
    """A subject within a sentence."""
    own = subject.split()[0] in ("She", "He", "My", "The", "Our", "Her")
    return subject[:1].lower() + subject[1:] if own else subject


def _clauses(s: str, a: str, b: str, c: str, other: str) -> list[tuple[str, str]]:
    """Sentences of which ``a`` is to go, and what is left."""
    i = _inner(s)
    found = [
        (f"{s} {a} and {b}.", f"{s} {b}."),
        (f"{s} {b} and {a}.", f"{s} {b}."),
        (f"{s} {a}, but {b}.", f"{s} {b}."),
        (f"{s} {b}, but {a}.", f"{s} {b}."),
        (f"{s} {a}; {other}.", f"{_begun(other)}."),
        (f"{s} {b}; {other}, and {i} {a}.", f"{s} {b}; {other}."),
        (f"{s} {a}, and {other}.", f"{_begun(other)}."),
        (f"{s} {b}, while {other}. Later {i} {a}.", f"{s} {b}, while {other}."),
        (f"{s} {a}. {s} {b}.", f"{s} {b}."),
        (f"{s} {b}. {s} {a}. {_begun(other)}.", f"{s} {b}. {_begun(other)}."),
        (f"{s} {a}, {b} and {c}.", f"{s} {b} and {c}."),
        (f"{s} {b}, {a} and {c}.", f"{s} {b} and {c}."),
        (f"{s} {b}, {c}, and {a}.", f"{s} {b}, and {c}."),
        (f"{a} and {b}", b),
        (f"{b}, and {a}", b),
        (f"{s} {a} because {other}.", f"{_begun(other)}."),
        (f"{s} {a}, although {other}.", f"{_begun(other)}."),
        (f"{s} {b} although {i} {a}.", f"{s} {b}."),
        (f"Note: {i} {a} and {b}.", f"Note: {i} {b}."),
        (f"Eva told me that {i} {a} and {b}.", f"Eva told me that {i} {b}."),
        (f"{s} {a} - {other}.", f"{_begun(other)}."),
        (f"- {s} {b}\n- {s} {a}\n- {s} {c}", f"- {s} {b}\n- {s} {c}"),
        (f"{s} {b} ({i} {a}).", f"{s} {b}."),
    ]
    if s not in ("She", "He"):
        found += [
            (f"{s}, who {a}, {b}.", f"{s} {b}."),
            (f"{s}, who {b}, {a}.", f"{s} {b}."),
            (f"{s} {a}, and so does Omar; {other}.", f"{_begun(other)}."),
        ]
    return found


def _clause(dice: random.Random, number: int) -> Made:
    template, fillers = _PREDICATES[number % len(_PREDICATES)]
    wanted = dice.choice(fillers)
    memories = []
    for n in range(_OF_ONE):
        subject, other = dice.choice(SUBJECTS), dice.choice(_OTHERS)
        b, c = _predicate(dice, wanted), _predicate(dice, wanted)
        text, left = dice.choice(_clauses(subject, template.format(wanted), b, c, other))
        memories.append(Memory(f"m{n}", text, left))
        if n % 2:
            memories.append(Memory(f"k{n}", f"{subject} {b}.", f"{subject} {b}.", says=False))
            near = f"{subject} {b} and knows {wanted.split()[-1]}ovic"
            memories.append(Memory(f"n{n}", near, near, says=False))
    return template, wanted, memories, [wanted]


_THINGS: list[tuple[str, Sequence[str]]] = [
    ("{s} likes {l}.", ["chess", "tennis", "golf", "sailing", "yoga", "archery", "ice skating", "table football"]),
    ("{s} bought {l}.", ["milk", "three eggs", "a jar of honey", "olive oil", "rye bread", "two lemons"]),
    ("{s} has lived in {l}.", CITIES),
    ("{s} invited {l}.", PEOPLE),
    ("{s} is allergic to {l}.", ["penicillin", "cats", "pollen", "latex", "strawberries"]),
    ("{s} speaks {l}.", ["Dutch", "Polish", "Tamil", "Farsi", "Finnish"]),
    ("{s} has worked for {l}.", FIRMS),
    ("Hobbies: {l}.", ["chess", "tennis", "golf", "sailing", "yoga"]),
    ("{s} is going to meet {l} next week.", PEOPLE),
    ("Yesterday {i} packed {l}.", ["a tent", "two torches", "the stove", "a rope", "warm socks"]),
    ("{s} takes {l} against the pain.", ["Ibuprofen", "Aspirin", "Novalgin", "Tramadol"]),
]


def _list_item(dice: random.Random, number: int) -> Made:
    frame, things = _THINGS[number % len(_THINGS)]
    wanted = dice.choice(things)
    memories = []
    for n in range(_OF_ONE):
        subject = dice.choice(SUBJECTS)
        others = dice.sample(
            [thing for thing in things if wanted not in thing and thing not in wanted], dice.choice((1, 2, 2, 3))
        )
        at = dice.randrange(len(others) + 1)
        every = [*others[:at], wanted, *others[at:]]
        text, left = _listed(dice, frame, subject, every, others)
        memories.append(Memory(f"m{n}", text, left))
        if n % 2:
            kept = frame.format(s=subject, i=_inner(subject), l=_joined(others, ""))
            memories.append(Memory(f"k{n}", kept, kept, says=False))
    return frame, wanted, memories, [wanted]


def _listed(
    dice: random.Random, frame: str, subject: str, every: Sequence[str], others: Sequence[str]
) -> tuple[str, str]:
    way = dice.choice(("", ",", "", "lines", "numbers", "open"))
    head = frame.split("{l}")[0].format(s=subject, i=_inner(subject)).strip(" :")
    if way == "lines":
        return tuple(f"{head}:\n" + "\n".join(f"- {_begun(each)}" for each in some) for some in (every, others))  # type: ignore[return-value]
    if way == "numbers":
        numbered = {each: f"{n}. {_begun(each)}" for n, each in enumerate(every, 1)}
        return tuple(f"{head}:\n" + "\n".join(numbered[each] for each in some) for some in (every, others))  # type: ignore[return-value]
    if way == "open":
        return tuple(f"{head}: {', '.join(some)}" for some in (every, others))  # type: ignore[return-value]
    more = dice.choice(("", "", " The weather was fine.", f" {subject} also plays the cello."))
    return tuple(frame.format(s=subject, i=_inner(subject), l=_joined(some, way)) + more for some in (every, others))  # type: ignore[return-value]


def _joined(things: Sequence[str], comma: str) -> str:
    if len(things) < 2:
        return "".join(things)
    comma = comma if len(things) > 2 else ""
    return f"{', '.join(things[:-1])}{comma} and {things[-1]}"


# Identifiers: one thing, its spellings, and what differs by a digit, a suffix, a country.

Spelled = tuple[list[str], list[str]]


def _digits(dice: random.Random, n: int) -> str:
    return str(dice.randrange(1, 10)) + "".join(dice.choice("0123456789") for _ in range(n - 1))


def _turned(text: str, at: int) -> str:
    """Another digit at this place."""
    return text[:at] + str((int(text[at]) + 3) % 10) + text[at + 1 :]


def _phone(dice: random.Random) -> Spelled:
    country, other, begin, n = dice.choice(
        (
            ("49", "43", "17", 10),
            ("44", "353", "7", 10),
            ("33", "32", "6", 9),
            ("48", "420", "6", 9),
            ("39", "41", "3", 10),
        )
    )
    own = begin + _digits(dice, n - len(begin))
    a, b, c = own[:3], own[3:6], own[6:]
    same = [
        f"+{country} {a} {b}{c}",
        f"+{country}{own}",
        f"00{country} {a}-{b}-{c}",
        f"+{country} {a}/{b} {c}",
        f"＋{country} {a}.{b}{c}",
        f"+{country}\u00a0{a} {b} {c}",
        f"tel:+{country}-{a}-{b}{c}",
        f"00{country}{own}",
        f"(+{country}) {a} {b}{c}",
        f"+{country}-{a}-{b}-{c}",
    ]
    if country not in ("39", "48"):  # where the zero belongs to the number, and where there is none
        same += [f"+{country} (0){a} {b}{c}", f"0{a} {b}{c}", f"0{a}/{b}-{c}", f"(0{a}) {b}{c}"]
    last = len(own) - 1
    return same, [
        f"+{country}{_turned(own, last)}",
        f"+{other} {a} {b}{c}",
        f"+{country} {a} {b}{c}-7",
        f"00{country}{_turned(own, 4)}",
        f"+{country}{own[:-1]}",
    ]


_LOCALS = ["maria.lopez", "k.tanaka", "omar77", "nina_w", "the.boss", "j-p.roux"]
_DOMAINS = ["acme.io", "mail.example.org", "uni-graz.at", "shop.co.uk"]


def _mail(dice: random.Random) -> Spelled:
    local, domain = f"{dice.choice(_LOCALS)}{_digits(dice, 3)}", dice.choice([*_DOMAINS, "gmail.com"])
    name, dotted = f"{local}@{domain}", domain.replace(".", " [dot] ")
    same = [
        name,
        name.upper(),
        f"mailto:{name}",
        f"<{name}>",
        f"{local} [at] {dotted}",
        f"{local}(at){domain}",
        f"{local.title()}@{domain}",
        f"{local}＠{domain}",
    ]
    if domain == "gmail.com":
        bare = local.replace(".", "")
        same += [f"{bare}@gmail.com", f"{bare}@googlemail.com", f"{bare[:2]}.{bare[2:]}@gmail.com"]
    return same, [
        f"{local}+shop@{domain}",
        f"{local}4@{domain}",
        f"x{local}@{domain}",
        f"{local}@{domain}.uk",
        f"{local}@mail2.{domain}",
    ]


def _grouped(text: str, *sizes: int) -> list[str]:
    groups, at, k = [], 0, 0
    while at < len(text):
        groups.append(text[at : at + sizes[k % len(sizes)]])
        at, k = at + sizes[k % len(sizes)], k + 1
    wide = "".join(chr(ord(each) + 0xFEE0) for each in text)
    return [text, text.lower(), " ".join(groups), "-".join(groups), "\u2011".join(groups), "\u00a0".join(groups), wide]


def _iban(dice: random.Random) -> Spelled:
    country, other = dice.choice((("DE", "AT"), ("PL", "DE"), ("CH", "LI")))
    own = country + _digits(dice, 20)
    last = len(own) - 1
    return _grouped(own, 4), [
        _turned(own, last),
        other + own[2:],
        own + "0",
        own[:-1],
        " ".join(_grouped(_turned(own, 9), 4)[2].split()),
    ]


def _card(dice: random.Random) -> Spelled:
    own = "4" + _digits(dice, 15)
    return [*_grouped(own, 4), *_grouped(own, 4, 6, 6)[2:4]], [
        _turned(own, 15),
        own[:-1],
        own + "7",
        _grouped(_turned(own, 3), 4)[2],
    ]


def _plate(dice: random.Random) -> Spelled:
    a, b, n = dice.choice(("B", "HH", "M", "KA")), "".join(dice.choice("ABCDXYZ") for _ in range(2)), _digits(dice, 4)
    same = [
        f"{a}-{b} {n}",
        f"{a} {b} {n}",
        f"{a}-{b}-{n}",
        f"{a.lower()}-{b.lower()} {n}",
        f"{a}{b}{n}",
        f"{a}–{b} {n}",
        f"{a} {b}{n}",
    ]
    return same, [
        f"{a}{b[0]}-{b[1]} {n}",
        f"{a}-{b} {_turned(n, 3)}",
        f"{a}-{b} {n}E",
        f"{a}-{b} {n}5",
        f"{a}-{b[0]} {n}",
    ]


def _order(dice: random.Random) -> Spelled:
    head, year, n = dice.choice(("INV", "ORD", "TKT", "CASE")), _digits(dice, 4), _digits(dice, 3)
    same = [
        f"{head}-{year}-{n}",
        f"{head} {year}-{n}",
        f"{head.lower()}-{year}-{n}",
        f"{head}/{year}/{n}",
        f"{head}{year}-{n}",
        f"{head}\u2011{year}\u2011{n}",
    ]
    return same, [
        f"{head}-{year}-{_turned(n, 2)}",
        f"{head}-{year[:3]}-{year[3]}{n}",
        f"{head}-{year}-{n}-B",
        f"X{head}-{year}-{n}",
        f"{head}-{year}-{n}1",
    ]


def _hex(dice: random.Random) -> Spelled:
    own = "".join(dice.choice("0123456789abcdef") for _ in range(10)) + dice.choice("abcdef") + "3"
    pairs, fours = [own[k : k + 2] for k in range(0, 12, 2)], [own[k : k + 4] for k in range(0, 12, 4)]
    same = [":".join(pairs), ":".join(pairs).upper(), "-".join(pairs), ".".join(fours), own, own.upper(), f"0x{own}"]
    other = own[:-1] + "4"
    return same, [":".join(other[k : k + 2] for k in range(0, 12, 2)), ":".join([*pairs, "00"]), f"0x{other}", own[:-2]]


def _uuid(dice: random.Random) -> Spelled:
    own, other = (str(uuid.UUID(int=dice.getrandbits(128), version=4)) for _ in range(2))
    return [own, own.upper(), own.replace("-", ""), f"{{{own}}}", f"urn:uuid:{own}"], [
        other,
        own[:-1] + ("0" if own[-1] != "0" else "1"),
        own + "0",
    ]


def _address(dice: random.Random) -> Spelled:
    parts = [f"{dice.randrange(1, 0xFFFF):x}" for _ in range(2)]
    same = [
        f"2001:db8:{parts[0]}::{parts[1]}",
        f"2001:0DB8:{parts[0].upper()}:0:0:0:0:{parts[1]}",
        f"2001:db8:{parts[0]}:0000::{parts[1].zfill(4)}",
    ]
    return same, [
        f"2001:db8:{parts[0]}::1:{parts[1]}",
        f"2001:db9:{parts[0]}::{parts[1]}",
        f"2001:db8::{parts[0]}:{parts[1]}",
    ]


_FIRST = [
    "José",
    "Zoë",
    "Jürgen",
    "André",
    "Søren",
    "Łukasz",
    "Núria",
    "Žofia",
    "François",
    "Jean-Luc",
    "Ana María",
    "Chloé",
]
_LAST = [
    "García",
    "Müller",
    "Nørgaard",
    "Šimić",
    "Gonçalves",
    "O'Brien",
    "Björklund",
    "Peña",
    "Dvořák",
    "Lefèvre",
    "Ångström",
]


def _marked(dice: random.Random) -> Spelled:
    import unicodedata

    first, last = (
        dice.choice(_FIRST),
        f"{dice.choice(_LAST)}{dice.choice(('', '-Roth', '-Kern', ' Vidal', ' Castell'))}",
    )
    own = f"{first} {last}"
    apart, typed = unicodedata.normalize("NFD", own), own.replace("'", "’")
    same = [
        own,
        own.upper(),
        own.replace(" ", "\u00a0"),
        apart,
        typed,
        anyascii(own),
        own.replace("-", " "),
        own.replace("-", "\u2011"),
    ]
    umlauts = str.maketrans({"ü": "ue", "ö": "oe", "ø": "oe", "å": "aa", "Å": "Aa"})
    same.append(own.translate(umlauts))
    return list(dict.fromkeys(same)), [f"{first} {last}ovic", f"{first}s {last}", f"{first} Quintero", f"Ulla {last}a"]


IDENTIFIERS: dict[str, Callable[[random.Random], Spelled]] = {
    "telephone": _phone,
    "mail": _mail,
    "iban": _iban,
    "card": _card,
    "plate": _plate,
    "order": _order,
    "hexadecimal": _hex,
    "uuid": _uuid,
    "address of the network": _address,
    "name with marks": _marked,
}
_ASKED = 3
"""Any of the first spellings is asked for: with all of its marks, and with the country."""
_AROUND = [
    "Her contact is {} since spring",
    "{} was on the form",
    "please use {} next time",
    "({}) came up twice today",
    "we noted {} last week",
    "it said {} again",
    "the answer was: {}",
    "see {} for that",
    "so far only {} worked",
    "yesterday it was {}",
    '"{}" stood on the card',
]


def _spelled_memories(dice: random.Random, same: Sequence[str], near: Sequence[str]) -> list[Memory]:
    gone = [Memory(f"m{n}", dice.choice(_AROUND).format(each), None) for n, each in enumerate(same)]
    kept = [dice.choice(_AROUND).format(each) for each in near]
    return [*gone, *(Memory(f"n{n}", text, text, says=False) for n, text in enumerate(kept))]


def _spelling(dice: random.Random, number: int) -> Made:
    name = list(IDENTIFIERS)[number % len(IDENTIFIERS)]
    same, near = IDENTIFIERS[name](dice)
    return name, dice.choice(same[:_ASKED]), _spelled_memories(dice, same, near), same


# Names in two scripts, and what sentences and relationships say to be the same.

_CYRILLIC = (
    ["Екатерина", "Алексей", "Марина", "Дмитрий", "Ольга", "Борис", "Вера", "Игорь"],
    ["Иванов", "Петров", "Смирнов", "Кузнецов", "Попов", "Лебедев", "Волков"],
)
_GREEK = (["Μαρία", "Νίκος", "Ελένη", "Κώστας", "Δήμητρα"], ["Παπαδάκης", "Νικολάου", "Γεωργίου", "Αντωνίου"])
_CHINESE = (["王", "李", "张", "刘", "陈"], ["伟", "芳", "敏", "静", "强", "磊"])


def _scripts(dice: random.Random) -> Spelled:
    firsts, lasts = dice.choice((_CYRILLIC, _GREEK, _CHINESE))
    first, last = dice.choice(firsts), dice.choice(lasts)
    gap = "" if firsts is _CHINESE[0] else " "
    own = f"{first}{gap}{last}"
    latin = anyascii(own) if gap else f"{anyascii(first)} {anyascii(last)}"
    same = [own, latin, latin.upper(), own.upper(), latin.replace(" ", "\u00a0")]
    other = dice.choice([each for each in lasts if each != last])
    near = [
        f"{first}{gap}{other}",
        f"{latin}ova",
        f"{latin.split()[0]} Quintero",
        f"{own}{'ский' if firsts is _CYRILLIC[0] else 'xyz'}" if gap else f"{firsts[firsts.index(first) - 1]}{last}",
    ]
    return list(dict.fromkeys(same)), near


_ALIASES = ["Kat", "Mimi", "Boss", "Ace", "Duke", "Lulu", "Tex", "Skye", "Wolf", "Ninja", "Bee", "Fox"]
_SURNAMES = ["Marlow", "Quill", "Vance", "Thorne", "Abara", "Keller", "Ostrov", "Lindqvist", "Moreau"]
_TELLING = [
    "{a}, also known as {b}, called today",
    "{a} is better known as {b}.",
    "{a} (a.k.a. {b}) was there",
    "{a} goes by {b}.",
    "{b} is short for {a}.",
    "{a} and {b} are the same person.",
    "{b} is a nickname of {a}.",
    "My friend {a}, alias {b}, moved house",
    "{a} is called {b} by her friends.",
    "{a}'s nickname is {b}.",
    "{b}, whose real name is {a}, paints",
    "{a} changed her name to {b} in May",
    "{b} is the same person as {a}.",
    "{a} is {b}'s real name.",
    "{a} = {b}",
    "{a} aka {b}",
    "{a} is also called {b}.",
    "{a} alias {b} ist heute da",
    "{a}, auch bekannt als {b}, rief an",
    "{a} und {b} sind dieselbe Person.",
]
_TELLING_NUMBERS = [
    "{a} is the same number as {b}.",
    "{a} (same number, written {b})",
    "{a}, also written {b}, is on file",
    "{a} and {b} are the same number.",
    "{b} is another spelling of {a}.",
    "{a} was also recorded as {b}.",
    "{a} is identical to {b}.",
    "{a} = {b}",
    "{a} refers to the same order as {b}.",
    "{a} ist dieselbe Nummer wie {b}.",
]
_APART = [
    "{a} is not the same as {b}.",
    "{a} has the same car as {b}.",
    "{a} met {b}.",
    "{a} wrote about {b}",
    "{a} and {b} are friends.",
]


def _same(dice: random.Random, number: int) -> Made:
    shape = ("another script", "sentence", "sentence, number", "SAME_AS")[number % 4]
    if shape == "another script":
        same, near = _scripts(dice)
        return shape, dice.choice(same[:2]), _spelled_memories(dice, same, near), same
    a = f"{dice.choice(FIRST_NAMES)} {dice.choice(_SURNAMES)}"
    b = f"{dice.choice(_ALIASES)} {dice.choice(_SURNAMES)}"
    other = f"{dice.choice(FIRST_NAMES)} {dice.choice(_SURNAMES)}sen"
    telling, apart = dice.choice(_TELLING), dice.choice(_APART)
    if shape == "sentence, number":
        a, b, other = (f"{dice.choice('KLMNP')}{_digits(dice, 3)}-{_digits(dice, 4)}" for _ in range(3))
        telling, apart = (
            dice.choice(_TELLING_NUMBERS),
            dice.choice(("{a} is not the same as {b}.", "{a} came before {b}")),
        )
    asked, told = dice.sample((a, b), 2)
    texts = [dice.choice(_AROUND).format(each) for each in (a, a, b, b, b)]
    memories = [Memory(f"m{n}", text, None) for n, text in enumerate(texts)]
    kept = [
        dice.choice(_AROUND).format(each)
        for each in (other, f"{told}sen" if shape != "sentence, number" else f"{told}7")
    ]
    memories += [Memory(f"n{n}", text, text, says=False) for n, text in enumerate(kept)]
    if shape == "SAME_AS":
        memories += [
            Memory("p1", f"{a} is on the board", None, properties={"name": a}, kind="Person", same=("p2",)),
            Memory("p2", f"{b} is a painter", None, properties={"name": b}, kind="Person"),
        ]
    else:
        memories.append(Memory("t", telling.format(a=a, b=b), None))
    # Of what says that two are apart the other stays, and its memory goes with the one it names.
    memories.append(Memory("apart", apart.format(a=told, b=other), None))
    return f"{shape}: {telling if shape != 'SAME_AS' else ''}".rstrip(": "), asked, memories, [a, b]


FIRST_NAMES = ["Nadia", "Tomas", "Ingrid", "Paolo", "Mei", "Oscar", "Priya", "Emeka", "Ruth", "Sven"]


def _property(dice: random.Random, number: int) -> Made:
    """It stands in other properties than the content, alone, with more, and in lists."""
    template, fillers = _PREDICATES[number % len(_PREDICATES)]
    wanted = dice.choice(fillers)
    memories = []
    for n in range(_OF_ONE):
        subject, b = dice.choice(SUBJECTS), _predicate(dice, wanted)
        content, full, kept = (
            f"Entry {number}-{n}: {_inner(subject)} {b}.",
            f"{subject} {template.format(wanted)}.",
            f"{subject} {b}.",
        )
        near = f"{wanted.split()[-1]}ovic"
        given, then = dice.choice(
            (
                ({"title": full}, {"title": None}),
                ({"title": f"{full} {kept}"}, {"title": kept}),
                ({"tags": [wanted, near, "misc"]}, {"tags": [near, "misc"]}),
                ({"notes": [full, kept]}, {"notes": [kept]}),
                ({"author": wanted, "topic": near}, {"author": None, "topic": near}),
                ({"title": wanted.upper(), "tags": ["one", wanted]}, {"title": None, "tags": ["one"]}),
            )
        )
        memories.append(Memory(f"m{n}", content, content, properties=given, then=then))
    return template, wanted, memories, [wanted]


_FILLERS = [
    "The keeper of the {t} painted stair number {n} in the old tower.",
    "Afterwards the {t} was quiet for {n} days.",
    "Visitors number {n} asked for the way to the {t}.",
    "A report of {n} pages about the {t} was filed.",
]


def _derived(dice: random.Random, number: int) -> Made:
    """Long contexts, of which summaries and keywords are made, or sources, of which insights are, too. Each says it twice."""
    template, fillers = _PREDICATES[number % len(_PREDICATES)]
    wanted, memories = dice.choice(fillers), []
    context = number % 2 == 0
    for n in range(_OF_ONE):
        thing, subject = (
            dice.choice(("lighthouse", "harbour", "museum", "station", "garden")),
            dice.choice(SUBJECTS[:12]),
        )
        size = dice.randrange(34, 46) if context else 5
        said = [dice.choice(_FILLERS).format(t=thing, n=dice.randrange(2, 99)) for _ in range(size)]
        said += [] if context else [f"Anna painted picture {n} again."]
        says = [
            f"{subject} {template.format(wanted)}.",
            f"Of all the {thing}s, {_inner(subject)} {template.format(wanted)}.",
        ]
        text = list(said)
        for one in says:
            text.insert(dice.randrange(len(text)), one)
        after = " ".join(each for each in text if each not in says)
        kind = "CompressedContext" if context else "Source"
        memories.append(Memory(f"c{n}", " ".join(text), after, kind=kind, mentions=() if context else ("anna",)))
    if not context:
        memories.append(Memory("anna", "Anna", "Anna", says=False, properties={"name": "Anna"}, kind="Person"))
    return "context" if context else "source", wanted, memories, [wanted]


_MAKERS: dict[str, Callable[[random.Random, int], Made]] = {
    "clause": _clause,
    "list item": _list_item,
    "spelling": _spelling,
    "same": _same,
    "property": _property,
    "derived": _derived,
}


def all_groups(cases: int, seed: int = 1, of: Sequence[str] = CLASSES) -> Iterator[Group]:
    """Of each class at least so many."""
    for each in of:
        yield from groups(each, cases, seed)
