"""HEARTBEAT.md as Jochi writes it: a page of bounded size over any number of tasks (seed 001, Lazy Loading for Heartbeat)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from jochi.context.lines import plain
from jochi.errors import Refused, UsageError
from jochi.text.imports import IMPORT, escape_imports, escape_json_imports
from jochi.text.tokens import TokenCounter
from jochi.text.visible import visible

MAX_TOKENS = 1_000
"""Tokens of the file at most, unless the caller says another number."""

LEAST_TOKENS = 8
"""No quick task takes fewer of the file."""

_MARK = re.compile(r"\A# Heartbeat\n<!-- jochi (\{.*\}) -->\n")

_WHEN = re.compile(r'"written": "[^"]*"')


@dataclass(frozen=True)
class Entry:
    """A task as the file shows it: whole, or by its id alone where ``definition`` is None."""

    id: str
    name: str = ""
    definition: str | None = None
    last_executed: datetime | None = None


@dataclass(frozen=True)
class FileMark:
    """A file that Jochi wrote: for which scope and limit, of which definitions; ``edited``: somebody changed it since."""

    scope: str
    max_tokens: int
    definitions: str
    edited: bool


def read_mark(text: str) -> FileMark | None:
    """What the mark at the head of a file of ours says, however an editor ends lines; None for any other file."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    found = _MARK.match(text)
    if found is None:
        return None
    try:
        mark = json.loads(found[1])
        body = text[found.end() :]
        return FileMark(mark["scope"], mark["limit"], mark["definitions"], edited=mark["page"] != _hash(body))
    except (ValueError, KeyError, TypeError):
        return FileMark("", 0, "", edited=True)


def require_scope(mark: FileMark, scope: str, where: str) -> None:
    """`Refused` where the file is another scope's."""
    if mark.scope != scope:
        raise Refused(
            f"the file holds the tasks of scope {mark.scope!r}, not of {scope!r}",
            where=where,
            fix="name another file, or the scope that it was made for",
        )


def says_the_same(text: str, new: str) -> bool:
    """Whether the two differ in nothing but when they were written."""
    return _WHEN.sub("", text, count=1) == _WHEN.sub("", new, count=1)


def render(
    scope: str,
    tasks: Sequence[Entry],
    *,
    active: int,
    definitions: str,
    max_tokens: int,
    counter: TokenCounter,
    now: datetime,
) -> str:
    """The file of ``scope``: quick tasks first as far as they fit, then ids as far as they do, then how many more there are.

    ``tasks``: quick ones before the others, as many as could fit; ``active``: how many there are in all. Never more than
    ``max_tokens``, as ``counter`` counts them. `UsageError` where not even its head fits.
    """

    def page(whole: int, named: int) -> str:
        mark = {"scope": scope, "limit": max_tokens, "definitions": definitions, "written": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
        body = _body(scope, tasks[:whole], tasks[whole : whole + named], active)
        header = escape_json_imports(json.dumps({**mark, "page": _hash(body)}).replace(">", "\\u003e"))
        return f"# Heartbeat\n<!-- jochi {header} -->\n{body}"

    def fits(whole: int, named: int) -> bool:
        return counter.count(page(whole, named)) <= max_tokens

    if not fits(0, 0):
        raise UsageError(
            f"not even the head of the file fits into {max_tokens:,} tokens", fix="allow more: 1,000 is usual"
        )
    quick = sum(task.definition is not None for task in tasks)
    whole = _most(quick, lambda n: fits(n, 0))
    return page(whole, _most(len(tasks) - whole, lambda n: fits(whole, n)))


def _most(most: int, fits: Callable[[int], bool]) -> int:
    """The greatest number up to ``most`` that fits; 0 does. What is more takes more room, but for a token where words join."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _body(scope: str, whole: Sequence[Entry], others: Sequence[Entry], active: int) -> str:
    option = "" if scope == "default" else f" --scope {_argument(scope)}"
    lines = [
        "Written by `jochi heartbeat sync`; edits are not read. The tasks are in the graph:",
        f"`jochi heartbeat due{option} --agent NAME` claims what is due, `load ID` reads a definition, `add` changes one.",
    ]
    if whole:
        lines += ["", "## Quick tasks"]
    for task in whole:
        quoted = "\n".join(f"> {line}".rstrip() for line in escape_imports(visible(task.definition or "")).splitlines())
        lines += ["", f"### {_exact(task.id)}: {escape_imports(plain(task.name))}{_last(task)}", quoted]
    if others:
        lines += ["", "## Other tasks (ids)", *(f"- {_exact(task.id)}{_last(task)}" for task in others)]
    if left := active - len(whole) - len(others):
        lines += ["", f"… and {left:,} more: `jochi heartbeat ls{option}`"]
    return "\n".join(lines) + "\n"


def _last(task: Entry) -> str:
    return f" (last executed {task.last_executed:%Y-%m-%d %H:%M} UTC)" if task.last_executed else ""


def _exact(text: str) -> str:
    """In one line, whatever it holds, and so that it can be given back."""
    encoded = escape_json_imports(json.dumps(text))
    return text if text.isprintable() and "\\u0040" not in encoded else encoded


def _argument(text: str) -> str:
    """For a shell. A sign that might begin a path stands in quotes of its own."""
    return re.sub(IMPORT, '"@"', json.dumps(text, ensure_ascii=False))


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]
