"""A slice of the generated cases of forgetting: what must go is nowhere, what must stay is found by its own words
(docs/reference/forgetting.md; all of them: `make forgetting-cases`)."""

from __future__ import annotations

import random
from datetime import datetime, timezone
from pathlib import Path

import pytest
from tests.exit_criteria.forgetting import dump, forget, judge, learned_again, prune, write
from tests.forgetting_cases import CLASSES, all_groups

from jochi import Jochi
from jochi.forgetting import VARIABLE
from jochi.jobs.runner import run_job
from jochi.text.tokens import Estimate
from jochi_workers.prepare import PrepareHandler
from jochi_workers.worker import Worker

pytestmark = pytest.mark.server

CASES, SEED = 20, 7
"""At least so many memories of each class that say what is forgotten."""


@pytest.mark.exhaustive
def test_both_sides_of_generated_cases(jochi: Jochi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all classes but what derivations make (test_derivations.py, test_meaning.py, test_mirror.py)."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "forget.key"))
    jochi.apply()
    now, dice = datetime.now(timezone.utc), random.Random(SEED)
    groups = list(all_groups(CASES, SEED, CLASSES[:-1]))
    dice.shuffle(groups)
    write(jochi, groups, now, dice)
    prune(jochi, now)
    Worker(jochi.engine, [PrepareHandler(Estimate())]).run(once=True)
    jochi.database.run(
        "MATCH (m:Curated) WHERE m.scope IN $scopes SET m.embedding = [0.5], m.embedding_model = 'x'",
        {"scopes": [group.scope for group in groups[::2]]},
    )
    asked = forget(jochi, groups)
    told = judge(jochi, groups, asked)
    assert [line for each in told.values() for line in each.wrong] == []
    assert all(each.cases >= CASES and each.asked < each.cases / 3 for each in told.values() if each.cases)
    # A vector of the whole went with the clause.
    cut = [f"{g.scope}/{m.id}" for g in groups for m in g.memories if m.says and m.after not in (None, m.text)]
    assert len(cut) > CASES
    stored = dump(jochi).memories
    assert not [key for key in cut if key not in asked and "embedding" in stored[key][1]]
    refused, wrong = learned_again(jochi, groups, asked)
    assert (refused > 3 * CASES, wrong) == (True, [])
    run_job(jochi.engine, "purge_tombstones", now=now.replace(year=now.year + 1), drain=True)
    told = judge(jochi, groups, asked, recalled=False)
    assert [line for each in told.values() for line in each.wrong] == []
    assert not any("Tombstone" in labels for labels, _ in dump(jochi).memories.values())
