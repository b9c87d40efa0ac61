"""German values. Weekdays, months and number words are the closed lists of the language; currencies, units, cities, names and
products as in `english.py`; everyday nouns were picked by hand, such that they need no article and no ending."""

from __future__ import annotations

import datetime
from random import Random

from tests.merge_pairs import english, values
from tests.merge_pairs.values import Forms, Kind, listed

WEEKDAYS = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")
MONTHS = (
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
)
NUMBER_WORDS = {
    2: "zwei",
    3: "drei",
    4: "vier",
    5: "fünf",
    6: "sechs",
    7: "sieben",
    8: "acht",
    9: "neun",
    10: "zehn",
    11: "elf",
    12: "zwölf",
}
_NAMES = (
    "Anna, Maria, Laura, Julia, Sarah, Emma, Katrin, Heike, Monika, Petra, Sabine, Greta, Ingrid, "
    "Jana, Lena, Nora, Ulrike, Birgit, "
    "Claudia, Frieda, Hannah, Peter, Jürgen, Markus, David, Tom, Stefan, Thomas, Lukas, Jonas, "
    "Felix, Björn, Dieter, Ernst, Günther, "
    "Holger, Karl, Moritz, Niklas, Otto, Paul, Ralf, Sven, Uwe, Wolfgang, Emre, Aylin, Milan, Jelena, Ahmed"
)
_CITIES = (
    "Berlin, Hamburg, München, Köln, Frankfurt, Stuttgart, Leipzig, Dresden, Bremen, Hannover, "
    "Nürnberg, Wien, Graz, Linz, Zürich, "
    "Basel, Bern, Paris, London, Madrid, Rom, Prag, Warschau, Oslo, Lissabon, Kiel, Mainz, Freiburg, "
    "Ulm, Rostock, Salzburg, Würzburg"
)
_QUOTES = (
    "Der Frühling ist da, Der lange Heimweg, Gemeinsam besser, Gemacht für morgen, "
    "Ein stiller Morgen, Papierboote, Der letzte Hafen, "
    "Kleine Schritte zuerst, Nördlich von nirgendwo, Blaue Laterne, Neugierig bleiben, Offene Türen, "
    "Der gläserne Garten, "
    "In Arbeit, Zweiter Winter, Frischer Wind, Platz zum Wachsen, Silberstreif, Die Blechpfeife, Alles auf Anfang"
)
_ERRORS = (
    "Verbindung abgelehnt, Verbindung verloren, Zugriff verweigert, Datei nicht gefunden, "
    "Speicher voll, Platte voll, Token ungültig, "
    "Token abgelaufen, Zeitgrenze beim Lesen, Zeitgrenze beim Schreiben, Unbekannter Rechner, Kein Weg zum Ziel, "
    "Unerwartetes Dateiende, Dienst nicht erreichbar, Prüfsumme falsch"
)
_UNITS = {
    "km": ("km", "Kilometer"),
    "mi": ("Meilen",),
    "m": ("m", "Meter"),
    "ft": ("Fuß",),
    "kg": ("kg", "Kilogramm", "Kilo"),
    "lb": ("Pfund",),
    "mg": ("mg", "Milligramm"),
    "g": ("g", "Gramm"),
    "ml": ("ml", "Milliliter"),
    "MB": ("MB", "Megabyte"),
    "GB": ("GB", "Gigabyte"),
    "TB": ("TB", "Terabyte"),
    "ms": ("ms", "Millisekunden"),
    "s": ("Sekunden", "s"),
    "min": ("Minuten", "min"),
    "day": ("Tage",),
    "week": ("Wochen",),
    "month": ("Monate",),
}
_CURRENCIES = {
    "USD": ("{n} $", "{n} USD", "{n} Dollar"),
    "EUR": ("{n} €", "{n} EUR", "{n} Euro"),
    "GBP": ("{n} £", "{n} GBP", "{n} britische Pfund"),
    "CHF": ("{n} CHF", "CHF {n}", "{n} Franken"),
    "PLN": ("{n} PLN", "PLN {n}", "{n} Zloty"),
}


def count(n: int) -> Forms:
    """5 and fünf."""
    return (str(n), NUMBER_WORDS[n]) if n in NUMBER_WORDS else (str(n),)


def number(n: int) -> Forms:
    """1.200 and 1200."""
    return (_thousands(n), str(n)) if n > 999 else (str(n),)


def _thousands(n: int) -> str:
    return f"{n:,}".replace(",", ".")


def _comma(n: float) -> str:
    return f"{n:g}".replace(".", ",")


def _percent(n: float) -> Forms:
    return f"{_comma(n)} %", f"{_comma(n)} Prozent", f"{_comma(n)}%"


def _signed(n: int) -> Forms:
    return (f"-{-n}", f"−{-n}", f"minus {-n}") if n < 0 else (str(n), f"+{n}")


def _temperature(n: int, unit: str) -> Forms:
    word = {"C": "Celsius", "F": "Fahrenheit"}[unit]
    sign, word_of_sign = ("-", "minus ") if n < 0 else ("", "")
    return f"{sign}{abs(n)} °{unit}", f"{sign}{abs(n)}°{unit}", f"{word_of_sign}{abs(n)} Grad {word}"


def _money(n: int, currency: str) -> Forms:
    return tuple(form.format(n=_thousands(n)) for form in _CURRENCIES[currency])


