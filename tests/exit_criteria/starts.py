"""What an agent starts with: how many of LoCoMo's questions have their evidence in the manifest of their scope (seed 001).

Half of a conversation's questions are asked while it goes on, as in `bands`; the other half never is. A day after its last session
the manifest is chosen, and compared with other ways to fill as many tokens from everything that the scope holds.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
from tests.exit_criteria import bands, curve
from tests.exit_criteria.activity import activity
from tests.exit_criteria.criteria import Criterion
from tests.exit_criteria.play import play
from tests.oracle.budgets import tokens
from tests.oracle.classification import worth
from tests.oracle.context import FRAME, LINE, section_of
from tests.oracle.memory import Memory

from jochi import Jochi
from jochi.graph.driver_values import to_python
from jochi.policy import load_policy
from jochi.text.tokens import Estimate
from jochi.write import importing
from jochi.write.importing import MemoryRecord
from jochi_workers.derive import derivation
from jochi_workers.derive.derivation import OfflineMaker
from jochi_workers.derive.handler import DeriveHandler
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

DAY = timedelta(days=1)
JOBS = ("fold_accesses", "roll_access_days", "curate_due", "enforce_budgets")
LIMIT = 2000
DRAWS, RESAMPLES = 20, 2000
POLICIES = {
    "shipped": "",
    "no values": "[classification]\nclassifying = false\n",
    "levels": "[derive.levels]\nderiving = true\n",
}
"""By name: what stands in the policy besides."""

_MEMORIES = """
MATCH (m:Curated {scope: $scope})
RETURN m.id AS id, [label IN labels(m) WHERE label <> 'Curated'] AS labels, properties(m) AS p ORDER BY m.key
"""
_FIRST = "MATCH (s:JochiScope {name: $scope}) RETURN s.first_access_at AS first"


@dataclass(frozen=True)
class Text:
    """A memory that could stand in a manifest. ``tokens`` with those of its line; ``used``: last, else made."""

    key: str
    text: str
    tokens: int
    value: float
    used: datetime


@dataclass(frozen=True)
class Look:
    """One scope at its end: what the manifest holds, and everything that could."""

    scope: str
    chosen: tuple[Text, ...]
    held: tuple[Text, ...]

    @property
    def used(self) -> int:
        return sum(text.tokens for text in self.chosen)


@dataclass(frozen=True)
class Share:
    """Of questions: the share that finds all its evidence, and the 95 % interval over the questions."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Start:
    """One way to fill the tokens that one policy's manifests use: ``tokens`` a scope, shares of the questions that were asked and
    of the others; ``observed`` the same where an observation made of a turn counts as the turn."""

    policy: str
    way: str
    tokens: float
    asked: Share
    other: Share
    asked_observed: Share
    other_observed: Share


@dataclass(frozen=True)
class Compared:
    """All ways under one policy; ``most``: tokens of the largest manifest with its frame; ``all_tokens``: of everything."""

    policy: str
    starts: tuple[Start, ...]
    most: int
    all_tokens: float


class Evidence:
    """Which turns a set of texts holds."""

    def __init__(self, records: Iterable[MemoryRecord]) -> None:
        self.turns: dict[str, str] = {}
        self.observations: dict[str, set[str]] = defaultdict(set)
        for record in records:
            if record.kind == "MemoryEntry":
                self.turns[record.key] = str(record.properties["content"])
            for link in record.relationships:
                if link.type == "EVIDENCE":
                    self.observations[link.to_key].add(record.key)

    def there(self, asked: Sequence[frozenset[str]], texts: Iterable[Text], observed: bool) -> np.ndarray:
        """1.0 for each question with evidence and all of it among the texts: as a memory or word by word within one."""
        by_key = {text.key: text.text for text in texts}
        in_full = {turn for turn in self.turns if turn in by_key}
        scopes = defaultdict(list)
        for key, text in by_key.items():
            if key not in self.turns:
                scopes[key.partition("/")[0]].append(text)

        def has(turn: str) -> bool:
            if turn in in_full or (observed and any(key in by_key for key in self.observations[turn])):
                return True
            said = self.turns.get(turn)
            return bool(said) and any(said in text for text in scopes[turn.partition("/")[0]])

        return np.array([float(bool(turns) and all(map(has, turns))) for turns in asked])


