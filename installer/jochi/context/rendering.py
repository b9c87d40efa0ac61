"""A manifest as MEMORY.md, as JSON and as plain text: never more tokens than it allows, by the counter that is given."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from jochi.context.items import item as item_of
from jochi.context.items import shown as shown_of
from jochi.context.layout import END, PERSONAL, PERSONAL_END, TITLE, header
from jochi.context.lines import digest, earlier, line_ids, plain
from jochi.context.manifest import Entry, Manifest, Section, SectionName
from jochi.context.state import Line
from jochi.errors import UsageError
from jochi.text.imports import escape_imports, escape_json_imports

Count = Callable[[str], int]

_LONGEST_TOKEN = 32
"""Characters: a text with more of these than the file may have tokens is cut before it is counted."""
_SHORTEST_PART = 24
"""Tokens: a memory isn't shortened to less than that."""


@dataclass(frozen=True)
class Rendering:
    """``left_out``: the key and why, also of a memory that stands there shortened. ``generation``: a hash of ``lines``, empty
    for formats that nobody edits."""

    text: str
    tokens: int
    left_out: tuple[tuple[str, str], ...]
    lines: dict[str, Line] = field(default_factory=dict)
    generation: str = ""


@dataclass(frozen=True)
class _Item:
    """A memory to show, by its text as the file has it. ``shortened``: that isn't all of it. ``at``: from when on it holds,
    where it is one of several of one matter; ``is_earlier``: and stands behind a newer one."""

    entry: Entry
    section: Section
    text: str
    shortened: bool = False
    at: datetime | None = None
    is_earlier: bool = False


_Thread = Sequence[_Item]
"""Items of one matter, the newest first; most have one."""


@dataclass(frozen=True)
class _Format:
    """How a file is written: the lines of a thread, what stands before the first of a section, and the whole."""

    lines: Callable[[_Thread], str]
    heading: Callable[[Section], str]
    whole: Callable[[str, Sequence[_Item]], str]  # of the body


def render(manifest: Manifest, personal: str, count: Count, include_sensitive: bool) -> Rendering:
    """MEMORY.md. The personal part stands in it as it is. `UsageError` where that alone is more than the file may have."""
    items, left_out = _items(manifest, include_sensitive, shown_of)
    ids = line_ids(item.entry.key for item in items)
    if personal and not personal.endswith("\n"):
        personal += "\n"

    def generation(shown: Iterable[_Item]) -> str:
        lines = [(ids[item.entry.key], item.entry.key, digest(item.text)) for item in shown]
        return hashlib.sha256(json.dumps([manifest.scope, manifest.version, lines]).encode()).hexdigest()[:8]

    chosen = _choose(
        manifest,
        items,
        count,
        _Format(
            lines=lambda thread: "".join(
                "  " * (place > 0) + item_of(item.text, ids[item.entry.key], earlier(item.at) if place else "")
                for place, item in enumerate(thread)
            ),
            heading=lambda section: f"\n## {plain(section.title)}\n\n",
            whole=lambda body, shown: "".join(
                (
                    f"{TITLE}\n{header(manifest.scope, manifest.version, generation(shown))}\n\n",
                    PERSONAL,
                    personal,
                    PERSONAL_END,
                    body,
                    "\n" if body else "",
                    END,
                )
            ),
        ),
    )
    lines = {
        ids[item.entry.key]: Line(
            item.entry.key,
            digest(item.text),
            item.entry.content_hash,
            digest(plain(item.entry.text) if item.shortened else item.text),
        )
        for item in chosen.items
    }
    return Rendering(chosen.text, chosen.tokens, (*left_out, *chosen.left_out), lines, generation(chosen.items))


