"""A HEARTBEAT.md that people wrote becomes tasks in the graph (seed 001, From Existing Heartbeat.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from jochi.errors import JochiError, Refused, UsageError
from jochi.files import keep, mend, read_text, real_file
from jochi.heartbeat import file as files
from jochi.heartbeat.heartbeat import Heartbeat, NewTask, SyncResult, Task, definition_hash
from jochi.heartbeat.schedules import interval, next_due
from jochi.policy.schedule import DAYS
from jochi.text.markdown import Block, Section, sections


@dataclass(frozen=True)
class ParsedTask:
    """A task of the file. ``reason``: why it has no schedule. ``note``: what its schedule has that the file doesn't say.
    ``outcome``: planned, added, there (the graph has it already)."""

    id: str
    task_name: str
    definition: str
    schedule: str | None
    first: int
    last: int
    reason: str | None = None
    note: str | None = None
    outcome: str = "planned"


@dataclass(frozen=True)
class MigrationResult:
    """What became of a file. ``kept``: where the old one is; ``already``: it is one of Jochi's, and nothing was written."""

    tasks: tuple[ParsedTask, ...]
    kept: str | None = None
    synced: SyncResult | None = None
    already: bool = False


def migrate(
    heartbeat: Heartbeat, path: Path, *, scope: str, time_zone: str, max_tokens: int, dry_run: bool
) -> MigrationResult:
    """Takes the tasks of the file into the graph, keeps it as `.pre-migration`, and writes the small one in its place.

    Cut off anywhere it goes on when it is run again: a task that is there isn't written twice. A file that Jochi wrote is left
    alone; one of those that somebody edited, or that is another scope's, is `Refused`.
    """
    next_due("0 0 * * *", time_zone, after=_SOME_DAY, since=_SOME_DAY)  # says at once where there is no such zone
    real = real_file(path)
    if not dry_run:
        mend(real)
    text = read_text(real)
    if text is None:
        raise JochiError("there is no such file", where=str(path), fix="name the HEARTBEAT.md to be migrated")
    if mark := files.read_mark(text):
        if mark.edited:
            raise Refused(
                "Jochi wrote this file, and somebody has edited it since",
                where=str(path),
                fix="write what is new with `jochi heartbeat add`, then `jochi heartbeat sync --overwrite`",
            )
        files.require_scope(mark, scope, str(path))
        return MigrationResult((), already=True)
    found, written = _named(read(text, time_zone), _known(heartbeat, scope)), set[str]()
    if dry_run:
        return MigrationResult(tuple(found))
    # Who adds a task meanwhile may take an id that was free: then the rest is named anew.
    while planned := [task for task in found if task.outcome == "planned"]:
        new = [NewTask(task.id, task.definition, task.schedule, time_zone, task.task_name) for task in planned]
        outcomes = heartbeat.add_all(new, scope=scope, only_new=True)
        written |= {id for id, outcome in outcomes.items() if outcome == "added"}
        found = _named(read(text, time_zone), _known(heartbeat, scope))

    def may_replace(there: str) -> None:
        if there != text:
            raise Refused(
                "somebody changed the file meanwhile",
                where=str(path),
                fix="migrate it again: what is in the graph already isn't written twice",
            )

    backup = keep(real, text, "pre-migration")
    synced = heartbeat.replace(path, may_replace, scope, max_tokens)
    done = (replace(task, outcome="added") if task.id in written else task for task in found)
    return MigrationResult(tuple(done), str(backup), synced)


def _known(heartbeat: Heartbeat, scope: str) -> dict[str, Task]:
    return {task.id: task for task in heartbeat.ls(scope=scope)}


def _named(found: Iterable[ParsedTask], known: Mapping[str, Task]) -> list[ParsedTask]:
    """Each with an id of its own. What the graph has by id and definition is that task, whatever became of its schedule."""
    named: dict[str, ParsedTask] = {}
    for task in found:
        number, id = 1, task.id
        digest = definition_hash(task.definition)
        while id in named or (id in known and known[id].definition_hash != digest):
            number += 1
            id = f"{task.id}-{number}"
        named[id] = replace(task, id=id, outcome="there" if id in known else "planned")
    return list(named.values())


