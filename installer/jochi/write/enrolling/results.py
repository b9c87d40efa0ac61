"""What enrolment found and did, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from jochi.undo.results import Leftover
from jochi.write.enrolling.object_mappers import OBJECT_MAPPERS

PROBLEMS = {
    "no_id": "have no id: --generate-ids makes one",
    "wrong_id": "have an id that is neither text nor an integer, or is empty",
    "no_scope": "have no scope",
    "wrong_scope": "have a scope that is neither text nor an integer, is empty or holds a `/`",
    "key_too_long": "have a scope and an id that are too long together (intake.longest_key)",
    "content_too_long": "have content that is too long (content.longest)",
    "duplicate": "have the scope and id of another node",
    "protected_label": "carry a label that is never enrolled",
    "tombstone": "carry the label Tombstone",
}
"""Why a node isn't enrolled; any other reason is `own_<property>`: it has a property of that name already."""

SAMPLES = 20


@dataclass
class Problems:
    """Nodes that can't be enrolled: how many by problem, with a few `scope/id` (or what there is of it) each."""

    counts: dict[str, int] = field(default_factory=dict)
    samples: dict[str, list[str]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many nodes."""
        return sum(self.counts.values())

    def add(self, problem: str, n: int, samples: Iterable[str | None] = ()) -> None:
        """Counts ``n`` more; keeps at most `SAMPLES` names a problem."""
        if n:
            self.counts[problem] = self.counts.get(problem, 0) + n
        kept = self.samples.setdefault(problem, [])
        kept.extend(s for s in samples if s is not None and len(kept) < SAMPLES and s not in kept)

    def add_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Counts rows {problem, n, samples} as procedures return them."""
        for row in rows:
            self.add(row["problem"], row["n"], row["samples"])

    def lines(self) -> list[str]:
        """One sentence a problem."""
        return [f"{n:,} {say(problem)}{self._such_as(problem)}" for problem, n in sorted(self.counts.items())]

    def _such_as(self, problem: str) -> str:
        named = ", ".join(self.samples.get(problem, [])[:5])
        return f" ({named})" if named else ""


def say(problem: str) -> str:
    """A problem in words."""
    if problem in PROBLEMS:
        return PROBLEMS[problem]
    return f"have a property {problem.removeprefix('own_')} of their own, which the engine would write over"


@dataclass(frozen=True)
class EnrolmentPlan:
    """What `enrol` would do. Lengths are characters; ``verdicts`` counts by (rule or None, outcome) what is due at once."""

    label: str
    nodes: int
    curated: int
    ready: int
    troubles: Problems
    wrong_types: dict[str, dict[str, int]]
    """By the app's property: how many nodes have a type that rules and rails can't use, by type. NULL: absent."""
    mapping: dict[str, str | None]
    """Of these, by the moment's own property: the TOML entry of `properties` by which more would be read; None: there is none."""
    with_content: int
    longest_content: int
    total_content: int
    verdicts: dict[tuple[str | None, str], int]

    @property
    def prunes(self) -> dict[str, int]:
        """By rule: memories that would be pruned at once, if destructive jobs may run."""
        return {rule or "": n for (rule, outcome), n in self.verdicts.items() if outcome == "prune"}

    def as_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "label": self.label,
            "nodes": self.nodes,
            "curated": self.curated,
            "ready": self.ready,
            "refused": self.troubles.counts,
            "refused_samples": self.troubles.samples,
            "wrong_types": self.wrong_types,
            "mapping": self.mapping,
            "content": {"n": self.with_content, "longest": self.longest_content, "total": self.total_content},
            "due_at_once": [{"rule": rule, "outcome": outcome, "n": n} for (rule, outcome), n in self.verdicts.items()],
            "object_mappers": [asdict(advice) for advice in OBJECT_MAPPERS],
        }


@dataclass
class EnrolResult:
    """What `enrol` did. ``passed``: nodes that were gone or enrolled by somebody else when their turn came."""

    label: str
    run: str
    enrolled: int = 0
    passed: int = 0
    already: int = 0
    troubles: Problems = field(default_factory=Problems)


@dataclass
class DisenrolResult:
    """What `disenrol` did. ``left``: curated nodes of this label that no enrolment made (remember, import); ``kept``:
    tombstones that stay what they are; ``forbidden``: what a constraint of the application kept from becoming what it was."""

    label: str
    released: int = 0
    restored: int = 0
    left: int = 0
    kept: int = 0
    forbidden: list[Leftover] = field(default_factory=list)
