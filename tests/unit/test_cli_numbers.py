"""One of a thing is said as one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import jochi.cli
from jochi.cli.output import some

PLURAL = re.compile(r":,\} (memories|pairs|nodes|scopes|touches|tombstones|faults|actions|records)\b")


@pytest.mark.parametrize(
    ("n", "said"),
    [(0, "0 memories wait"), (1, "1 memory waits"), (2, "2 memories wait"), (12_345, "12,345 memories wait")],
)
def test_a_number_has_the_words_for_it(n: int, said: str) -> None:
    assert some(n, "memory waits", "memories wait") == said


def test_no_command_says_one_memories() -> None:
    folder = Path(jochi.cli.__file__).parent
    said = [
        f"{file.name}:{number}: {line.strip()}"
        for file in sorted(folder.glob("*.py"))
        # A demonstration has never one of anything.
        if file.name != "demo.py"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if PLURAL.search(line)
    ]
    assert said == []
