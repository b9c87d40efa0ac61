"""English values. Weekdays, months and number words are the closed lists of the language (ISO 8601 for their order); currencies are
codes of ISO 4217; units are those of the SI and the customary ones of the US; cities, first names, products and everyday nouns were
picked by hand for this set; companies, slogans and titles are invented."""

from __future__ import annotations

import datetime
from random import Random

from tests.merge_pairs import values
from tests.merge_pairs.values import Forms, Kind, listed

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
NUMBER_WORDS = {
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
    11: "eleven",
    12: "twelve",
}
COLOURS = ("red", "blue", "green", "yellow", "black", "white", "brown", "purple", "pink")
FEMALE = (
    "Anna, Maria, Laura, Julia, Sarah, Emma, Caroline, Melanie, Joanna, Deborah, Audrey, Gina, "
    "Susan, Alice, Helen, Nora, Ruth, "
    "Claire, Diana, Irene, Karen, Linda, Megan, Olivia, Paula, Rachel, Sophie, Tina, Vera, Wendy, "
    "Jolene, Priya, Fatima, Yuki"
)
MALE = (
    "Peter, John, Mark, David, Tom, Jon, Tim, Andrew, James, Evan, Sam, Dave, Calvin, Nate, Paul, "
    "Robert, Simon, George, Henry, "
    "Ian, Kevin, Luke, Martin, Oscar, Patrick, Ryan, Steven, Victor, Walter, Adam, Brian, Carlos, "
    "Omar, Kenji, Ahmed, Ivan"
)
CITIES = (
    "Berlin, London, Paris, Madrid, Rome, Vienna, Oslo, Dublin, Lisbon, Prague, Boston, Chicago, "
    "Seattle, Denver, Toronto, Sydney, "
    "Tokyo, Seoul, Munich, Hamburg, Zurich, Helsinki, Warsaw, Athens, Cairo, Nairobi, Lima, Austin, "
    "Portland, Glasgow, Geneva, Turin"
)
PETS = "Rex, Luna, Bella, Max, Coco, Milo, Daisy, Rocky, Toby, Pixel, Biscuit, Shadow, Pepper, Waffles"
QUOTES = (
    "Spring is here, The long road home, Better together, Made to last, A quiet morning, "
    "Paper boats, The last harbour, "
    "Small steps first, North of nowhere, Blue lantern, Stay curious, Open doors, The glass garden, "
    "Work in progress, "
    "Second winter, Fresh start, Room to grow, Silver linings, Falling upward, The tin whistle"
)
ERRORS = (
    "connection refused, connection reset, permission denied, file not found, out of memory, "
    "disk full, invalid token, "
    "token expired, read timed out, write timed out, unknown host, no route to host, "
    "unexpected end of file, bad gateway, "
    "service unavailable, checksum mismatch"
)
DATABASES = (
    "PostgreSQL|Postgres, MySQL, MariaDB, MongoDB, Redis, Neo4j, SQLite, Cassandra, Elasticsearch, "
    "ClickHouse, CockroachDB, DuckDB"
)
TOOLS = (
    "Jenkins, Ansible, Terraform, Grafana, Prometheus, Kafka, RabbitMQ, Nginx, Celery, Airflow, "
    "Helm, Vault, Consul, Puppet"
)
CODING = "Python, Java, JavaScript, TypeScript, Rust, Go, Ruby, Kotlin, Swift, Scala, C, C++, C#, PHP, Perl, Haskell"
COMPANIES = (
    "Brightwater, Norvia, Quelltal, Hallberg, Tessera, Ostara, Kestrel Labs, Marlin Foods, "
    "Pinecrest, Zentra, Volta, Oakline, "
    "Ferrano, Lindqvist, Solvane, Arcadia Tools"
)
PERCENTAGES = (3, 4, 5, 6, 7, 9, 12, 14, 15, 20, 25, 30, 40, 45, 60, 75, 90, 95, 1.5, 2.5, 4.5, 7.5, 12.5, 33.3, 99.5)
DECIMALS = (0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 1.5, 1.75, 2.5, 3.2, 4.8, 6.4, 7.5, 12.5)
UNITS = {
    "km": ("km", "kilometers", "kilometres"),
    "mi": ("miles", "mi"),
    "m": ("m", "meters", "metres"),
    "ft": ("feet", "ft"),
    "kg": ("kg", "kilograms", "kilos"),
    "lb": ("pounds", "lbs"),
    "mg": ("mg", "milligrams"),
    "g": ("g", "grams"),
    "ml": ("ml", "milliliters", "millilitres"),
    "MB": ("MB", "megabytes"),
    "GB": ("GB", "gigabytes"),
    "TB": ("TB", "terabytes"),
    "ms": ("ms", "milliseconds"),
    "s": ("seconds", "s", "sec"),
    "min": ("minutes", "min"),
    "day": ("days",),
    "week": ("weeks",),
    "month": ("months",),
}
"""Ways to write a unit; the longest also stands behind a spelt-out number."""
_CURRENCIES = {
    "USD": ("${n}", "USD {n}", "{n} dollars"),
    "EUR": ("€{n}", "EUR {n}", "{n} euros"),
    "GBP": ("£{n}", "GBP {n}", "{n} pounds"),
    "CHF": ("CHF {n}", "{n} CHF", "{n} Swiss francs"),
    "INR": ("₹{n}", "INR {n}", "{n} rupees"),
}


def count(n: int) -> Forms:
    """5 and five."""
    return (str(n), NUMBER_WORDS[n]) if n in NUMBER_WORDS else (str(n),)


