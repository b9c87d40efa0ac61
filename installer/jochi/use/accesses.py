"""Touches: saying that memories were recalled or used. Appends records; `fold_accesses` counts them in the database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from jochi.database.batches import batch_name, chunks
from jochi.database.engine import Engine
from jochi.errors import UsageError

CHUNK = 5_000
"""Touches in one transaction."""

_SAMPLES = 3


@dataclass(frozen=True)
class TouchResult:
    """What became of a call. ``touched`` were recorded; ``repeated`` were taken before under the same batch id.

    ``unknown`` are of keys that no memory has, live or pruned (``unknown_samples`` names some): they count only if one is written
    within the seconds until they are folded. ``rejected`` ones can't be a key (no `scope/id`, or too long), ``samples`` names some.
    """

    touched: int
    repeated: int = 0
    rejected: int = 0
    samples: tuple[str, ...] = ()
    unknown: int = 0
    unknown_samples: tuple[str, ...] = ()


def touch(
    engine: Engine,
    keys: Iterable[str],
    *,
    now: datetime,
    used: bool = True,
    agent: str | None = None,
    batch: str | None = None,
) -> TouchResult:
    """Writes one touch a key (`scope/id`), in transactions of 5,000; see `Jochi.touch`.

    Every chunk carries an id of its own, made from ``batch``, so that neither the driver's retries nor a caller who
    repeats the call with the same ``batch`` and the same keys count a touch twice. Raises `UsageError` for wrong input.
    """
    if isinstance(keys, str | bytes):
        raise UsageError("keys is one text, not a list of keys", fix="give a list, such as ['default/m1']")
    name = batch_name(batch)
    touched = repeated = rejected = unknown = 0
    samples: list[str] = []
    unknown_samples: list[str] = []
    for number, chunk in enumerate(chunks(keys, CHUNK)):
        row = engine.call(
            "memory/touch", {"now": now, "keys": chunk, "used": used, "agent": agent, "batch": f"{name}/{number}"}
        )
        if row["problem"] is not None:
            raise UsageError(row["problem"], where="touch", fix="see docs/reference/accesses.md")
        touched += row["touched"]
        rejected += row["rejected"]
        repeated += len(chunk) - row["rejected"] if row["repeated"] else 0
        samples += row["samples"]
        unknown += row["unknown"]
        unknown_samples += row["unknown_samples"]
    return TouchResult(
        touched, repeated, rejected, tuple(samples[:_SAMPLES]), unknown, tuple(unknown_samples[:_SAMPLES])
    )
