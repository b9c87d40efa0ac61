"""`[value]`: what is mistaken is refused, and a database without it goes on as it did (docs/reference/score.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.facts import ServerFacts
from jochi.policy import load_policy, stored_policy
from jochi.rendering import render_all

SERVER = ServerFacts("5.26.30", "community", "5.26.19", frozenset(), "CYPHER_5", 5.0, False, True)
ROW = "{{ kind = '{0}', weight = {1}, target = {2}{3} }}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "bands = { keep = 8, lean = 8, improve = 3, demote = 1.5, prune = 0.5 }",
            "from the highest threshold to the lowest",
        ),
        ("profile = 'both'", "profile"),
        ("most_lives = 0.5", "most_lives"),
        ("grace = '0s'", "grace"),
        ("walked = 5", "walked"),
        (f"kinds = [{ROW.format('Task', 1, 5, '')}, {ROW.format('Task', 2, 5, '')}]", "a kind is there twice: Task"),
        (f"kinds = [{ROW.format('Fact', 1, 5, '')}]", "its row in kinds has a target"),
        (f"kinds = [{ROW.format('Task', -1, 5, '')}]", "weight"),
        (f"kinds = [{ROW.format('Task', 1, 0, '')}]", "target"),
        (f"kinds = [{ROW.format('Task', 1, 5, ', half_life = 9')}]", "half_life"),
        ("terms = { per_agent = 0 }", "per_agent"),
        ("terms = { relationships = 900 }\nwalked = 800", "walked is less than"),
    ],
)
def test_mistakes_are_refused_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f"[policy]\nname = 'mine'\nextends = 'default'\n[value]\n{text}\n")
    with pytest.raises(UsageError, match=said):
        load_policy(file)


def test_a_database_without_the_table_goes_on_as_it_did() -> None:
    shipped = load_policy()
    old = json.loads(shipped.canonical)
    del old["value"]
    stored = stored_policy(json.dumps(old))
    assert stored.policy.value == shipped.policy.value.model_copy(update={"over_ttl": False})
    assert stored.policy.ttl_rules() == frozenset()
    assert "value" not in stored.policy.verdict_parts()
    assert stored.verdict_sha256 != shipped.verdict_sha256
    texts = {name: procedure.text for name, procedure in render_all(stored.policy, SERVER).items()}
    assert "score.prunes" not in texts["curate/curate_due"]
    assert "mvs" in texts["score/score"]
    again = stored_policy(stored.canonical)
    assert (again.sha256, again.policy.value.over_ttl) == (stored.sha256, False)
