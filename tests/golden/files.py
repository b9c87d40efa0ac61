"""Goldens as files: JSON lines in order; and what differs between two of them, in words.

A policy is most like another one: its file has what differs from that one's (`BASES`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.golden.look import Fact

FOLDER = Path(__file__).parent
BASES = {"tests": "default", "relative": "tests", "rules_alone": "tests", "destructive_only": "tests"}
_FIRST = 20

Facts = dict[tuple[str, int, str], dict[str, Any] | None]
"""By what, day and key; None: the other policy has this one, and here it isn't."""


def named(facts: Iterable[Fact]) -> Facts:
    """By what, day and key, as JSON gives them back; labels sorted, for their order is that in which a database first met them."""
    return {(fact.what, fact.at, fact.key): _sorted_labels(json.loads(json.dumps(fact.fields))) for fact in facts}


def _sorted_labels(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: sorted(value) if name.endswith("labels") and isinstance(value, list) else value
        for name, value in fields.items()
    }


def read(name: str, whats: frozenset[str] | None = None) -> Facts:
    """A policy's goldens, of these sorts (None: of all)."""
    facts: Facts = {}
    if name in BASES:
        facts = read(BASES[name])
    for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        what, at, key, fields = json.loads(line)
        facts[what, at, key] = fields
    return {of: fields for of, fields in facts.items() if fields is not None and (whats is None or of[0] in whats)}


def write(name: str, facts: Facts) -> None:
    """The file of a policy; its base is written before."""
    base = read(BASES[name], frozenset(what for what, _, _ in facts)) if name in BASES else {}
    differs = {of: facts.get(of) for of in {*base, *facts} if base.get(of) != facts.get(of)}
    lines = (json.dumps([*of, differs[of]], separators=(",", ":"), sort_keys=True) for of in sorted(differs))
    (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def differences(wanted: Facts, found: Facts) -> str:
    """Empty where they are the same; else how many differ by field, and the first twenty."""
    lines, counts = [], Counter[str]()
    for of in sorted({*wanted, *found}):
        before, after = wanted.get(of), found.get(of)
        if before is None or after is None:
            counts[f"{of[0]} {'new' if before is None else 'missing'}"] += 1
            lines.append(
                f"{of[0]} day {of[1]} {of[2]}: {'only now' if before is None else 'no more'}: {before or after}"
            )
            continue
        for field in sorted({*before, *after}):
            if before.get(field) != after.get(field):
                counts[f"{of[0]}.{field}"] += 1
                lines.append(f"{of[0]} day {of[1]} {of[2]}: {field}: {before.get(field)} -> {after.get(field)}")
    if not lines:
        return ""
    by_field = ", ".join(f"{n} {field}" for field, n in counts.most_common())
    return "\n".join([f"{len(lines)} differences ({by_field}); the first:", *(line[:400] for line in lines[:_FIRST])])