def read(text: str, time_zone: str = "UTC") -> Iterator[ParsedTask]:
    """The tasks that a file speaks of, in its order. Nothing is left out but comments and what fills a template: what has no
    schedule is a task without one.

    Under a heading with a line such as `Schedule: daily at 09:00` all is one task. Else each item, each row of a table and each
    line of a crontab is one, and what stands before them belongs to each; text alone is one task. A schedule that a heading says
    holds for what stands below it and says none. A time of day that nobody says is midnight, and ``note`` says so.
    """
    above: list[tuple[int, str | None, str]] = []
    every, lines = sections(text), text.splitlines()
    for section, after in zip_longest(every, every[1:]):
        above = [entry for entry in above if entry[0] < section.level]
        inherited = next((schedule for _, schedule, _ in reversed(above) if schedule is not None), None)
        if inherited is not None:
            inherited = _at_its_time(inherited, section.title) or ""  # empty: what stands above doesn't fit
        own = _schedule_of(section.title, time_zone)
        above.append((section.level, own or inherited, section.title))
        leaf = after is None or after.level <= section.level
        for task in _tasks(section, own, inherited, leaf, time_zone):
            said = "\n".join((*(title for _, _, title in above), *lines[task.first - 1 : task.last]))
            id = re.sub(r"\W+", "-", task.task_name.lower()).strip("-_")[:60] or "task"
            yield replace(task, id=id, note=_note(task.schedule, said))


def _tasks(
    section: Section, own: str | None, inherited: str | None, leaf: bool, time_zone: str
) -> Iterator[ParsedTask]:
    blocks = [block for block in section.blocks if not _says_nothing(block)]
    whole = section.title, section.source or section.title
    place = section.first, section.last
    none = _OTHER_TIME if inherited == "" else _NONE
    texts = [
        block.source if block.kind == "text" else block.source.split("\n")[0]
        for block in blocks
        if block.kind in ("text", "item")
    ]
    if schedules := [line["said"] for text in texts for line in _LINE.finditer(text)]:
        yield _parsed_task(
            *whole,
            _one([_when(each, time_zone) for each in schedules]),
            f"{schedules[0]!r} can't be read as a schedule",
            *place,
        )
        return
    parts = [part for block in blocks for part in _parts(block, time_zone, own or inherited)]
    rest = [block for block in blocks if block.kind == "text" or (block.kind == "code" and not _crontab(block))]
    if not parts and rest:
        stated = None if own else _schedule_of(rest[0].source, time_zone)
        given = own or inherited
        timed = _at_its_time(given, rest[0].source) if given and given.startswith("0 0 ") else given
        yield _parsed_task(*whole, stated or timed, _OTHER_TIME if given and not timed else none, *place)
    if not section.blocks and leaf and section.level > 1 and _schedule_in(section.title) is None:
        yield _parsed_task(*whole, own or inherited, none, *place)
    before = "\n\n".join(_fenced(block) for block in rest)
    for part in parts:
        yield replace(part, definition=f"{before}\n\n{part.definition}" if before else part.definition)


def _note(schedule: str | None, said: str) -> str | None:
    """What a schedule has that neither the lines of its task nor the headings above them say."""
    if schedule and schedule.startswith("every ") and _TIMES_A_DAY.search(said):
        return f"no times of day are said: {schedule} from now on"
    return _MIDNIGHT if schedule and schedule.startswith("0 0 ") and not _SAYS_MIDNIGHT.search(said) else None


def _says_nothing(block: Block) -> bool:
    """Whether it is a comment, or fills a file that nobody has written into yet: an empty item, an item that only leads to a page
    of a manual, headings in a fence."""
    if block.kind == "code":
        return (
            block.language in _MARKDOWN
            and not _FENCE.search(block.source)
            and not any(True for _ in read(block.source))
        )
    return block.kind == "comment" or (block.kind == "item" and _FILLER.fullmatch(block.source) is not None)


