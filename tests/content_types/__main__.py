"""`python -m tests.content_types`: how many are right; what differs, of those that weren't held back (`--all`: of all)."""

from __future__ import annotations

import sys

from rich.console import Console
from tests.content_types.measure import by_keyword, compared, examples, messages, tallied

from jochi_workers.language import read_all
from jochi_workers.language.content_types import content_type

if __name__ == "__main__":
    console = Console(width=140)
    for held_back in (False, True):
        told = compared([one for one in examples() if one.held_back == held_back])
        wrong = [(one, taken) for one, taken in told if one.type != taken]
        console.print(
            f"{'held back' if held_back else 'looked at'}: {len(told) - len(wrong)} of {len(told)} right", markup=False
        )
        for one, taken in wrong:
            if not held_back or "--all" in sys.argv[1:]:
                console.print(f"  {one.type}, taken for {taken}: {one.text}", markup=False)
    for held_back in (False, True):
        chosen = [one for one in messages() if one.held_back == held_back]
        ours = tallied(chosen, [content_type(reading) for reading in read_all(one.text for one in chosen)])
        naive = tallied(chosen, [by_keyword(one.text) for one in chosen])
        console.print(
            f"messages, {'held back' if held_back else 'looked at'}: ours {ours}; by keyword {naive}", markup=False
        )