def number(n: int) -> Forms:
    """1,200 and 1200."""
    return (f"{n:,}", str(n)) if n > 999 else (str(n),)


def _percent(n: float) -> Forms:
    return f"{n:g}%", f"{n:g} percent", f"{n:g} %"


def _signed(n: int) -> Forms:
    return (f"-{-n}", f"−{-n}", f"minus {-n}") if n < 0 else (str(n), f"+{n}")


def _temperature(n: int, unit: str) -> Forms:
    word = {"C": "Celsius", "F": "Fahrenheit"}[unit]
    sign, word_of_sign = ("-", "minus ") if n < 0 else ("", "")
    return f"{sign}{abs(n)} °{unit}", f"{sign}{abs(n)}°{unit}", f"{word_of_sign}{abs(n)} degrees {word}"


def _money(n: int, currency: str) -> Forms:
    return tuple(form.format(n=f"{n:,}") for form in _CURRENCIES[currency])


def _quantity(n: int, unit: str) -> Forms:
    return values.with_unit(n, UNITS[unit], NUMBER_WORDS)


def _date(day: datetime.date) -> Forms:
    month = MONTHS[day.month - 1]
    return (
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month} {day.year}",
        day.isoformat(),
        f"{month[:3]} {day.day}, {day.year}",
    )


def _day(day: datetime.date) -> Forms:
    month = MONTHS[day.month - 1]
    end = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(day.day, "th")
    return f"{month} {day.day}", f"{day.day} {month}", f"{month} {day.day}{end}", f"the {day.day}{end} of {month}"


def _time(hour: int, minute: int) -> Forms:
    twelve, half = (hour - 1) % 12 + 1, "am" if hour < 12 else "pm"
    short = f"{twelve}:{minute:02}" if minute else str(twelve)
    return f"{short} {half}", f"{hour}:{minute:02}", f"{short} {half[0]}.m.", f"{short}{half}"


def _amount(dice: Random, unseen: bool) -> int:
    return dice.choice((40, 75, 90, 120, 250, 360, 480, 750, 900, 1_200, 2_500, 3_800, 4_500, 9_000, 12_000))


def _of(units: tuple[str, ...], least: int, most: int) -> Kind:
    return values.measured(values.numbers(least, most, count), units, _quantity)


KINDS: dict[str, Kind] = {
    "person": listed("name", f"{FEMALE}, {MALE}"),
    "petname": listed("name", PETS),
    "place": listed("place", CITIES),
    "count": values.numbers(2, 12, count),
    "number": values.numbers(13, 9_800, number),
    "port": values.numbers(1_025, 9_999, lambda n: (str(n),)),
    "year": listed("date", ",".join(map(str, range(2012, 2027))), closed=True),
    "decimal": values.decimals(lambda n: (f"{n:g}",), DECIMALS),
    "percent": values.decimals(_percent, PERCENTAGES),
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
    "weekday": listed("weekday", ",".join(WEEKDAYS), closed=True),
    "month": listed("month", ",".join(MONTHS), closed=True),
    "time": values.times(_time),
    "version": values.versions(),
    "email": values.emails(
        ("anna", "berg", "lee", "tom", "jones", "maria", "silva", "novak", "kim", "peter", "moreau", "singh")
    ),
    "path": values.paths(),
    "host": values.hosts(),
    "flag": values.flags(),
    "ticket": values.tickets(),
    "order": values.coded(lambda dice: f"{dice.choice('ABKMRT')}-{dice.randint(10_000, 98_999)}"),
    "room": values.pattern("@###"),
    "commit": values.coded(lambda dice: f"{dice.randrange(16**7):07x}"),
    "ip": values.addresses(),
    "phone": values.phones("+1"),
    "colour": listed("colour", ",".join((*COLOURS, "gray|grey")), closed=True),
    "quote": listed("quoted", QUOTES, any_case=False),
    "error": listed("quoted", ERRORS, any_case=False),
    "food": listed(
        "value",
        "pizza, lasagna, pancakes, rice, salmon, mushrooms, cheese, bread, noodles, dumplings, lentils, "
        "curry, tomatoes, sushi",
    ),
    "drink": listed(
        "value",
        "green tea, black coffee, orange juice, hot chocolate, sparkling water, oat milk, lemonade, "
        "cocoa, apple juice, iced tea",
    ),
    "allergen": listed(
        "value", "peanuts, shellfish, pollen, gluten, soy, eggs, wool, cat hair, penicillin, sesame, latex, dust"
    ),
    "instrument": listed(
        "value", "piano, violin, cello, guitar, flute, trumpet, drums, harp, saxophone, clarinet, organ, banjo"
    ),
    "animal": listed("value", "dog, cat, rabbit, parrot, hamster, tortoise, pony, goat, ferret, goldfish, lizard"),
    "sport": listed(
        "value",
        "swimming, climbing, rowing, horse riding, skating, cycling, sailing, skiing, bowling, hiking, "
        "kayaking, surfing",
    ),
    "language": listed(
        "value", "Spanish, French, German, Italian, Turkish, Polish, Arabic, Portuguese, Swedish, Korean, Hindi, Greek"
    ),
    "job": listed(
        "value",
        "nurse, teacher, baker, lawyer, carpenter, dentist, gardener, pilot, plumber, chemist, tailor, "
        "librarian, translator, photographer",
    ),
    "topic": listed(
        "value",
        "marketing, logistics, billing, security, payroll, shipping, search, hosting, catering, "
        "warehouse, pricing, support, recruiting, training",
    ),
    "company": listed("value", COMPANIES),
    "coding": listed("value", CODING),
    "database": listed("value", DATABASES),
    "tool": listed("value", TOOLS),
}
