"""Memories that the engine can't see, or can't judge: each a function over counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jochi.curate.duplicates import DuplicateCounts
from jochi.forgetting.forget_key import VARIABLE
from jochi.operate.check import Check, fail, ok, some, warn
from jochi.operate.inbox import Item
from jochi.operate.results import Hygiene
from jochi.text.tokens import best_counter
from jochi.use.sources import Unfinished


@dataclass(frozen=True)
class Unseen:
    """Counts by fault, with a few keys each; ``looked_at`` of ``total`` memories."""

    total: int
    looked_at: int
    counts: Mapping[str, int]
    samples: Mapping[str, list[str]]

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Unseen:
        """From the row of `report/unseen`."""
        faults = row["faults"]
        return cls(
            row["total"],
            row["looked_at"],
            {entry["fault"]: entry["n"] for entry in faults},
            {entry["fault"]: list(entry["samples"]) for entry in faults},
        )

    def _of(self, fault: str, words: str) -> str:
        named = ", ".join(self.samples.get(fault, []))
        return f"{self.counts[fault]:,} {words} (such as {named})"

    def say(self, words: Mapping[str, str]) -> str:
        """The faults that there are, in words."""
        return "; ".join(self._of(fault, text) for fault, text in words.items() if self.counts.get(fault))

    @property
    def share(self) -> str:
        """How much of the whole this speaks of."""
        return (
            f"{self.looked_at:,} memories" if self.looked_at == self.total else f"{self.looked_at:,} of {self.total:,}"
        )


_INVISIBLE = {
    "no_key": "without a key",
    "no_next_due": "without next_due",
    "wrong_next_due": "whose next_due is not a zoned datetime",
}
_UNDATED = {
    "no_created_at": "without created_at",
    "wrong_created_at": "whose created_at is not a zoned datetime",
}


def check_visible(found: Unseen) -> Check:
    """Every memory has a key and a place in the queue."""
    faults = found.say(_INVISIBLE)
    if not faults:
        return ok("memories", f"every one has a key and a place in the queue; looked at {found.share}")
    fixes = []
    if found.counts.get("no_key"):
        fixes.append("give each its scope, its id and key = scope/id (`jochi import` does), or take :Curated off")
    if found.counts.get("no_next_due") or found.counts.get("wrong_next_due"):
        fixes.append(
            "`jochi jobs run hygiene --drain` gives those with a key a place (the job does it by itself every few hours)"
        )
    return fail("memories", f"the engine never looks at: {faults}; looked at {found.share}", "; ".join(fixes))


def check_forgetting(version: int, key_id: str | None, here: str | None) -> Check:
    """Whoever writes memories can tell what was forgotten on request."""
    if version == 0 or key_id is None:
        return ok("forgetting", "nothing was ever forgotten on request")
    if key_id == here:
        return ok("forgetting", f"the key {key_id} is here: what was forgotten isn't learned again")
    have = "no key of forgetting is here" if here is None else f"the key here is {here}"
    return warn(
        "forgetting",
        f"values were forgotten with the key {key_id}, and {have}: remember, import and workers refuse to write from this machine",
        f"copy the key's file here, or name it with {VARIABLE}",
    )


def check_dated(found: Unseen) -> Check:
    """Every memory says when it was created; one that doesn't is protected for ever."""
    faults = found.say(_UNDATED)
    if not faults:
        return ok("creation times", f"known; looked at {found.share}")
    return warn(
        "creation times",
        f"protected for ever, because their age isn't known: {faults}; looked at {found.share}",
        "set created_at to a zoned datetime, such as datetime('2026-01-31T12:00:00Z')",
    )


def check_accesses(reporting: int, silent: int, samples: list[str], looked_at: int) -> Check:
    """Whether anybody says what is used; in a ``silent`` scope nobody ever did, and rules about accesses are off."""
    if not silent:
        return ok("accesses", f"every scope reports what is used; looked at {looked_at:,} memories")
    return warn(
        "accesses",
        f"access-based rules are off in {silent:,} scopes that never reported an access (such as {', '.join(samples)}); "
        f"{reporting:,} scopes report; looked at {looked_at:,} memories",
        "call `Jochi.touch` or `memory/touch` where memories are used, or leave it: nothing there counts as idle",
    )


