"""`[value]`: what is mistaken is refused, and a database without it goes on as it did (docs/reference/score.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.database.server_facts import ServerFacts
from jochi.errors import UsageError
from jochi.operate.rule_tables import rule_tables
from jochi.policy import load_policy

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


def test_the_tables_of_the_rules_show_the_score(tmp_path: Path) -> None:
    """Bands with what they do, kinds and terms, whatever the policy says of them."""
    lines = rule_tables(load_policy().policy).splitlines()
    for line in (
        "### Value score: bands of the score itself",
        "| keep | 8 | TTLs wait until it is below, and last 2 times as long at most |",
        "| demote | 1.5 | one tier down, not before it is 1d old |",
        "| prune at once | below | Notification, SessionContext don't wait for that part of their TTL |",
        "| Belief | `state` one of active, core, validated and `confidence` > 0.7 | 10 | 180d | 100 |",
        "| centrality | 1.5 | 1.5 · relationships / 10 |",
    ):
        assert line in lines, line
    file = tmp_path / "policy.toml"
    changed = "profile = 'relative'\nmost_lives = 4\nat_once = []\nkinds = []\ntargets = { Fact = 90 }\n[value.bands]\nkeep = 7.5"
    file.write_text(f"[policy]\nname = 'mine'\nextends = 'default'\n[value]\n{changed}\n")
    lines = rule_tables(load_policy(file).policy).splitlines()
    for line in (
        "### Value score: bands of what the score has above the type weight",
        "| keep | 7.5 | TTLs wait until it is below, and last 4 times as long at most |",
        "| prune | 0.5 | prune: what a rule prunes later goes now, not before 0.25 of its TTL |",
        "| prune at once | below | as `prune` |",
        "| every other, and what its row doesn't hold for |  | 2.5 | 45d "
        "| Fact 90; Note 100; Person, Concept, Entity 200; others 500 |",
    ):
        assert line in lines, line


def test_the_tables_say_where_the_score_is_only_reported(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("[policy]\nname = 'mine'\nextends = 'default'\n[value]\nover_ttl = false\n")
    lines = rule_tables(load_policy(file).policy).splitlines()
    found = [line for line in lines if line.endswith("| only reported |")]
    assert [line.split("|")[1].strip() for line in found] == [
        "keep",
        "lean",
        "improve",
        "demote",
        "prune",
        "prune at once",
    ]