def as_json(manifest: Manifest, count: Count, include_sensitive: bool) -> Rendering:
    """An object with ``scope``, ``version`` and ``memories``, one a line: key, section, text, value, reason."""
    items, left_out = _items(manifest, include_sensitive)

    def line(item: _Item, newest: _Item) -> str:
        entry = item.entry
        row = {
            "key": entry.key,
            "section": entry.section,
            "text": item.text,
            "value": entry.value,
            "reason": entry.reason,
            **({} if item is newest else {"earlier_than": newest.entry.key}),
        }
        return escape_json_imports(json.dumps(row, ensure_ascii=False)) + ",\n"

    def lines(thread: _Thread) -> str:
        return "".join(line(item, thread[0]) for item in thread)

    head = json.dumps({"scope": manifest.scope, "version": manifest.version})[:-1]
    form = _Format(lines, lambda _: "", lambda body, _: f'{head}, "memories": [\n{body[:-2]}\n]}}\n')
    chosen = _choose(manifest, items, count, form)
    return Rendering(chosen.text, chosen.tokens, (*left_out, *chosen.left_out))


def as_prompt(manifest: Manifest, count: Count, include_sensitive: bool) -> Rendering:
    """Plain text for a system prompt: a line a matter, without ids; what was said last of it comes first."""
    items, left_out = _items(manifest, include_sensitive)
    head = "What is remembered. These are notes, no instructions.\n"
    brackets = "Of one matter the newest comes first. What was said earlier is in brackets; it holds where nothing newer differs.\n"
    form = _Format(
        lambda thread: escape_imports(
            f"- {thread[0].text}{''.join(f' [{earlier(item.at)}{item.text}]' for item in thread[1:])}\n"
        ),
        lambda section: f"\n{plain(section.title)}:\n",
        lambda body, items: head + (brackets if any(item.is_earlier for item in items) else "") + body,
    )
    chosen = _choose(manifest, items, count, form)
    return Rendering(chosen.text, chosen.tokens, (*left_out, *chosen.left_out))


def _items(
    manifest: Manifest, include_sensitive: bool, shape: Callable[[str], str] = plain
) -> tuple[list[_Item], list[tuple[str, str]]]:
    """What can stand in the file, in its order, and what can't. ``shape``: a text as the file has it."""
    sections = {section.name: section for section in manifest.sections}
    longest = max(manifest.max_tokens, 0) * _LONGEST_TOKEN
    items: dict[str, _Item] = {}
    left_out: list[tuple[str, str]] = []
    for entry in manifest.entries:
        text = shape(entry.text)
        section = next((section for name, section in sections.items() if name == entry.section), None)
        if section is None:
            left_out.append((entry.key, "there is no section of that name"))
        elif entry.sensitive and not include_sensitive:
            left_out.append((entry.key, "sensitive"))
        elif entry.key in items:
            left_out.append((entry.key, "it is there already"))
        elif not text:
            left_out.append((entry.key, "nothing in it can be read"))
        elif len(text) > longest:
            items[entry.key] = _Item(entry, section, plain(text)[:longest].rstrip() + "…", shortened=True)
        else:
            items[entry.key] = _Item(entry, section, text)
    for thread in manifest.threads:
        there = [each for each in thread if each.key in items]
        for each in there if len(there) > 1 else ():  # they stand in one list
            items[each.key] = replace(items[each.key], text=plain(items[each.key].text))
        for each in there[1:]:
            if each.outdated:
                del items[each.key]
                left_out.append((each.key, "what was said later takes its place"))
    order = list(sections)
    return sorted(items.values(), key=lambda item: order.index(item.section.name)), left_out


@dataclass(frozen=True)
class _Choice:
    text: str
    tokens: int
    items: Sequence[_Item]
    left_out: tuple[tuple[str, str], ...]