def check_hygiene(found: Hygiene) -> Check:
    """What the last walk of the job `hygiene` could not put right by itself."""
    if found.walked_at is None:
        state = "a walk is under way" if found.walking else "the job is off" if not found.enabled else "no walk yet"
        return ok("hygiene", f"nothing is known: {state}")
    when = f"the walk of {found.walked_at:%Y-%m-%d %H:%M} UTC"
    repaired = f"{when} repaired {found.repaired:,} fault{'' if found.repaired == 1 else 's'}"
    if not found.reported:
        return ok("hygiene", f"{repaired} and found none that it leaves to you")
    named = [f"{fault.n:,} {fault.name} (such as {', '.join(fault.samples)})" for fault in found.reported]
    return warn(
        "hygiene",
        f"{repaired}; left to you: {some(named)}",
        "set them right, or leave it: what can't be read protects its memory; docs/reference/hygiene.md names each fault",
    )


def check_put_aside(put_aside: Mapping[str, int]) -> Check:
    """Whether work waits for a person because workers failed at it again and again, by derivation."""
    found = {name: n for name, n in put_aside.items() if n}
    if not found:
        return ok("derivations", "no work was put aside")
    return warn(
        "derivations",
        f"put aside after failures: {', '.join(f'{n:,} {name}' for name, n in found.items())}; error on each :JochiWork says why",
        "leave it: memories keep what they have; or `jochi derive retry`",
    )


def check_files(standing: Sequence[Item]) -> Check:
    """Whether files of contexts, heartbeats or mirrors stand still: what people wrote there isn't in the graph."""
    if not standing:
        return ok("files", "none stands still")
    return warn("files", "; ".join(item.what for item in standing), f"`{standing[0].commands[1].line}` says what to do")


def check_sources(unfinished: Sequence[Unfinished]) -> Check:
    """Whether raw sources stand still: workers gave up on a phase, or it has waited for more than a day."""
    if not unfinished:
        return ok("sources", "none that workers gave up on, none that has waited for more than a day")
    lines = [f"{one.n:,} {one.state} in {one.phase}: {one.why} (such as {one.samples[0]})" for one in unfinished]
    failed = {one.phase for one in unfinished if one.state == "failed"}
    fixes = []
    if failed - {"prepare"}:
        fixes.append("take away the cause and run `jochi sources retry`")
    if "prepare" in failed:
        fixes.append("`jochi derive retry prepare` puts back what could not be hashed")
    if any(one.state == "stuck" for one in unfinished):
        fixes.append("does `jochi worker` run? `jochi derive ls` shows what caps keep")
    return warn("sources", "; ".join(lines), "; ".join(fixes))


def check_tokens() -> Check:
    """Who counts tokens on this machine. A damaged vocabulary is raised, as every count would raise it."""
    return ok("tokens", f"are counted by {best_counter().name}, so no file is over its limit")


WORKER_SILENT = timedelta(hours=1)
"""Pairs that have waited this long for a judge have no worker."""


def check_duplicates(found: DuplicateCounts, now: datetime) -> Check:
    """Whether somebody judges near duplicates: without a worker only those of the same text are merged."""
    there = f"{found.pairs:,} pairs are flagged, {found.to_merge:,} of them may merge"
    if found.undecided:
        there += (
            f", {found.undecided:,} wait for a person (`jochi duplicates`: held by constraint, dense, linkage or most)"
        )
    since = found.oldest_judge
    if since is None or since > now - WORKER_SILENT:
        return ok("duplicates", f"{there}; {found.judge_waiting:,} wait for a worker")
    return warn(
        "duplicates",
        f"{there}; {found.judge_waiting:,} wait for a worker's judge, the oldest since {since:%Y-%m-%d %H:%M} UTC",
        "start `jochi worker`, or leave it: without one only memories of the same text are merged",
    )
