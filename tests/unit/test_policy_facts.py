"""`[facts]` and lifecycles with scores: what is mistaken is refused (docs/reference/facts.md)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import load_policy

HEAD = "[policy]\nname = 'mine'\nextends = 'default'\n"
TIERS = (
    "confidence_tiers = [{{ name = 'sure', from = {0}, weight = 1 }}, {{ name = 'likely'{1}, weight = 0.5 }}, "
    "{{ name = 'odd', weight = 0.1 }}]\n"
)
MOVE = (
    "[[tier_rules]]\nname = 'own.move'\nsource = 'mine'\nfrom = '{0}'\nto = '{1}'\n"
    "when = [{{ property = 'tier_value', {2} = 0.2 }}]\n"
)
DOWN = "clock = ['created_at']\nafter = '1d'\n"


def load(folder: Path, text: str) -> None:
    file = folder / "policy.toml"
    file.write_text(HEAD + text)
    load_policy(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[facts]\n" + TIERS.format("0.5", ", from = 0.5"), "from the highest to the lowest"),
        ("[facts]\n" + TIERS.format("0.5", ", from = 0.6"), "from the highest to the lowest"),
        ("[facts]\n" + TIERS.format("0.5", ""), "from the highest to the lowest"),
        ("[facts]\n" + TIERS.format("1.5", ", from = 0.6"), "from"),
        (
            "[facts]\nheat = { confidence = 0.5, access = 0.5, recency = 0.1, importance = 0, feedback = 0 }\n",
            "more than 1",
        ),
        ("[facts.recall]\nactive = 2\n", "recall.active"),
        ("[facts]\nold = '0s'\n", "old"),
        ("[lifecycles.semantic]\nsalience = true\nscores = true\n", "exclude each other"),
        (
            "[[kinds.Fact.rules]]\nname = 'own.fresh'\nsource = 'mine'\n"
            "when = [{ property = 'decay_score', below = 0.2 }]\nclock = ['created_at']\nafter = '0s'\naction = 'archive'\n",
            r"own\.fresh: decay_score can only be compared with at_least",
        ),
        (
            "[[kinds.Fact.rules]]\nname = 'own.poor'\nsource = 'mine'\n"
            "when = [{ property = 'tier_value', at_most = 0.2 }]\nclock = ['created_at']\nafter = '0s'\naction = 'prune'\n",
            r"own\.poor: tier_value moves between tiers only",
        ),
        (MOVE.format("HOT", "COLD", "at_least") + DOWN, "a move down compares tier_value with at_most"),
        (MOVE.format("COLD", "HOT", "at_most"), "a move up with at_least"),
        (
            MOVE.format("HOT", "COLD", "at_most").replace("tier_value", "confidence") + DOWN,
            "at_most compares tier_value only",
        ),
    ],
)
def test_what_is_mistaken_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"(?s){said}"):
        load(tmp_path, text)


def test_tiers_of_ones_own(tmp_path: Path) -> None:
    load(tmp_path, "[facts]\n" + TIERS.format("0.9", ", from = 0.5"))


def test_no_number_of_the_scores_is_read_by_accident() -> None:
    """What rules of the shipped lifecycle compare is computed, not a property that somebody stored."""
    policy = load_policy(None).policy
    rules = policy.lifecycles["factual"].rules
    compared = {condition.subject for rule in rules for condition in rule.when}
    assert compared == {"access_count", "heat_score", "decay_score"}
    assert policy.scored_labels() == ["Fact"]
    assert all(re.match(r"fact\.", rule.name) for rule in rules)


def test_no_shipped_rule_deletes_for_what_time_wears_down() -> None:
    """Decay alone never deletes: salience, heat, decay and value archive, set a state or move, and that is all."""
    policy = load_policy(None).policy
    worn = {"salience", "heat_score", "decay_score", "tier_value"}
    by_action: dict[str, set[str]] = {}
    for rule in (*policy.all_rules(), *policy.tier_rules):
        by_action.setdefault(rule.action, set()).update({condition.subject for condition in rule.when} & worn)
    assert by_action["prune"] == set()
    assert set().union(*by_action.values()) == worn


def test_what_decides_over_facts_asks_for_a_new_go_and_what_recall_makes_of_them_does_not(tmp_path: Path) -> None:
    shipped = load_policy(None).verdict_sha256
    changed = {
        "[facts]\nmany_accesses = 21\n": True,
        "[facts]\nprotected_categories = []\n": True,
        "[facts.recall]\nactive = 0.1\n": False,
        "[facts]\nfilter_stale = true\n": False,
    }
    for text, decides in changed.items():
        file = tmp_path / "policy.toml"
        file.write_text(HEAD + text)
        assert (load_policy(file).verdict_sha256 != shipped) is decides, text


def test_moves_by_value_hold_for_kinds_with_scores_alone(tmp_path: Path) -> None:
    policy = load_policy(None).policy
    every = {rule.name for rule in policy.tier_rules}
    others = {rule.name for rule in policy.tier_rules if not rule.by_value}
    assert others < every
    for label, kind in policy.labels().items():
        assert {rule.name for rule in policy.tier_rules_of(kind)} == (every if label == "Fact" else others), label
    assert {rule.name for rule in policy.tier_rules_of(policy.any_kind)} == others
    assert {rule.name for rule in (*policy.ups(), *policy.downs())} == every
    file = tmp_path / "policy.toml"
    file.write_text(HEAD + "[kinds.Fact]\nclass = '60min'\nlifecycle = 'semantic'\n")
    unscored = load_policy(file).policy
    assert {rule.name for rule in (*unscored.ups(), *unscored.downs())} == others