def _parts(block: Block, time_zone: str, given: str | None) -> Iterator[ParsedTask]:
    """The tasks of a block. ``given``: the schedule of those that say none; the time of day that one says wins over its own."""
    if block.kind == "item":
        checked, text = bool(_BOX.match(block.source)) and block.source[1] in "xX", _BOX.sub("", block.source, count=1)
        schedules = [_when(line["said"], time_zone) for line in _LINE.finditer(text.partition("\n")[2])]
        schedule = None if checked else _one(schedules) if schedules else _schedule_of(text, time_zone)
        if not (checked or schedules):
            schedule = schedule or _at_its_time(given, text)
        reason = _CHECKED if checked else _OTHER_TIME if given else _NONE
        yield _parsed_task("", text, schedule, reason, block.first, block.last)
    elif block.kind == "row":
        cells = {head: text for head, text in block.cells.items() if text}
        times = [head for head, text in cells.items() if _tells_time(text) and not _HEAD_OF_NAME.search(head)]
        known = next((head for head in cells if _HEAD_OF_WHEN.search(head)), None)
        # The only time of a row is its time, whatever its column is called; of two nobody says which.
        head_of_when = known or (times[0] if len(times) == 1 else None)
        when = cells.pop(head_of_when) if head_of_when else None
        name = next((cells[head] for head in cells if _HEAD_OF_NAME.search(head)), next(iter(cells.values()), ""))
        schedule = _when(when, time_zone) if when is not None else given if not times else None
        if when and schedule is None and _TIME.fullmatch(_english(when)):
            schedule = _at_its_time(given, when)
        definition = "\n".join(f"{head}: {text}" for head, text in cells.items())
        reason = f"{when!r} can't be read as a schedule" if when else _OTHER_TIME if given else _NONE
        yield _parsed_task(name, definition or block.source, schedule, reason, block.first, block.last)
    elif _crontab(block):
        before: list[str] = []
        for number, line in enumerate(block.source.splitlines(), block.first + 1):
            if line.startswith("#"):
                before.append(line)
            elif entry := _CRON_LINE.match(line):
                schedule, what = _when(entry["when"], time_zone), entry["what"]
                reason = f"{entry['when']!r} is no schedule"
                yield _parsed_task(
                    what[:60], "\n".join([*before, what]), schedule, reason, number - len(before), number
                )
                before = []


def _tells_time(text: str) -> bool:
    """Whether a cell is a time of day, or a schedule that has one."""
    english = _english(text.strip(" *_`"))
    return _TIME.search(english) is not None and (
        _TIME.fullmatch(english) is not None or _schedule_in(text) is not None
    )


def _parsed_task(name: str, definition: str, schedule: str | None, reason: str, first: int, last: int) -> ParsedTask:
    name = _plain(name) or _title(definition)
    return ParsedTask("", name, definition, schedule or None, first, last, None if schedule else reason)