def looks(
    client: Jochi, records: Sequence[MemoryRecord], asked: Sequence[frozenset[str]], *, levels: bool
) -> list[Look]:
    """Plays every conversation by the day, with ``asked``, and looks at each when it has been over for a day.

    All are moved to end at one moment, each as a whole: they are in scopes of their own, and that takes a third of the time.
    """
    by_scope = _ending_together(records)
    moved = [record for its in by_scope.values() for record in its]
    end = max(record.properties["created_at"] for record in moved) + DAY
    used = []
    for scope, its in by_scope.items():
        here = [question for question in asked if any(key.startswith(f"{scope}/") for key in question)]
        used += bands.uses(here, its, end)
    events = sorted([*activity(moved), *used], key=lambda event: (event.at, event.record is None))

    def after(job: str, at: datetime) -> None:
        if levels and job == JOBS[-1]:
            _work(client, at)

    start = end - ((end - events[0].at) // DAY + 1) * DAY
    played = play(client, events, dict.fromkeys(JOBS, DAY), start=start, end=end, after=after)
    if played.errors:
        raise RuntimeError(played.errors[0])
    return [_look(client, scope, end) for scope in sorted(by_scope)]


def _ending_together(records: Iterable[MemoryRecord]) -> dict[str, list[MemoryRecord]]:
    by_scope: dict[str, list[MemoryRecord]] = defaultdict(list)
    for record in records:
        by_scope[record.scope].append(record)
    ends = {scope: max(record.properties["created_at"] for record in its) for scope, its in by_scope.items()}
    latest = max(ends.values())

    def moved(record: MemoryRecord) -> MemoryRecord:
        by = latest - ends[record.scope]
        properties = {
            name: value + by if isinstance(value, datetime) else value for name, value in record.properties.items()
        }
        return replace(record, properties=properties)

    return {scope: [moved(record) for record in its] for scope, its in by_scope.items()}


def _work(client: Jochi, at: datetime) -> None:
    """What a worker does at ``at``: counts, hashes, summaries and keywords without a model."""
    counter, levels = Estimate(), derivation("levels")
    with patch("jochi_workers.queue._server_clock", lambda _: lambda: at):
        Worker(
            client.engine, [PrepareHandler(counter), DeriveHandler(levels, OfflineMaker(levels, counter), counter)]
        ).run(once=True)


def _look(client: Jochi, scope: str, at: datetime) -> Look:
    first = to_python(client.database.run(_FIRST, {"scope": scope}, write=False)[0])["first"]
    held = {}
    for row in client.database.run(_MEMORIES, {"scope": scope}, write=False):
        memory = Memory(row["id"], tuple(row["labels"]), to_python(dict(row["p"])), scope=scope)
        said = memory.get("content")
        if isinstance(said, str) and said.strip() and section_of(memory):
            used = memory.get("last_accessed_at") or memory.get("created_at")
            held[memory.key] = Text(memory.key, said, tokens(memory) + LINE, worth(memory, at, first).value, used)
    chosen = client.context(scope, max_tokens=LIMIT, at=at).entries
    return Look(scope, tuple(held[entry.key] for entry in chosen), tuple(held.values()))


def compared(policy: str, found: Sequence[Look], asked: Sequence[frozenset[str]], evidence: Evidence) -> Compared:
    """Ours against the newest, the most valued and a random draw of everything, at the tokens that ours uses in each scope."""

    def start(way: str, fills: Sequence[Sequence[Text]]) -> Start:
        shares = []
        for observed in (False, True):
            for half in bands.halves(asked):
                shares.append(share(np.mean([evidence.there(half, fill, observed) for fill in fills], axis=0)))
        mean = float(np.mean([sum(text.tokens for text in fill) for fill in fills])) / len(found)
        return Start(policy, way, mean, *shares)

    def filled(order: Callable[[Text], tuple[object, ...]]) -> list[Text]:
        return [text for look in found for text in fill(look, order)]

    def drawn(dice: Random) -> Callable[[Text], tuple[object, ...]]:
        return lambda text: (dice.random(), text.key)

    starts = (
        start("ours", [[text for look in found for text in look.chosen]]),
        start("newest first", [filled(lambda text: (-text.used.timestamp(), text.key))]),
        start("value alone", [filled(lambda text: (-text.value, text.key))]),
        start("random", [filled(drawn(Random(seed))) for seed in range(DRAWS)]),
    )
    everything = sum(text.tokens for look in found for text in look.held if not text.key.endswith(".full"))
    return Compared(policy, starts, max(look.used for look in found) + FRAME, everything / len(found))


def fill(look: Look, order: Callable[[Text], tuple[object, ...]]) -> list[Text]:
    """What fits of everything in this order into the tokens that the manifest uses; what doesn't fit is passed over."""
    left, kept = look.used, []
    for text in sorted(look.held, key=order):
        if text.tokens <= left:
            left -= text.tokens
            kept.append(text)
    return kept


def share(found: np.ndarray) -> Share:
    """Mean and bootstrapped interval, seeded."""
    dice = np.random.default_rng(1)
    means = found[dice.integers(len(found), size=(RESAMPLES, len(found)))].mean(axis=1)
    return Share(float(found.mean()), *(float(x) for x in np.quantile(means, (0.025, 0.975))))


def measure(client: Jochi, data: Path, wiped: Callable[[Jochi], Jochi]) -> list[Compared]:
    """Every policy of `POLICIES`, each in a store that ``wiped`` emptied."""
    records = list(importing.records(data, now=datetime.now(timezone.utc), on_bad=lambda bad: None))
    asked, evidence, found = curve.questions(data), Evidence(records), []
    with tempfile.TemporaryDirectory() as folder:
        for name, tables in POLICIES.items():
            file = Path(folder, "policy.toml")
            file.write_text(f'[policy]\nname = "{name}"\nextends = "default"\n{tables}', encoding="utf-8")
            with_it = Jochi(client.database.driver, policy=load_policy(file))
            with_it.install(arm=False)
            at_end = looks(wiped(with_it), records, bands.halves(asked)[0], levels=name == "levels")
            found.append(compared(name, at_end, asked, evidence))
    return found


def criteria(found: Sequence[Compared]) -> list[Criterion]:
    """Never above the limit; at least as good as the newest and a draw where questions were asked."""
    if not found:
        return []
    most = {one.policy: one.most for one in found}
    lines = [
        Criterion(
            f"LoCoMo: what an agent starts with ≤ {LIMIT:,} tokens",
            max(most.values()) <= LIMIT,
            ", ".join(f"{policy} {tokens:,} at most" for policy, tokens in most.items()),
        )
    ]
    for one in found:
        by_way: Mapping[str, Start] = {start.way: start for start in one.starts}
        ours, *others = (by_way[way] for way in ("ours", "newest first", "random"))
        lines.append(
            Criterion(
                f"LoCoMo, {one.policy}: a start finds at least as much as newest first and random (asked questions)",
                all(ours.asked.mean >= other.asked.mean for other in others),
                f"{ours.asked.mean:.1%} against {' and '.join(f'{other.asked.mean:.1%}' for other in others)}; also observed: "
                f"{ours.asked_observed.mean:.1%} against {' and '.join(f'{other.asked_observed.mean:.1%}' for other in others)}",
            )
        )
    return lines
