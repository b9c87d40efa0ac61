"""Lines as people write them, eighty in ten languages: which show a secret, and which only look like it. The lines were written
before the rules; every third of them was judged only when the rules were made."""

from __future__ import annotations

from pathlib import Path

from jochi.text.private_data import private_kinds
from jochi.toml import tomllib

LINES = tomllib.loads((Path(__file__).parents[1] / "private_lines" / "lines.toml").read_text(encoding="utf-8"))
MISSED = ["PIN of the safe 80-31-7"]  # nothing stands between what it is of and its value


def test_secrets_are_found_and_nothing_else() -> None:
    assert len(LINES["secret"]) == len(LINES["none"]) == 40
    assert [line for line in LINES["secret"] if not private_kinds(line)] == MISSED
    assert [line for line in LINES["none"] if private_kinds(line)] == []