def _title(text: str) -> str:
    """The name of an item: what is bold at its beginning, stands behind `name:`, or before a colon or a dash and is no schedule."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    if found := re.match(r"(?:(\*\*|__)|name:\s+)(?P<name>.+?)(?(1)\1|$)", line):
        return _plain(found["name"])
    parts = re.split(r"\s[-–—]+\s|:\s|:$|[()]", line)
    named = [_plain(part) for part in parts if _plain(part) and _schedule_in(part) is None]
    name = (named or [_plain(line)])[0]
    return name if len(name) <= 60 else name[:60].rsplit(" ", 1)[0]


def _plain(text: str) -> str:
    """A name without emphasis, and without a cron expression."""
    return re.sub(r"[*_`\s]+", " ", re.sub(rf"[(\[]?`?{_CRON}`?[)\]]?", "", text)).strip(" :.-–—")


def _fenced(block: Block) -> str:
    return f"```{block.language}\n{block.source}\n```" if block.kind == "code" else block.source


def _crontab(block: Block) -> bool:
    """Whether it is code whose every line is an entry, or a comment on the entry that follows."""
    lines = [line for line in block.source.splitlines() if line.strip()] if block.kind == "code" else []
    entries = [_CRON_LINE.match(line) for line in lines if not line.startswith("#")]
    return bool(entries) and all(entries) and not lines[-1].startswith("#")


# ---- Schedules in words --------------------------------------------------------------------------------------------

_SOME_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
_CHECKED = "it is checked off"
_NONE = "no schedule can be read in it"
_OTHER_TIME = "it says a time that can't be read together with the schedule above it"
_MIDNIGHT = "no time of day is said: midnight"
_SAYS_MIDNIGHT = re.compile(
    r"midnight|mitternacht|(?<![\d:])(?:0?0|24):00|(?<!\d)(?:0|24) ?uhr|\b12(?::00)? ?am\b|(?<!\d)0 0 |@\w",
    re.IGNORECASE,
)
_NUMBERS = {
    2: "twice|two times|zwei ?mal",
    3: "thrice|three times|drei ?mal",
    4: "four times|vier ?mal",
    6: "six times|sechs ?mal",
}
_A_DAY = r"(?:(?:a|per|each|every) day|daily|am tag|pro tag|täglich|jeden tag)"
_TIMES_A_DAY = re.compile(rf"\b(?:{'|'.join(_NUMBERS.values())}|[2346] ?(?:x|×|times|mal)) {_A_DAY}", re.IGNORECASE)
_BOX = re.compile(r"\[[ xX]\]\s+")
_MARKDOWN = ("", "markdown", "md")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_FILLER = re.compile(r"\s*(?:\[[ xX]?\])?\s*(?:\[[^\]\n]*\]\((?!\w+:)[^()\s]*\)[.,;]?\s*)?")
"""An item without a word, or with nothing but a link within some manual; an address of the web may be what is to be looked at."""
_LINE = re.compile(
    r"^\W*(?:schedule|when|cron|frequency|interval|runs?|wann|zeitplan|intervall|rhythmus)\W*?:"
    r"[*_]*[ \t]+(?P<said>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD_OF_WHEN = re.compile(
    r"schedule|when|cron|frequency|interval|every|cadence|wann|zeitplan|rhythmus|häufigkeit|^(?:time|at|um|uhrzeit|zeit|zeitpunkt)$",
    re.IGNORECASE,
)
_HEAD_OF_NAME = re.compile(r"task|name|check|job|title|what|aufgabe|\bwas\b", re.IGNORECASE)
_FIELD = r"[\d*][\d*,/-]*"
_CRON = rf"{_FIELD} +{_FIELD} +(?:{_FIELD}|L) +(?:{_FIELD}|[A-Za-z]{{3}}) +(?:{_FIELD}|[A-Za-z]{{3}}[A-Za-z,-]*)"
_CRON_LINE = re.compile(rf"\s*(?P<when>{_CRON}|@\w+)\s+(?P<what>\S.*)")
_CLOCK = r"\d{1,2}:\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midnight"
_CLOCKS = (
    r"\d{1,2}:(?P<minute>\d\d)(?:(?:, ?| and )\d{1,2}:(?P=minute))+(?!\d| ?[ap]m)"
    rf"|\d{{1,2}} ?[ap]m(?:(?:, ?| and )\d{{1,2}} ?[ap]m)+|{_CLOCK}"
)
"""Several times of one minute are one cron expression."""
_AT = rf"(?:[ ,]*(?:at )?(?P<time>{_CLOCKS}))?"
_TIME = re.compile(rf"\b(?:{_CLOCK})\b")
_TIME_BEFORE = re.compile(rf"(?:at )?(?P<time>{_CLOCK})\b[ ,:–—-]*(?P<rest>.*)")
_TIME_AFTER = re.compile(rf".*(?:\bat |[,(:–—-] ?)(?P<time>{_CLOCK})[ .)]*")
_OTHER_CLOCK = re.compile(
    r"\bat \d{1,2}\b(?!:)|\bhalf past\b|\bquarter (?:past|to)\b|o'clock|\bat halb\b|\bviertel (?:vor|nach)\b"
    r"|\bin the (?:morning|afternoon|evening)\b|\b(?:morgens|abends|vormittags|nachmittags)\b|^(?:morning|afternoon|evening)s?\b"
)
"""A time of day that isn't read: of 9 and 5 one is likely in the morning, and nobody says so."""
_SAYS_HOW_OFTEN = re.compile(
    r"\b(?:every|each|twice|hourly|weekly|fortnightly|biweekly|monthly|quarterly|yearly)\b|lich\b"
)
_DAY = "|".join(f"{day.lower()}s?|{day[:3].lower()}" for day in DAYS)
_DATE = r"\d{1,2}(?:st|nd|rd|th)"
_UNITS = {"s": "s", "m": "min", "h": "h", "d": "d", "w": "w"}


