"""Own property names in a policy: what is checked at load, and what is rendered (DESIGN §4, §7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.compile.policy_data import policy_data
from jochi.compile.rendering import render_one
from jochi.database.server_facts import ServerFacts
from jochi.errors import UsageError
from jochi.policy import LoadedPolicy, load_policy

SERVER = ServerFacts("5.26.30", "community", "5.26.19", frozenset(), "CYPHER_5", 5.0, False, True)
HEAD = '[policy]\nname = "mapped"\nextends = "default"\n[kinds.Ticket]\nclass = "5min"\n'


def policy(folder: Path, properties: str, head: str = HEAD) -> LoadedPolicy:
    file = folder / "policy.toml"
    file.write_text(f"{head}properties = {properties}\n", encoding="utf-8")
    return load_policy(file)


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ('{ contnet = "body" }', "no rule, rail or recall reads a property of this name"),
        ('{ content = "two words" }', "not a plain name"),
        ('{ content = "a`b" }', "not a plain name"),
        ('{ content = "next_due" }', "the engine's own property"),
        ('{ next_due = "due" }', "the engine writes this itself"),
        ('{ access_count = "hits" }', "the engine writes this itself"),
        ('{ content = { property = "body", as = "epoch_ms" } }', "`as` is for moments"),
        ('{ created_at = { property = "opened", as = "epoch_days" } }', "epoch_ms"),
        ('{ created_at = { property = "opened" } }', "Field required"),
        ("{ created_at = 7 }", "valid string"),
    ],
)
def test_a_wrong_mapping_is_refused_at_load(tmp_path: Path, properties: str, said: str) -> None:
    with pytest.raises(UsageError, match="kinds") as caught:
        policy(tmp_path, properties)
    assert said in str(caught.value)


def test_without_a_mapping_nothing_is_rendered_differently() -> None:
    """The plain reading is `m.name` everywhere, and rules read by the standard names."""
    shipped = load_policy().policy
    measure, text = (
        " ".join(render_one(name, shipped, SERVER).text.split()) for name in ("curate/measure", "curate/judge")
    )
    assert "[value IN [m.created_at, m.last_accessed_at, " in measure
    assert "NOT coalesce(moments.created_at <= k.utc - k.grace, false)" in text
    assert [name for name in policy_data(shipped)["names"] if name["own"] is not None] == []


def test_a_mapped_name_is_read_in_place_by_rules_and_rails(tmp_path: Path) -> None:
    mapped = policy(
        tmp_path, '{ created_at = { property = "opened", as = "epoch_ms" }, expires_at = "until", content = "body" }'
    )
    text = " ".join(render_one("curate/measure", mapped.policy, SERVER).text.split())
    assert "[value IN [(CASE WHEN m:Ticket THEN (CASE WHEN m.opened IS :: INTEGER NOT NULL" in text
    assert {name["name"]: name["own"] for name in policy_data(mapped.policy)["names"] if name["own"]} == {
        "created_at": [{"label": "Ticket", "name": "opened", "conversion": "epoch_ms"}],
        "expires_at": [{"label": "Ticket", "name": "until", "conversion": None}],
    }
    rails = " ".join(render_one("curate/rails", mapped.policy, SERVER).text.split())
    assert "CASE WHEN 'Ticket' IN ls THEN (CASE WHEN m.opened IS :: INTEGER NOT NULL" in rails
    assert mapped.verdict_sha256 != load_policy().verdict_sha256


def test_of_several_mapped_labels_the_first_in_the_policys_order_decides(tmp_path: Path) -> None:
    two = HEAD + 'properties = { pinned = "sticky" }\n[kinds.Memo]\nclass = "5min"\n'
    sources = policy(tmp_path, '{ pinned = "held" }', two).policy.sources
    assert [(s.label, s.property) for s in sources()["pinned"]] == [("Ticket", "sticky"), ("Memo", "held")]
    assert [(s.label, s.property) for s in sources("Ticket")["pinned"]] == [(None, "sticky")]
    assert [(s.label, s.property) for s in sources("Memo")["pinned"]] == [("Ticket", "sticky"), (None, "held")]
