"""What earlier states kept of a policy is read by this version; tests/faults/test_upgrades.py has the rest of an upgrade."""

from __future__ import annotations

import pytest
from tests.upgrades import frozen

from jochi.policy import load_policy, stored_policy


def test_frozen_databases_stay_small() -> None:
    assert sum(frozen.path_of(name).stat().st_size for name in frozen.names()) <= 2_000_000


@pytest.mark.parametrize("name", frozen.names())
def test_a_stored_policy_means_what_its_author_wrote(name: str) -> None:
    [text] = [row[2]["text"] for row in frozen.read(name) if row[0] == "n" and "JochiPolicy" in row[1]]
    found, written = stored_policy(text).policy, load_policy(frozen.FOLDER / "policy.toml").policy
    assert found.kinds["Ticket"] == written.kinds["Ticket"]
    assert (found.embedding, found.slots, found.jobs) == (written.embedding, written.slots, written.jobs)
