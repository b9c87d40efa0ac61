"""`python -m tests.language_set`: precision and recall by kind of sentence; `--show` prints what differs."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table
from tests.language_set.measure import compared, examples, figures


def main() -> None:
    console = Console(width=110)
    table = Table("kind", "sentences", "statements", "precision", "recall")
    chosen = examples()
    for kind in (*dict.fromkeys(one.kind for one in chosen), "all"):
        these = [one for one in chosen if kind in (one.kind, "all")]
        found = figures(these)
        table.add_row(kind, str(len(these)), str(found.expected), f"{found.precision:.0%}", f"{found.recall:.0%}")
    console.print(table)
    if "--show" in sys.argv[1:]:
        for example, too_much, missing in compared(chosen):
            if too_much or missing:
                console.print(
                    example.text, "\n  too much:", list(too_much), "\n  missing:", list(missing), markup=False
                )


if __name__ == "__main__":
    main()
