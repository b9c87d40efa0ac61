"""Dates, months, weekdays and times of day."""

from __future__ import annotations

import re
from functools import cache

from jochi_workers.guard.items import Item
from jochi_workers.guard.lists import LANGUAGES, WORDED, Language, grammar, lines, numbers
from jochi_workers.guard.numbers import spelt
from jochi_workers.guard.scan import Token

Match = tuple[Item, int]
_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2})(?::(\d{2}))?)?([ap])?\.?m?", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_BEHIND_A_YEAR = frozenset(
    ["and", "or", "to", "the", "a", "in", "at", "on", "by", "with", "for", "from", "und", "oder", "bis", "mit", "der"]
)
_DAY_BEHIND = frozenset(["am", "vom", "zum", "bis", "ab", "seit", "dem", "den", "der"])


@cache
def _names(language: Language) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Months, weekdays and times by name."""
    months, weekdays = dict(numbers(language, "months")), dict(numbers(language, "weekdays"))
    times: dict[str, int] = {}
    for key, words in lines(language, "moments_more") if language in LANGUAGES else ():
        kinds, number = (months, key) if key.isdigit() else ({"d": weekdays, "t": times}[key[0]], key[1:])
        kinds.update((word, int(number)) for word in words)
    return months, weekdays, times


def month_of(token: Token, language: Language) -> int | None:
    """The month that this word may name."""
    return _names(language)[0].get(token.text.casefold()) if token.kind == "word" else None


def moment(tokens: list[Token], place: int, language: Language) -> Match | None:
    """The date, month, weekday or time that begins here, and how many tokens it takes."""
    kind, text = tokens[place]
    if kind == "day":
        return Item("date", _day(text, language), text), 1
    return (
        _bare_year(tokens, place, language)
        or _time(tokens, place, language)
        or _date(tokens, place, language)
        or (_named(tokens, place, language) if kind == "word" else None)
    )


def _bare_year(tokens: list[Token], place: int, language: Language) -> Match | None:
    """`2018` behind `in` or `since`, where no noun follows that it could count."""
    if tokens[place].kind != "number" or not _YEAR.fullmatch(tokens[place].text):
        return None
    before, behind = _at(tokens, place - 1).text.casefold(), _at(tokens, place + 1)
    counts = behind.kind in ("word", "symbol") and behind.text.islower() and behind.text not in _BEHIND_A_YEAR
    if before not in grammar(language, "yeared_by") or counts:
        return None
    return Item("date", tokens[place].text, tokens[place].text), 1


def _at(tokens: list[Token], place: int) -> Token:
    return tokens[place] if 0 <= place < len(tokens) else Token("", "")


def _day(text: str, language: Language) -> str:
    if re.match(r"\d{4}[-/]", text):
        year, month, day = (int(part) for part in re.split("[-/]", text))
    elif language in WORDED:
        day, month, year = (int(part) for part in re.split("[-/.]", text))
    elif "." in text:
        day, month, year = (int(part) for part in text.split("."))
    else:
        month, day, year = (int(part) for part in re.split("[-/]", text))
        if month > 12:
            month, day = day, month
        elif day <= 12 and day != month:
            return f"written {text}"  # 3/4/2025 is in March or in April
    if year < 100:
        year += 2000 if year < 70 else 1900
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return f"written {text}"
    return f"{year:04}-{month:02}-{day:02}"


def _time(tokens: list[Token], place: int, language: Language) -> Match | None:
    kind, text = tokens[place]
    if language in WORDED and (hour := _hour(tokens, place, language)):
        return hour
    if kind not in ("clock", "number"):
        return None
    parts = _CLOCK.fullmatch(text)
    if not parts:
        return None
    if kind == "number" and parts[2] and _at(tokens, place - 1).text.casefold() in grammar(language, "timed_by"):
        kind = "clock"
    used = 1
    half = (parts[4] or "").casefold()
    following = _at(tokens, place + 1)
    folded = following.text.casefold()
    if not half and folded in ("am", "pm", "a.m", "p.m") and language == "en":
        half, used = folded[0], 2
        abbreviated, behind = folded.endswith(".m"), _at(tokens, place + 3)
        if abbreviated and _at(tokens, place + 2).text == "." and behind.kind == "word" and behind.text.islower():
            used = 3  # the point is no full stop
    elif not half and folded in ("uhr", "uur"):
        used = 2
        minutes = _at(tokens, place + 2)
        if parts[2] is None and minutes.kind == "number" and re.fullmatch(r"[0-5]\d", minutes.text):
            return _clock(int(parts[1]), int(minutes.text), "", "", text), 3
    elif folded == "o'clock":
        used = 2
    elif kind == "number":
        return None
    return _clock(
        int(parts[1]), int(parts[2] or 0), half, parts[3] or "", text, said=language != "en" or used == 2
    ), used


def _hour(tokens: list[Token], place: int, language: Language) -> Match | None:
    """`las 3 de la tarde`, `alle 15`, `à 15 heures`, `tres de la tarde`; not `à 15 heures de Paris`."""
    kind, text = tokens[place]
    parts = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?", text) if kind in ("number", "clock") else None
    value, used = (int(parts[1]), 1) if parts else spelt(tokens, place, language) if kind == "word" else (0, 0)
    if not used or value > 24:
        return None
    minute = int(parts[2] or 0) if parts else 0
    timed = _at(tokens, place - 1).text.casefold() in grammar(language, "timed_by")
    following = _at(tokens, place + used)
    unit = following.kind == "word" and following.text.casefold() in grammar(language, "hour_word")
    end = place + used + unit
    for half in ("half_a", "half_p", "half_night"):
        for words in grammar(language, half):
            split = words.split()
            if [token.text.casefold() for token in tokens[end : end + len(split)]] == split and 1 <= value <= 12:
                if half == "half_night" and not 7 <= value <= 11:
                    return None
                later = 12 if half != "half_a" and value < 12 else -12 if half == "half_a" and value == 12 else 0
                return _clock(value + later, minute, "", "", text), end + len(split) - place
    behind = _at(tokens, end)
    if kind == "clock" or (not timed or behind.text.casefold() == "de" or behind.kind not in ("", "mark", "word")):
        return (_clock(value, minute, "", "", text), end - place) if kind == "clock" and unit else None
    alone = behind.kind != "word" or behind.text.casefold() in grammar(language, "preposition") | grammar(
        language, "and"
    )
    return (_clock(value, 0, "", "", text), end - place) if unit or (alone and parts) else None


def _clock(hour: int, minute: int, half: str, second: str, text: str, *, said: bool = True) -> Item:
    if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return Item("time", f"written {text}", text)
    # 7:15 without am or pm may be either.
    form = "" if half or said or hour > 12 else "either half"
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    key = f"{hour % 24:02}:{minute:02}" + (f":{second}" if second and int(second) else "")
    return Item("time", key, text, form)


def _date(tokens: list[Token], place: int, language: Language) -> Match | None:
    """`March 5, 2025`, `5 March 2025`, `the 5th of March`, `March 2025`, `5. März 2025`, `5.3.`."""
    months = _names(language)[0]
    first = tokens[place]
    day = _day_number(first)
    if day:
        if language == "de" and (found := re.fullmatch(r"(\d{1,2})\.(\d{1,2})", first.text)):
            before, behind = _at(tokens, place - 1), _at(tokens, place + 1)
            pointed = behind.text == "."
            if before.text.casefold() in _DAY_BEHIND and int(found[2]) <= 12 and behind.text.casefold() != "uhr":
                return Item("date", f"-----{int(found[2]):02}-{int(found[1]):02}", first.text), 2 if pointed else 1
            return None
        next_ = place + 1
        if _at(tokens, next_).text == ".":
            next_ += 1
        if _at(tokens, next_).text.casefold() in ("of", "de"):
            next_ += 1
        month = months.get(_at(tokens, next_).text.casefold()) if _at(tokens, next_).kind == "word" else None
        if month and (language != "en" or _at(tokens, next_).text[0].isupper() or month not in (3, 5)):
            next_ += 1
            if _at(tokens, next_).text == "." and _at(tokens, next_ + 1).kind == "number":
                next_ += 1
            if language in WORDED and _at(tokens, next_).text.casefold() in ("de", "del"):
                next_ += _year(tokens, next_ + 1, comma=False)[1] > next_ + 1
            year, next_ = _year(tokens, next_)
            return Item("date", f"{year}-{month:02}-{day:02}", first.text), next_ - place
        return None
    month = months.get(first.text.casefold()) if first.kind == "word" else None
    if not month:
        return None
    next_ = place + 1
    if _at(tokens, next_).text == "." and _at(tokens, next_ + 1).kind in ("number", "ordinal"):
        next_ += 1
    day = _day_number(_at(tokens, next_)) if language == "en" else 0
    if day:
        year, next_ = _year(tokens, next_ + 1)
        return Item("date", f"{year}-{month:02}-{day:02}", first.text), next_ - place
    year, end = _year(tokens, next_, comma=False)
    if end > next_:
        return Item("date", f"{year}-{month:02}", first.text), end - place
    return None


def _day_number(token: Token) -> int:
    """1 to 31, or 0."""
    text = token.text.rstrip(".")
    if token.kind == "ordinal":
        text = text[:-2]
    elif token.kind != "number":
        return 0
    text = text.partition(".")[0]
    return int(text) if len(text) <= 2 and text.isdecimal() and 1 <= int(text) <= 31 else 0


def _year(tokens: list[Token], place: int, *, comma: bool = True) -> tuple[str, int]:
    """The year that stands here, behind a comma perhaps, and where it ends."""
    next_ = place + 1 if comma and _at(tokens, place).text == "," else place
    year = _at(tokens, next_)
    if year.kind == "number" and _YEAR.fullmatch(year.text):
        return year.text, next_ + 1
    return "----", place


def _named(tokens: list[Token], place: int, language: Language) -> Match | None:
    """A month, weekday or time by its name alone."""
    months, weekdays, times = _names(language)
    text = tokens[place].text
    folded = text.casefold()
    plural = ""
    if folded not in weekdays and folded.endswith("s") and folded[:-1] in weekdays and len(folded) > 6:
        folded, plural = folded[:-1], "s"
    if folded in weekdays and (
        len(folded) > 5
        or language in WORDED
        or (language == "en" and len(folded) > 2 and _abbreviated(tokens, place, text))
    ):
        return Item("weekday", f"{weekdays[folded]}{plural}", text), 1
    if (
        folded in weekdays
        and language == "de"
        and len(folded) == 2
        and text[0].isupper()
        and _at(tokens, place + 1).text == "."
    ):
        return (
            (Item("weekday", str(weekdays[folded]), text), 2)
            if folded != "so" and _at(tokens, place + 2).text
            else None
        )
    if folded in months:
        ambiguous = folded in ("may", "march", "mar", "august", "sep", "jan", "mai") or len(folded) < 4
        before = _at(tokens, place - 1).text.casefold()
        if not ambiguous or before in grammar(language, "dated_by"):
            return Item("month", f"{months[folded]:02}", text), 1
        if text[0].isupper() and folded in ("august", "mai"):
            return Item("month", f"{months[folded]:02}", text), 1
    if folded in times:
        return Item("time", f"{times[folded] // 60:02}:{times[folded] % 60:02}", text), 1
    return None


def _abbreviated(tokens: list[Token], place: int, text: str) -> bool:
    if not text[0].isupper() or text.isupper():
        return False
    if text.casefold() in ("sat", "sun"):
        return _at(tokens, place - 1).text.casefold() in ("on", "every", "each", "by", "next", "last", "until", "since")
    return True