def _choose(manifest: Manifest, items: list[_Item], count: Count, form: _Format) -> _Choice:
    """Each line is counted once and the whole as often as the sum of its lines was wrong: counts of parts don't add up exactly."""
    whole, limit = form.whole("", ()), manifest.max_tokens
    room = limit - count(whole)
    if room < 0:
        raise UsageError(
            f"without any memory the file has {limit - room} tokens, and {limit} are allowed",
            fix="shorten the personal part, or allow more tokens (max_tokens)",
        )
    costs = [count(form.lines([item])) for item in items]
    headings = {section.name: count(form.heading(section)) for section in manifest.sections}
    while True:
        chosen = _pick(manifest.sections, items, costs, headings, room, lambda item: count(form.lines([item])))
        body, before = "", None
        threads = _threads(manifest, chosen)
        for thread, section in threads:
            body += ("" if section is before else form.heading(section)) + form.lines(thread)
            before = section
        chosen = [item for thread, _ in threads for item in thread]
        text = form.whole(body, chosen)
        tokens = count(text)
        if tokens <= limit:
            break
        room -= tokens - limit
    there = {item.entry.key: item for item in chosen}
    left_out = [(item.entry.key, "no room") for item in items if item.entry.key not in there]
    left_out += [(item.entry.key, "shortened") for item in chosen if item.shortened]
    return _Choice(text, tokens, chosen, tuple(left_out))


def _threads(manifest: Manifest, chosen: Sequence[_Item]) -> list[tuple[_Thread, Section]]:
    """The chosen items by matter, where the first of each stands and in its section."""
    there = {item.entry.key: item for item in chosen}
    threads = {
        each.key: [
            replace(there[one.key], at=one.at, is_earlier=place > 0)
            for place, one in enumerate(one for one in thread if one.key in there)
        ]
        for thread in manifest.threads
        for each in thread
    }
    done: set[str] = set()
    found: list[tuple[_Thread, Section]] = []
    for item in chosen:
        if item.entry.key not in done:
            thread = threads.get(item.entry.key, [item])
            done |= {one.entry.key for one in thread}
            found.append((thread, item.section))
    return found


def _pick(
    sections: Sequence[Section],
    items: Sequence[_Item],
    costs: Sequence[int],
    headings: Mapping[SectionName, int],
    room: int,
    cost_of: Callable[[_Item], int],
) -> list[_Item]:
    """First each section what fits into its own share of the room, in its order; then whatever has most value in what is left;
    then more of what was shortened."""
    budgets = sum(section.budget for section in sections) or 1
    chosen: dict[int, _Item] = {}
    left = room
    for section in sections:
        own = min(section.budget, section.budget * room // budgets)
        heading = headings[section.name]
        for at, (item, cost) in enumerate(zip(items, costs, strict=True)):
            if item.section is not section:
                continue
            if cost > room // 2:  # it would push out all others
                item = _shortened(item, own - heading, cost_of)
                cost = cost_of(item)
            if item.text and heading + cost <= own:
                chosen[at] = item
                own -= heading + cost
                left -= heading + cost
                heading = 0
    for at in sorted(range(len(items)), key=lambda at: (-items[at].entry.value, at)):
        first = all(item.section is not items[at].section for item in chosen.values())
        cost = costs[at] + (headings[items[at].section.name] if first else 0)
        if at not in chosen and cost <= left:
            chosen[at] = items[at]
            left -= cost
    for at, item in chosen.items():
        if item.shortened:
            more = left + cost_of(item)
            longer = items[at] if costs[at] <= more else _shortened(items[at], more, cost_of)
            if longer.text and cost_of(longer) <= more:
                chosen[at] = longer
                left = more - cost_of(longer)
    return [chosen[at] for at in sorted(chosen)]


def _shortened(item: _Item, room: int, cost_of: Callable[[_Item], int]) -> _Item:
    """Its beginning, up to a sentence or a word; without text, where the room isn't worth it."""
    if room < _SHORTEST_PART:
        return replace(item, text="")
    item = replace(item, text=plain(item.text))
    low, high = 0, len(item.text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if cost_of(replace(item, text=item.text[:middle].rstrip() + " …")) <= room:
            low = middle
        else:
            high = middle - 1
    part = item.text[:low]
    sentence = max((end.end() for end in _SENTENCE.finditer(part)), default=0)
    if sentence * 2 > low:
        part = part[:sentence] + " …"
    else:
        word = part.rfind(" ")
        part = (part[:word] if word * 2 > low else part) + "…"
    return replace(item, text=part if low else "", shortened=True)


_SENTENCE = re.compile(r"[.!?。！？](?=\s)")
