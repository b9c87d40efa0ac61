"""What can stand in a fact's places: how a value is drawn, in which ways it is written, and how it can be changed.

A value is a *key* (its meaning); its *forms* are texts that mean the same; a *change* makes a key with another meaning, by class of
difference. All draws come from the `random.Random` that is handed in.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.merge_pairs.pair import held_out

Key = Any
"""A text, a number or a tuple of such: what can be compared."""
Change = Callable[[Key, Random, bool], Key]
Forms = tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """``draw(dice, unseen)``, ``forms(key)``, ``changes[class](key, dice, unseen)``.

    ``begins``: may begin a sentence with a capital letter; ``any_case``: means the same in capitals and in small letters.
    """

    draw: Callable[[Random, bool], Key]
    forms: Callable[[Key], Forms]
    changes: Mapping[str, Change] = field(default_factory=dict)
    begins: bool = True
    any_case: bool = True


def listed(kind: str, words: str, *, closed: bool = False, begins: bool = True, any_case: bool = True) -> Kind:
    """One of the ``words``, which `,` separates; `|` separates ways to write one. Of an open list a third is kept unseen."""
    entries = tuple(tuple(form.strip() for form in word.split("|")) for word in words.split(","))
    by_key = {entry[0]: entry for entry in entries}
    if not all(form for entry in entries for form in entry) or len(by_key) < len(entries):
        raise ValueError(f"an empty or doubled word in {words!r}")
    early = [key for key in by_key if closed or not held_out(f"word/{key}")]

    def draw(dice: Random, unseen: bool) -> Key:
        return dice.choice(list(by_key) if unseen else early)

    return Kind(draw, lambda key: by_key[key], {kind: other(draw)}, begins, any_case)


def numbers(least: int, most: int, forms: Callable[[int], Forms], kind: str = "number") -> Kind:
    """A whole number; changed to any other, or to one with a digit more or less."""

    def draw(dice: Random, unseen: bool) -> Key:
        return dice.randint(least, most)

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        near = [n for n in (key - 1, key + 1, key * 10, key // 10) if n != key and least <= n <= most]
        return dice.choice(near) if near and dice.random() < 0.5 else other(draw)(key, dice, unseen)

    return Kind(draw, forms, {kind: change})


def decimals(forms: Callable[[float], Forms], choices: Sequence[float], most: float = 100) -> Kind:
    """A number with a decimal point; changed to another one, or by moving the point (not above ``most``)."""

    def draw(dice: Random, unseen: bool) -> Key:
        return dice.choice(choices)

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        moved = [n for n in (round(key * 10, 4), round(key / 10, 4)) if n <= most]
        return dice.choice(moved) if dice.random() < 0.5 else other(draw)(key, dice, unseen)

    return Kind(draw, forms, {"number": change})


def signed(forms: Callable[[int], Forms], most: int = 40) -> Kind:
    """A number that is not 0; changed in its sign or its size."""

    def draw(dice: Random, unseen: bool) -> Key:
        return dice.randint(2, most) * dice.choice((1, -1))

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        return -key if dice.random() < 0.6 else other(draw)(key, dice, unseen)

    return Kind(draw, forms, {"number": change})


def measured(amount: Kind, units: Sequence[str], forms: Callable[[Any, str], Forms], kind: str = "unit") -> Kind:
    """A number with a unit (or a currency): either can be changed."""

    def draw(dice: Random, unseen: bool) -> Key:
        return (amount.draw(dice, unseen), dice.choice(units))

    def other_number(key: Key, dice: Random, unseen: bool) -> Key:
        return (amount.changes["number"](key[0], dice, unseen), key[1])

    def other_unit(key: Key, dice: Random, unseen: bool) -> Key:
        return (key[0], dice.choice([unit for unit in units if unit != key[1]]))

    changes: dict[str, Change] = {"number": other_number}
    if len(units) > 1:
        changes[kind] = other_unit
    return Kind(draw, lambda key: forms(*key), changes, any_case=False)


def with_unit(n: int, written: Forms, number_words: Mapping[int, str]) -> Forms:
    """`5 km`, `5 kilometers`, `five kilometers`: as many forms for every unit, so that two units are written in the same way."""
    filled = [written[min(place, len(written) - 1)] for place in range(3)]
    longest = max(written, key=len)
    return (*(f"{n} {form}" for form in filled), f"{number_words.get(n, n)} {longest}")


def dates(forms: Callable[[datetime.date], Forms]) -> Kind:
    """A day of the years 2019 to 2027; changed in its day, its month or its year."""

    def draw(dice: Random, unseen: bool) -> Key:
        return datetime.date(dice.randint(2019, 2027), dice.randint(1, 12), dice.randint(1, 28))

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        part, range_ = dice.choice((("day", (1, 28)), ("month", (1, 12)), ("year", (2019, 2027))))
        return key.replace(**{part: _not(getattr(key, part), *range_, dice)})

    return Kind(draw, forms, {"date": change})


def days(forms: Callable[[datetime.date], Forms]) -> Kind:
    """A day without its year; changed in its day or its month."""

    def draw(dice: Random, unseen: bool) -> Key:
        return datetime.date(2024, dice.randint(1, 12), dice.randint(1, 28))

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        part, range_ = dice.choice((("day", (1, 28)), ("month", (1, 12))))
        return key.replace(**{part: _not(getattr(key, part), *range_, dice)})

    return Kind(draw, forms, {"date": change})


def times(forms: Callable[[int, int], Forms]) -> Kind:
    """A time of the day, 6:00 to 21:45, not at 12 ("12 am" is misread); changed by half a day, in its hour or its minutes."""

    def draw(dice: Random, unseen: bool) -> Key:
        hour = dice.choice([hour for hour in range(6, 22) if hour != 12])
        return (hour, dice.choice((0, 0, 0, 15, 30, 45)))

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        hour, minute = key
        half_a_day = hour + 12 if hour < 12 else hour - 12
        if dice.random() < 0.3 and half_a_day >= 6:
            return (half_a_day, minute)
        if minute and dice.random() < 0.4:
            return (hour, dice.choice([m for m in (0, 15, 30, 45) if m != minute]))
        return (dice.choice([h for h in range(6, 22) if h not in (12, hour)]), minute)

    return Kind(draw, lambda key: forms(*key), {"time": change})


def versions(prefixes: Forms = ("", "v")) -> Kind:
    """Two or three numbers; changed in one of them, or by leaving a point out (1.12, 11.2, 1.1.2)."""

    def draw(dice: Random, unseen: bool) -> Key:
        return (
            dice.randint(1, 9),
            dice.randint(1, 19),
            *((dice.randint(1, 12),) if dice.random() < 0.6 else ()),
        )

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        if dice.random() < 0.25 and key[1] > 9:
            tens, ones = divmod(key[1], 10)
            return (key[0], tens, ones) if len(key) == 2 else (key[0] * 10 + tens, ones, *key[2:])
        place = dice.randrange(len(key))
        return (*key[:place], _not(key[place], 1, 19, dice), *key[place + 1 :])

    def forms(key: Key) -> Forms:
        return tuple(prefix + ".".join(map(str, key)) for prefix in prefixes)

    return Kind(draw, forms, {"version": change}, begins=False)


def coded(
    draw: Callable[[Random], str],
    marks: Callable[[str, Random], str] | None = None,
    forms: Callable[[str], Forms] | None = None,
) -> Kind:
    """An identifier: changed in one digit or letter or in whole; ``marks`` changes nothing but its marks or its case."""

    def drawn(dice: Random, unseen: bool) -> Key:
        return draw(dice)

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        places = [place for place, character in enumerate(key) if character.isdigit()]
        if places and dice.random() < 0.7:
            place = places[-1] if dice.random() < 0.5 else dice.choice(places)
            return f"{key[:place]}{_not(int(key[place]), 1, 9, dice)}{key[place + 1 :]}"
        return other(drawn)(key, dice, unseen)

    changes: dict[str, Change] = {"identifier": change}
    if marks is not None:
        only = marks
        changes["identifier marks"] = lambda key, dice, unseen: only(key, dice)
    return Kind(drawn, forms or (lambda key: (key,)), changes, begins=False, any_case=False)


def emails(names: Sequence[str]) -> Kind:
    """`first.last@domain`; the domains are those that RFC 2606 keeps for examples, and invented ones under `.example`."""

    def draw(dice: Random) -> str:
        first, last = dice.sample(list(names), 2)
        number = str(dice.randint(2, 99)) if dice.random() < 0.4 else ""
        return (
            f"{first}.{last}{number}@{dice.choice(('example.com', 'example.org', 'norvia.example', 'tessera.example'))}"
        )

    def marks(key: str, dice: Random) -> str:
        return key.replace(".", dice.choice("-_"), 1)

    return coded(draw, marks)


def paths() -> Kind:
    """A file's path on a server of Linux, where `Report` and `report` are two files."""
    folders = ("srv", "etc", "opt", "data", "home", "var")
    parts = ("app-main", "data-old", "web-shop", "log-store", "user-files", "mail-out", "job-queue")
    names = ("config.yaml", "report.csv", "server.log", "main.conf", "users.json", "notes.txt", "run2.sh", "part7.db")

    def draw(dice: Random) -> str:
        return f"/{dice.choice(folders)}/{dice.choice(parts)}/{dice.choice(names)}"

    def marks(key: str, dice: Random) -> str:
        if dice.random() < 0.5:
            return key.replace("-", "_")
        head, _, name = key.rpartition("/")
        return f"{head}/{name[0].upper()}{name[1:]}"

    return coded(draw, marks)


