"""The lines of the inbox that decide something, where a key looks like an option."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from jochi.operate.inbox import _MADE

KEY = "-ann/-x"
TAKES_WHATEVER_FOLLOWS = {"--", "--approve", "--reject", "--replaces", "--both-hold"}
"""An option that takes two keys takes them whatever they begin with."""


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("duplicate", {"key": KEY, "other": "b/c", "name": "held", "why": "pinned"}),
        ("names", {"key": KEY, "other": "b/c", "why": "name:alias"}),
        ("forgetting", {"key": KEY, "why": "x"}),
        ("replacement", {"key": KEY, "other": "b/c", "scope": "-ann"}),
        ("source", {"key": KEY, "name": "read", "why": "no file"}),
        ("source", {"key": KEY, "name": "read", "why": "no file", "n": 2}),
        ("task", {"key": KEY, "scope": "-ann", "n": 4, "why": "no answer"}),
        ("worker", {"key": "host/1", "failing": ["context", "mirror"]}),
    ],
)
def test_a_line_can_be_pasted_as_it_is(kind: Any, row: dict[str, Any]) -> None:
    _, commands = _MADE[kind](row)
    assert commands
    for command in commands:
        words = shlex.split(command.line)
        assert "TABLE" not in command.line
        for name in (KEY, "-x"):
            if name in words:
                assert words[words.index(name) - 1] in TAKES_WHATEVER_FOLLOWS, command.line
