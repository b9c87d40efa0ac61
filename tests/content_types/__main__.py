"""`python -m tests.content_types`: how many are right; what differs, of those that weren't held back (`--all`: of all)."""

from __future__ import annotations

import sys

from rich.console import Console
from tests.content_types.measure import compared, examples

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