def _clock(time: str | None) -> str:
    """Minute and hour of a cron expression; without a time of day it is midnight, as of `@daily`."""
    hours: list[str] = []
    minute = ""
    for one in re.split(r", ?| and ", time or "midnight"):
        text = {"noon": "12:00", "midnight": "0:00"}.get(one, one)
        hour, _, minute = re.sub(r" ?[ap]m", "", text).partition(":")
        half = 12 if text.endswith("pm") else 0
        hours.append(str(int(hour) % 12 + half if text.endswith("m") else int(hour)))
    return f"{int(minute or 0)} {','.join(hours)}"


def _every(found: re.Match[str]) -> str:
    number, unit = int(found["n"] or 1), _UNITS[found["unit"][0]]
    return f"every {7 * number}d" if unit == "w" else f"every {number}{unit}"


def _on_days(found: re.Match[str]) -> str:
    names = [day[:3].lower() for day in DAYS]
    days = sorted({(names.index(name[:3]) + 1) % 7 for name in re.findall(_DAY, found["days"])})
    return f"{_clock(found['time'])} * * {','.join(map(str, days))}"


def _days_from_to(found: re.Match[str]) -> str:
    names = [day[:3].lower() for day in DAYS]
    first, last = (names.index(found[end][:3]) for end in ("from", "to"))
    span = range(first, last + 1 if last >= first else last + 8)
    return f"{_clock(found['time'])} * * {','.join(map(str, sorted((n + 1) % 7 for n in span)))}".replace(
        "1,2,3,4,5", "1-5"
    )


def _on_dates(found: re.Match[str]) -> str:
    hour = _clock(found["time"])
    return f"{hour} {','.join(re.findall(r'[0-9]+', found['dates']))} * *"


_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)"), english)
    for pattern, english in (
        *(
            (rf"(?:{words}|{times} ?(?:x|×|times|mal)) {_A_DAY}", f"every {24 // times} hours")
            for times, words in _NUMBERS.items()
        ),
        (r"(\d{1,2}) ?uhr (\d\d)", r"\1:\2"),
        (r"(\d{1,2})[.:](\d\d) ?uhr", r"\1:\2"),
        (r"um (\d{1,2})\.(\d\d)", r"um \1:\2"),
        (r"(\d{1,2}) ?uhr", r"\1:00"),
        (r"um mittag|mittags", "noon"),
        (r"mitternacht", "midnight"),
        (r"einmal (?:täglich|am tag|pro tag)|täglich|tägl\.|jeden tag|once a day|once daily", "daily"),
        (r"stündlich|einmal (?:pro|die|in der) stunde", "hourly"),
        (r"once an hour", "every hour"),
        (r"(?:einmal )?wöchentlich|einmal (?:pro|die|in der) woche|jede woche|once a week", "weekly"),
        (r"(?:einmal )?monatlich|einmal (?:pro|im) monat|jeden monat|once a month", "monthly"),
        (
            r"werktags|wochentags|an (?:werktagen|wochentagen)|jeden (?:werktag|wochentag)|(?:on|every) weekdays?",
            "weekdays",
        ),
        (r"an wochenenden|jedes wochenende", "weekends"),
        (r"am wochenende", "on the weekend"),
        (r"jede halbe stunde|every half(?: an)? hour", "every 30 minutes"),
        (r"jeden (?:zweiten|2\.) tag|every (?:other|second) day", "every 2 days"),
        (r"jede (?:zweite|2\.) woche|every (?:other|second) week", "every 2 weeks"),
        (r"jede nacht", "every night"),
        (r"(?:jeden morgen|every morning),?(?= (?:(?:um|at) )?(?:0?\d|1[01])(?::| ?am))", "every day"),
        (
            r"(?:jeden abend|every (?:evening|afternoon)),?(?= (?:(?:um|at) )?(?:1[2-9]:|2\d:|\d{1,2}(?::\d\d)? ?pm))",
            "every day",
        ),
        (
            r"((?:mon|tues|wednes|thurs|fri|satur|sun)day) (?:afternoon|evening)s?(?= at (?:1[2-9]:|2\d:|\d{1,2}(?::\d\d)? ?pm))",
            r"\1",
        ),
        (r"am (\d{1,2})\.", r"on the \1th"),
        (r"(?:des|im|jeden|jedes) monats?", "of the month"),
        *(
            (rf"{german}(s?)", rf"{english}\1")
            for german, english in zip(
                ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "(?:samstag|sonnabend)", "sonntag"),
                (day.lower() for day in DAYS),
                strict=True,
            )
        ),
        *(
            (rf"(?<=every ){words}|(?<=alle ){words}", str(number))
            for number, words in (
                *enumerate(("(?:two|zwei)", "(?:three|drei)", "(?:four|vier)", "(?:five|fünf)", "(?:six|sechs)"), 2),
                (10, "(?:ten|zehn)"),
                (12, "(?:twelve|zwölf)"),
                (15, "(?:fifteen|fünfzehn)"),
                (30, "(?:thirty|dreißig)"),
            )
        ),
        (r"alle(?= \d)|jede[nsr]?", "every"),
        (r"sekunden?", "seconds"),
        (r"minuten?|min\.", "minutes"),
        (r"stunden?|std\.?", "hours"),
        (r"tagen?|tage", "days"),
        (r"wochen?", "weeks"),
        (r"um", "at"),
        (r"(?<!\d )am", "on"),
        (r"und", "and"),
        (r"bis", "to"),
    )
)
"""What German says, and some ways of English, in the words of `_PATTERNS`; each applies to what those before it have made."""
_SHORT_DAYS = dict(zip(("mo", "di", "mi", "do", "fr", "sa", "so"), (day[:3].lower() for day in DAYS), strict=True))
_TWO = rf"(?:{'|'.join(_SHORT_DAYS)})\b\.?"
_SHORT = re.compile(rf"{_TWO}(?=,? (?:at )?\d)|{_TWO}(?:(?:, ?| ?[-–/+] ?| and ){_TWO})+")
"""Days of two letters, where nothing else can be meant: two of them, or one before a number."""


