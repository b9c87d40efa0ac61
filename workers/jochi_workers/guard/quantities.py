"""Numbers with what they count: units, money, and bare ones."""

from __future__ import annotations

from jochi_workers.guard.items import Item
from jochi_workers.guard.lists import Language, currencies, units
from jochi_workers.guard.numbers import amount, digits, power, spelt
from jochi_workers.guard.scan import Token

Match = tuple[Item, int]


def quantity(tokens: list[Token], place: int, language: Language) -> Match | None:
    """The number that begins here, with its sign and unit, and how many tokens it takes."""
    start = place
    money: frozenset[str] = frozenset()
    if tokens[place].kind in ("word", "symbol") and place + 1 < len(tokens):
        money = _unit(tokens, place, language)[0] & currencies()
        if money and _counts(tokens[place + 1]):
            place += 1
        else:
            money = frozenset()
    sign = ""
    if language in ("en", "de") and tokens[place].text.casefold() in ("minus", "plus") and place + 1 < len(tokens):
        sign = "-" if tokens[place].text.casefold() == "minus" else ""
        if _counts(tokens[place + 1]) or spelt(tokens, place + 1, language)[1]:
            place += 1
        else:
            return None
    literal, used = _number(tokens, place, language)
    if not used:
        return None
    literal = sign + literal
    place += used
    readings, length = (money, 0) if money else _unit(tokens, place, language)
    text = " ".join(token.text for token in tokens[start : place + length])
    if readings:
        return Item("quantity", amount(literal), text, "", readings), place + length - start
    return Item("number", literal, text), place - start


def _counts(token: Token) -> bool:
    return token.kind == "number"


def _number(tokens: list[Token], place: int, language: Language) -> tuple[str, int]:
    token = tokens[place]
    if token.kind == "number":
        literal, used = digits(token.text, language), 1
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        times = power(following.text, language) if following else 0
        if times >= 1000 or (times == 100 and language == "en"):
            whole, _, rest = literal.partition(".")
            if whole.lstrip("-").isdecimal() and len(whole) < 20 and len(rest) < 10:
                scaled = int(whole + rest) * times
                if scaled % 10 ** len(rest) == 0:
                    return str(scaled // 10 ** len(rest)), 2
        return literal, used
    if token.kind == "word":
        value, used = spelt(tokens, place, language)
        return str(value), used
    return "", 0


def _unit(tokens: list[Token], place: int, language: Language) -> tuple[frozenset[str], int]:
    """What the name that begins here may stand for, and how many tokens it has; the longest name."""
    exact, folded, most = units(language)
    words: list[str] = []
    found: tuple[frozenset[str], int] = (frozenset(), 0)
    for length in range(1, most + 1):
        if place + length > len(tokens):
            break
        token = tokens[place + length - 1]
        if token.kind not in ("word", "symbol", "mark", "identifier"):
            break
        if token.kind == "mark" and token.text != "/":
            break
        words.append(token.text)
        for name in (" ".join(words), "".join(words)) if length > 1 else (words[0],):
            keys = exact.get(name) or folded.get(name.casefold())
            if keys:
                found = (keys, length)
    return found
