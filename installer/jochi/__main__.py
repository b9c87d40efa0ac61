"""`python -m jochi`: the command line."""

from __future__ import annotations

from jochi.cli import main

if __name__ == "__main__":
    main()