@lru_cache(maxsize=1_000)
def _english(text: str) -> str:
    """A text in small letters, with what German says of times in English."""
    text = text.lower()
    for pattern, english in _WORDS:
        text = pattern.sub(english, text)
    if short := _SHORT.match(text):
        return re.sub(r"(\w\w)\b\.?", lambda day: _SHORT_DAYS.get(day[1], day[1]), short[0]) + text[short.end() :]
    return text


def _at_its_time(given: str | None, text: str) -> str | None:
    """The schedule above a text, at the time of day that the first line of the text says. None where the two can't be both."""
    line = _english(text.strip().partition("\n")[0]).strip(" *_`")
    times = _TIME.findall(line)
    if not given or not (times or _OTHER_CLOCK.search(line)):
        return given or None
    found = _TIME_BEFORE.fullmatch(line) or _TIME_AFTER.fullmatch(line)
    of_day = re.fullmatch(r"\d+ \d+ (?P<days>.*)", given)
    if found is None or of_day is None or len(times) > 1 or _SAYS_HOW_OFTEN.search(line):
        return None
    schedule = f"{_clock(found['time'])} {of_day['days']}"
    return _when(schedule, "UTC")


_MOST_WORDS = 40
"""No schedule has more: thirty-one days of a month and a time. A line without end isn't looked through at each of its words."""
_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), made)
    for pattern, made in (
        (rf"{_CRON}", lambda found: " ".join(found[0].split())),
        (r"@hourly|hourly", lambda _: "0 * * * *"),
        (r"@yearly|@annually", lambda _: "0 0 1 1 *"),
        (r"(?:every|each) (?:(?P<n>\d{1,7}) ?)?(?P<unit>s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?)", _every),
        (r"(?:every|each) (?P<n>\d{1,7}) ?(?P<unit>d|days?|w|weeks?)", _every),
        (
            rf"(?:@daily|daily|every day|each day|every night|nightly){_AT}",
            lambda found: f"{_clock(found['time'])} * * *",
        ),
        (rf"(?:(?:every |on )?weekdays?|every workday){_AT}", lambda found: f"{_clock(found['time'])} * * 1-5"),
        (rf"(?:(?:every |on (?:the )?)?weekends?){_AT}", lambda found: f"{_clock(found['time'])} * * 0,6"),
        (
            rf"(?:every |on )?(?P<from>{_DAY})(?: ?[-–] ?| to | through )(?P<to>{_DAY}){_AT}",
            _days_from_to,
        ),
        (
            r"(?:(?:monthly|every month)[ ,]+)?on (?:the )?"
            rf"(?P<dates>{_DATE}(?:(?:, ?| and ){_DATE})*) of (?:the|every|each) month{_AT}",
            _on_dates,
        ),
        (rf"(?P<dates>{_DATE}) of (?:the|every|each) month{_AT}", _on_dates),
        (
            rf"(?:(?:weekly|every week)(?: on|,)? |every |each |on )?(?P<days>(?:{_DAY})(?:(?:, ?| and | & |/)(?:{_DAY}))*){_AT}",
            _on_days,
        ),
        (rf"(?:@weekly|weekly|every week){_AT}", lambda found: f"{_clock(found['time'])} * * 0"),
        (
            rf"(?:@monthly|monthly|every month)(?: on(?: the)? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?)?{_AT}",
            lambda found: f"{_clock(found['time'])} {found['day'] or 1} * *",
        ),
    )
)
"""What is read as a schedule, and what of it becomes. Longer texts are looked through for it only at their ends."""


