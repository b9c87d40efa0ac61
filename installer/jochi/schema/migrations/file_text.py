"""What stands in a migration file: its statements and its checksum, to the letter as neo4j-migrations reads them.

The contract is that tool's `DefaultCypherResource`: statements end with `;` and a line break, comments belong to the
statement, and the checksum is taken over the statements' text. A file applied by one tool must look unchanged to the
other, so the odd corners (what counts as blank, what `$` matches in Java) are kept on purpose.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterable, Mapping

from jochi.errors import UsageError

_SEPARATOR = re.compile(r";(?:\r?\n|\r)")
_LINE_BREAK = re.compile(r"\r?\n|\r")
# Java's trim(): everything up to U+0020, and nothing else that Unicode calls a space.
_BLANK = "".join(map(chr, range(0x21)))
# Java's `;$`: at the very end, or before one final line break; \n and \r are trimmed away before this is applied.
_LAST_SEMICOLON = re.compile(r";(?=[\u0085\u2028\u2029]?\Z)")
_PLACEHOLDER = re.compile(r"\$\{nm:([a-zA-Z0-9_.-]+)\}")
_USE = re.compile(r":use +[a-z][a-z\d.\-]{2,62}", re.IGNORECASE)
_PRECONDITION = re.compile(r"// *(?:assert|assume)(?: in (?:schema|target))? (?:that|q')", re.IGNORECASE)
# The end of CALL {…} IN TRANSACTIONS, with the row count or the concurrency between the two words.
_IN_TRANSACTIONS = re.compile(r"\}\s*IN(?:\s+\S+)?(?:\s+CONCURRENT)?\s+TRANSACTIONS\b", re.IGNORECASE)

ENVIRONMENT_PREFIX = "NM_PLACEHOLDERS_"


def trim(text: str) -> str:
    """Java's `String.trim()`."""
    return text.strip(_BLANK)


def statements(text: str) -> list[str]:
    """The statements of a file in their order, comments and comment-only statements included."""
    pieces = (trim(_LAST_SEMICOLON.sub("", trim(piece))) for piece in _SEPARATOR.split(text))
    return [piece for piece in pieces if piece]


def checksum(parts: Iterable[str]) -> str:
    """The unsigned CRC-32 over the statements' UTF-8 bytes, as a decimal string."""
    value = 0
    for part in parts:
        value = zlib.crc32(part.encode("utf-8"), value)
    return str(value)


def _is_one_line_comment(text: str) -> bool:
    trimmed = trim(text)
    return trimmed.startswith("//") and "\n" not in trimmed and "\r" not in trimmed


def is_comment(statement: str) -> bool:
    """Whether neo4j-migrations leaves this statement out when it runs the file: `//` lines and nothing else."""
    if not trim(statement).startswith("//"):
        return False
    return all(_is_one_line_comment(line) for line in _LINE_BREAK.split(statement))


def executable(parts: Iterable[str]) -> list[str]:
    """The statements that go to the server."""
    return [part for part in parts if not is_comment(part)]


def needs_own_transaction(statement: str) -> bool:
    """Whether this statement commits by itself (`CALL {…} IN TRANSACTIONS`) and so can't share a transaction."""
    return _IN_TRANSACTIONS.search(without_comments(statement)) is not None


def without_comments(statement: str) -> str:
    """``statement`` without its `//` lines."""
    return "\n".join(line for line in _LINE_BREAK.split(statement) if not trim(line).startswith("//"))


def check(parts: Iterable[str], where: str) -> None:
    """Refuses what neo4j-migrations understands and Jochi doesn't, or what it would send to the server by mistake.

    Raises `UsageError` that names ``where`` (the file) and the statement.
    """
    for number, part in enumerate(parts, start=1):
        place = f"{where}, statement {number}"
        if _USE.search(part):
            raise UsageError(
                "a migration can't switch the database (`:use …`, also inside a comment)",
                where=place,
                fix="take it out: Jochi's objects stay in one database",
            )
        if any(_PRECONDITION.match(trim(line)) for line in leading_comments(part)):
            raise UsageError(
                "preconditions (`// assert …`, `// assume …`) are not supported",
                where=place,
                fix="word the comment differently, or write the statement so that it may run anywhere",
            )
        if not is_comment(part) and not trim(without_comments(part)):
            raise UsageError(
                "a block of comments with a blank line in it, and no statement: the server would get it and reject it",
                where=place,
                fix="take the blank line out, or move the comments above a statement",
            )


def leading_comments(statement: str) -> list[str]:
    """The `//` lines at the head of ``statement``."""
    lines: list[str] = []
    for line in _LINE_BREAK.split(statement):
        if not trim(line).startswith("//"):
            break
        lines.append(line)
    return lines


def fill(statement: str, placeholders: Mapping[str, str], where: str) -> str:
    """Puts values in the place of `${nm:key}`, from ``placeholders`` or the environment (`NM_PLACEHOLDERS_key`).

    Raises `UsageError` when there is none. The checksum is always that of the text before this.
    """

    def value(match: re.Match[str]) -> str:
        key = match.group(1)
        found = placeholders.get(key, os.environ.get(ENVIRONMENT_PREFIX + key))
        if found is None:
            raise UsageError(
                f"there is no value for the placeholder {match.group(0)}",
                where=where,
                fix=f"pass --placeholder {key}=… or set {ENVIRONMENT_PREFIX}{key}",
            )
        return found

    return _PLACEHOLDER.sub(value, statement)
