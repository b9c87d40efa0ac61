"""A source's text as its messages: `[2026-01-05 10:00] Anna: I moved.`, one a line, what goes on indented by two blanks; also
`Anna: I moved.`; and any other text, by its paragraphs. What stands behind `Anna (attachment):` is nobody's own words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from jochi.text.messages import ATTACHMENT
from jochi_workers.derive.extract.lists import words_in
from jochi_workers.guard import lists
from jochi_workers.language.sentences import SPEAKER, STAMP

LONGEST = 20_000
"""Characters of one message that are read at once: a longer one is cut at the end of a line, else at a blank."""

_STAMPED = re.compile(rf"{STAMP}(?:([^\s:\[\]][^:\n]{{0,99}}): +)?")
_ATTACHED = re.compile(rf"(?:\[[\d T:-]{{10,19}}\] *)?(?:[^\s:\[\]][^:\n]{{0,99}} )?{re.escape(ATTACHMENT)}: +")
_LABELS = words_in("labels")
_OPENERS = words_in("openers")
_ROLES = words_in("roles")
_SPOKEN = re.compile(r"(?<![\w'’])(?:i|i'm|i’m|my|me|we|our|us|you|your)(?![\w])", re.IGNORECASE)


class Message(NamedTuple):
    """``speaker``: as written, '' where nobody is named, and of what somebody attached. ``text``: without its head and indents."""

    speaker: str
    text: str


def messages(text: str) -> Iterator[Message]:
    """The messages in order, in time that grows with the text."""
    speakers = _unstamped(text)
    speaker, lines, open_ = "", list[str](), False
    for line in text.splitlines():
        attached = _ATTACHED.match(line)
        head = attached or _STAMPED.match(line)
        name = head[1] or "" if head and not attached else ""
        end = head.end() if head else 0
        if head and name and not _called(name):  # no sender, but a colon in what was said
            name, end = "", head.start(1)
        if head is None and (label := SPEAKER.match(line)) and label[1] in speakers:
            head, name, end = label, label[1], label.end()
        if head:
            yield from _cut(speaker, lines)
            speaker, lines, open_ = name.strip(), [line[end:]], True
        elif open_ and (line.startswith("  ") or not line.strip()):
            lines.append(line.strip())
        elif open_ or not line.strip():
            yield from _cut(speaker, lines)
            speaker, lines, open_ = "", [line.strip()], False
        else:
            lines.append(line.strip())
    yield from _cut(speaker, lines)


def without_attachments(text: str) -> str:
    """``text`` without what somebody pasted or attached: what people say themselves."""
    if ATTACHMENT not in text:
        return text
    kept: list[str] = []
    attached = False
    for line in text.splitlines():
        if line.strip() and not line.startswith("  "):
            attached = _ATTACHED.match(line) is not None
        if not attached:
            kept.append(line)
    return "\n".join(kept)


def _called(name: str) -> bool:
    """Whether a name can stand before the colon: not `The plan`, not `Here it is`."""
    words = name.split()
    frequent = dict(lists.by_language())["en"]
    return len(words) == 1 or (words[0].casefold() not in _OPENERS and not any(word in frequent for word in words))


def person(speaker: str) -> bool:
    """Whether a speaker's name can be a person's: no role, no label, no address, no number."""
    known = speaker.casefold() in _ROLES | _LABELS
    return not known and not re.search(r"[@/\\\d_]", speaker) and any(map(str.isalpha, speaker))


def _unstamped(text: str) -> frozenset[str]:
    """The heads of lines that are speakers': all words with a capital, no usual label, and twice or before words in the first or
    second person."""
    found: Counter[str] = Counter()
    spoken: set[str] = set()
    for line in text.splitlines():
        head = SPEAKER.match(line)
        if head and head[1].casefold() not in _LABELS and all(not word[0].islower() for word in head[1].split()):
            found[head[1]] += 1
            if _SPOKEN.search(line, head.end()):
                spoken.add(head[1])
    turns = [name for name, times in found.items() if times > 1]
    dialogue = bool(spoken) or len(turns) > 1
    return frozenset({*spoken, *(turns if dialogue else ())})


def _cut(speaker: str, lines: list[str]) -> Iterator[Message]:
    text = "\n".join(lines).strip()
    while len(text) > LONGEST:
        end = (
            max(text.rfind("\n", LONGEST // 2, LONGEST), 0) or max(text.rfind(" ", LONGEST // 2, LONGEST), 0) or LONGEST
        )
        yield Message(speaker, text[:end].strip())
        text = text[end:].strip()
    if text:
        yield Message(speaker, text)