def _schedule_in(text: str) -> str | None:
    """The schedule that a text is, whole."""
    for bare in (text.strip(" \t`.,:;"), text.strip(" \t*_`.,:;")):
        english = _english(bare)
        if before := _TIME_BEFORE.fullmatch(english):
            english = f"{before['rest']} at {before['time']}" if before["rest"] else english
        for pattern, made in _PATTERNS:
            if found := pattern.fullmatch(english):
                return made(found)
    return None


def _when(text: str, time_zone: str) -> str | None:
    """The schedule that a text is, where nothing else is expected: `15min` is one here. None also where it never comes."""
    try:
        bare = text.strip(" `")
        schedule = _schedule_in(text) or (bare if interval(bare) else _schedule_in(f"every {bare}"))
        if schedule is not None:
            next_due(schedule, time_zone, after=_SOME_DAY, since=_SOME_DAY)
        return schedule
    except UsageError:
        return None


def _schedule_of(text: str, time_zone: str) -> str | None:
    """The one schedule that the first line of a text names, as a part of its own or at its beginning or end; None of two."""
    line = text.strip().splitlines()[0] if text.strip() else ""
    found = []
    for part in re.split(r"\s[-–—]+\s|:\s|:$|[()\[\]|`]|\*\*|__", line):
        if _schedule_in(part):
            found.append(_when(part, time_zone))
            continue
        words = part.split()
        for n in range(min(len(words) - 1, _MOST_WORDS), 0, -1):
            if _stands_out(" ".join(words[:n])):
                found.append(None if _GOES_ON.fullmatch(words[n]) else _when(" ".join(words[:n]), time_zone))
                break
        for n in range(max(1, len(words) - _MOST_WORDS), len(words)):
            if _stands_out(" ".join(words[n:]), at_end=True) and not _MEANS_ELSE.fullmatch(words[n - 1]):
                found.append(_when(" ".join(words[n:]), time_zone))
                break
    return _one(found)


def _stands_out(text: str, *, at_end: bool = False) -> bool:
    """Whether a text is a schedule also among other words: `on Monday` may be meant once, and five numbers may be anything. At
    the end `on weekends` may say when something is not to be done."""
    english = _english(text)
    before = _TIME_BEFORE.fullmatch(english)
    sure = (
        re.match(r"every|each|daily|nightly|hourly|weekly|monthly|@\w", before["rest"] if before else english)
        or "*" in text
        or (not at_end and _RECURS.match(english))
    )
    return bool(sure) and _schedule_in(text) is not None


_RECURS = re.compile(rf"(?:on )?(?:weekdays|weekends|(?:{'|'.join(day.lower() for day in DAYS)})s)\b")
"""Days that come again and again."""
_GOES_ON = re.compile(
    r"at|on|and|or|but|except|unless|until|between|from|of|other|if|when|to|through|are|is|were|um|am|und|oder|aber|außer|bis|zwischen|von|ab|wenn|falls|im|vor|nach|sind|ist|\d.*",
    re.IGNORECASE,
)
"""What follows on a schedule that says more than could be read."""
_MEANS_ELSE = re.compile(
    r"a|an|the|this|that|our|my|your|not|never|than|most|least|to|twice|thrice|times|almost|nearly|der|die|das|den|ein|eine|einen|nicht|nie|zweimal|dreimal|mehrmals|fast|höchstens|mindestens|maximal",
    re.IGNORECASE,
)
"""What makes `daily` speak of a newspaper."""


def _one(found: list[str | None]) -> str | None:
    return found[0] if len(set(found)) == 1 else None