def hosts() -> Kind:
    """The name of a machine."""

    def draw(dice: Random) -> str:
        return f"{dice.choice(('web', 'db', 'cache', 'mail', 'build', 'edge', 'log'))}-{dice.randint(1, 48):02}"

    return coded(draw, lambda key, dice: key.replace("-", dice.choice("_.")))


def flags() -> Kind:
    """The name of a switch in a program."""
    first, last = (
        ("new", "fast", "beta", "dark", "auto", "lazy"),
        ("checkout", "search", "export", "mode", "login", "sync"),
    )

    def draw(dice: Random) -> str:
        return f"{dice.choice(first)}_{dice.choice(last)}"

    return coded(draw, lambda key, dice: key.replace("_", dice.choice("-.")))


def pattern(shape: str) -> Kind:
    """An identifier of a given shape: `#` is a digit, `@` a capital letter, `x` a hexadecimal digit."""

    def draw(dice: Random) -> str:
        made = {"#": "123456789", "@": "ABCDEFGHKLMNPRST", "x": "0123456789abcdef"}
        return "".join(dice.choice(made[character]) if character in made else character for character in shape)

    return coded(draw)


def tickets() -> Kind:
    """A ticket's number as trackers write it."""
    return coded(lambda dice: f"{dice.choice(('OPS', 'WEB', 'PAY', 'CRM', 'APP'))}-{dice.randint(100, 9_899)}")


def addresses() -> Kind:
    """An address of the private network 10.0.0.0/8 (RFC 1918)."""
    return coded(lambda dice: f"10.{dice.randint(1, 99)}.{dice.randint(1, 99)}.{dice.randint(2, 99)}")


def phones(country: str) -> Kind:
    """A phone number of the ranges that are kept for films, in the ways people write it."""

    def draw(dice: Random) -> str:
        return f"{country} {dice.randint(211, 879)} 555 01{dice.randint(10, 99)}"

    def forms(key: str) -> Forms:
        code, area, one, two = key.split()
        return key, f"{code} ({area}) {one}-{two}", f"{code}-{area}-{one}-{two}"

    return coded(draw, forms=forms)


def _not(given: int, least: int, most: int, dice: Random) -> int:
    return dice.choice([n for n in range(least, most + 1) if n != given])


def other(draw: Callable[[Random, bool], Key]) -> Change:
    """The change to any other value that can be drawn."""

    def change(key: Key, dice: Random, unseen: bool) -> Key:
        while True:
            found = draw(dice, unseen)
            if found != key:
                return found

    return change