def _quantity(n: int, unit: str) -> Forms:
    return values.with_unit(n, _UNITS[unit], NUMBER_WORDS)


def _date(day: datetime.date) -> Forms:
    return (
        f"{day.day}. {MONTHS[day.month - 1]} {day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{day.day}.{day.month}.{day.year}",
        day.isoformat(),
    )


def _day(day: datetime.date) -> Forms:
    return f"{day.day}. {MONTHS[day.month - 1]}", f"{day.day:02}.{day.month:02}.", f"{day.day}.{day.month}."


def _time(hour: int, minute: int) -> Forms:
    if minute:
        return f"{hour}:{minute:02} Uhr", f"{hour}.{minute:02} Uhr"
    return f"{hour} Uhr", f"{hour}:00 Uhr"


def _amount(dice: Random, unseen: bool) -> int:
    return dice.choice((40, 75, 90, 120, 250, 360, 480, 750, 900, 1_200, 2_500, 3_800, 4_500, 9_000, 12_000))


def _of(units: tuple[str, ...], least: int, most: int) -> Kind:
    return values.measured(values.numbers(least, most, count), units, _quantity)


KINDS: dict[str, Kind] = {
    **{
        same: english.KINDS[same]
        for same in (
            *(
                "petname",
                "port",
                "year",
                "version",
                "email",
                "path",
                "host",
                "flag",
                "ticket",
                "order",
                "room",
                "commit",
                "ip",
            ),
            *("company", "coding", "database", "tool"),
        )
    },
    "person": listed("name", _NAMES),
    "place": listed("place", _CITIES),
    "count": values.numbers(2, 12, count),
    "number": values.numbers(13, 9_800, number),
    "decimal": values.decimals(lambda n: (_comma(n),), english.DECIMALS),
    "percent": values.decimals(_percent, english.PERCENTAGES),
    "signed": values.signed(_signed),
    "temperature": values.measured(values.signed(lambda n: (), most=35), ("C", "F"), _temperature),
    "money": values.measured(
        Kind(_amount, lambda n: (), {"number": values.other(_amount)}), tuple(_CURRENCIES), _money, "currency"
    ),
    "distance": _of(("km", "mi"), 3, 40),
    "length": _of(("m", "ft"), 2, 40),
    "weight": _of(("kg", "lb"), 2, 30),
    "dose": _of(("mg", "g", "ml"), 2, 50),
    "size": _of(("MB", "GB", "TB"), 2, 500),
    "wait": _of(("ms", "s", "min"), 2, 90),
    "minutes": _of(("min",), 5, 90),
    "lag": _of(("ms", "s"), 2, 900),
    "span": _of(("day", "week", "month"), 2, 14),
    "date": values.dates(_date),
    "day": values.days(_day),
    "weekday": listed(
        "weekday", "Montag, Dienstag, Mittwoch, Donnerstag, Freitag, Samstag|Sonnabend, Sonntag", closed=True
    ),
    "month": listed("month", ",".join(MONTHS), closed=True),
    "time": values.times(_time),
    "phone": values.phones("+49"),
    "colour": listed("colour", "rot, blau, grün, gelb, schwarz, weiß, braun, grau", closed=True),
    "colourname": listed(
        "colour", "Rot, Blau, Grün, Gelb, Schwarz, Weiß, Braun, Grau, Lila, Rosa, Türkis", closed=True
    ),
    "quote": listed("quoted", _QUOTES, any_case=False),
    "error": listed("quoted", _ERRORS, any_case=False),
    "food": listed(
        "value",
        "Pizza, Lasagne, Pfannkuchen, Reisnudeln, Bratkartoffeln, Pilze, Linsen, Maultaschen, Klöße, "
        "Tomaten, Erbsen, Bohnen, Fischstäbchen",
    ),
    "drink": listed(
        "value",
        "grünen Tee, schwarzen Kaffee, Orangensaft, heiße Schokolade, Sprudelwasser, Hafermilch, "
        "Limonade, Kakao, Apfelsaft, Pfefferminztee",
    ),
    "allergen": listed(
        "value",
        "Erdnüsse, Schalentiere, Pollen, Gluten, Soja, Eier, Wolle, Katzenhaare, Penicillin, Sesam, Latex, Hausstaub",
    ),
    "instrument": listed(
        "value",
        "Klavier, Geige, Cello, Gitarre, Querflöte, Trompete, Schlagzeug, Harfe, Saxofon, Klarinette, Orgel, Banjo",
    ),
    "animal": listed(
        "value",
        "eine Katze, ein Kaninchen, ein Meerschweinchen, eine Schildkröte, ein Huhn, eine Ziege, "
        "ein Pony, eine Ratte, eine Schlange",
    ),
    "sport": listed(
        "value", "Schwimmen, Klettern, Turnen, Rudern, Reiten, Fechten, Handball, Fußball, Boxen, Judo, Tennis, Yoga"
    ),
    "language": listed(
        "value",
        "Spanisch, Französisch, Englisch, Italienisch, Türkisch, Polnisch, Arabisch, Portugiesisch, "
        "Schwedisch, Koreanisch, Hindi, Griechisch",
    ),
    "topic": listed(
        "value",
        "Marketing, Logistik, Support, Design, Catering, Software, Statistik, Musik, Technik, Chemie, "
        "Optik, Energie, Recycling, Controlling",
    ),
}
