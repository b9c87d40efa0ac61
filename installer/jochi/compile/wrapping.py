"""No line of a rendered body is longer than a reader's window (DESIGN §6): what macros joined is broken again, between words."""

from __future__ import annotations

import re

LONGEST = 160
"""Characters of a line."""


def wrapped(text: str, longest: int = LONGEST) -> str:
    """``text`` with its long lines broken at blanks and behind opening brackets, outside of quotes.

    A break is as far outside of brackets as can be, behind a comma or before what joins two things, where there is such a place.
    What it leaves over begins two blanks deeper; a comment goes on as a comment.
    A word longer than the line stays whole.
    """
    lines: list[str] = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        while len(line) > longest:
            comment = line.lstrip().startswith("//")
            places = [(at, 0) for at, character in enumerate(line) if character == " "] if comment else _places(line)
            # A quarter of the line may be given up for a place that is less deep.
            fitting = [(depth, -at) for at, depth in places if len(indent) + 8 < at <= longest]
            near = [place for place in fitting if -place[1] > longest * 3 // 4] or fitting
            if not near:
                break
            at = -min(near)[1]
            lines.append(line[:at].rstrip())
            line = indent + ("// " if comment else "  ") + line[at:].lstrip()
        lines.append(line)
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


_JOINT = re.compile(r"(?<=,) | (?=(?:AND|OR|WHEN|ELSE|WHERE|END AS|AS|\+|\|) )")
"""Blanks at which a reader would break a line."""
_AWKWARD = 3
"""Brackets that a break may be deeper in for being at a joint."""


def _places(line: str) -> list[tuple[int, int]]:
    """Where a line of Cypher may be broken outside of quotes, each with how many brackets are open there (more: it is awkward)."""
    places: list[tuple[int, int]] = []
    quote, depth, escaped = "", 0, False
    joints = {found.start() for found in _JOINT.finditer(line)}
    for at, character in enumerate(line):
        if quote:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == quote:
                quote = ""
        elif character in "'\"`":
            quote = character
        elif line.startswith("//", at):
            break  # what follows is a comment: a break before it would be one in the code
        elif character in "([{":
            depth += 1
            places.append((at + 1, depth + _AWKWARD))
        elif character in ")]}":
            depth -= 1
        elif character == " ":
            places.append((at, depth if at in joints else depth + _AWKWARD))
    return places
