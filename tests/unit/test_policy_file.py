"""What a policy file may say, and where exactly it is told to be wrong (DESIGN §7, §8)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi.policy.load import DEFAULT, stored_policy

HEAD = '[policy]\nname = "mine"\nextends = "default"\n'
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "policy.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


@pytest.mark.parametrize(
    ("rail", "looser", "floor", "tighter"),
    [
        ("grace", '"23h"', '"24h"', '"3d"'),
        (
            "active_tasks",
            '["in_progress", "pending"]',
            '["in_progress", "pending", "blocked"]',
            '["in_progress", "pending", "blocked", "new"]',
        ),
        (
            "active_beliefs",
            '["active", "core"]',
            '["validated", "active", "core"]',
            '["active", "core", "validated", "new"]',
        ),
        ("confident_belief", "0.91", "0.9", "0.5"),
        ("proven_accesses", "6", "5", "0"),
        ("consensus_agents", "5", "4", "1"),
        ("lock_ttl", '"599s"', '"600s"', '"1h"'),
        ("hold", '"29d"', '"30d"', '"90d"'),
    ],
)
def test_a_rail_can_be_tightened_and_not_loosened(
    write: Write, rail: str, looser: str, floor: str, tighter: str
) -> None:
    for value in (floor, tighter):
        load_policy(write(f"{HEAD}[rails]\n{rail} = {value}\n"))
    with pytest.raises(UsageError, match=rail) as error:
        load_policy(write(f"{HEAD}[rails]\n{rail} = {looser}\n"))
    assert "never loosen" in str(error.value)


@pytest.mark.parametrize("value", ["nan", "-0.1", "1.1", "inf", '"0.5"', "true"])
def test_a_rail_is_a_number_within_its_range(write: Write, value: str) -> None:
    with pytest.raises(UsageError, match="confident_belief"):
        load_policy(write(f"{HEAD}[rails]\nconfident_belief = {value}\n"))


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        (f"{HEAD}[limits]\nbreaker_flor = 100\n", 5, "limits.breaker_flor: there is no such key"),
        (f"{HEAD}\n[queue]\n\nhorizon_min = '1 week'\n", 7, "queue.horizon_min"),
        (f"{HEAD}[no_such_table]\nx = 1\n", 4, "no_such_table: there is no such key"),
        (
            f"{HEAD}[kinds.Invoice]\nclass = '1h'\n[[kinds.Invoice.rules]]\nname = 'invoice.old'\naction = 'burn'\n",
            8,
            "action",
        ),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_key(write: Write, text: str, line: int, key: str) -> None:
    path = write(text)
    with pytest.raises(UsageError) as error:
        load_policy(path)
    assert f"{path}:{line}: " in str(error.value)
    assert key in str(error.value)


@pytest.mark.parametrize(
    "label",
    ["Agent", "AgentKey", "SystemConfig", "Migration", "JochiJob", "Curated", "CurationAudit", "Tombstone", "__x"],
)
def test_protected_labels_cannot_be_enrolled(write: Write, label: str) -> None:
    for text in (f"[kinds.{label}]\nclass = '1h'\n", f"[kinds.Fine]\nlabel = '{label}'\nclass = '1h'\n"):
        with pytest.raises(UsageError, match=label):
            load_policy(write(HEAD + text))


@pytest.mark.parametrize("label", ["a b", "a`b", "x) DETACH DELETE (n", "", "ä", "1a", "a" * 65])
def test_a_kind_is_a_plain_name(write: Write, label: str) -> None:
    with pytest.raises(UsageError):
        load_policy(write(f"{HEAD}[kinds.Fine]\nlabel = '{label}'\nclass = '1h'\n"))


def rule(name: str, *, property: str = "read") -> str:
    return (
        f"[[any_kind.rules]]\nname = '{name}'\nsource = 's'\nwhen = [{{ property = '{property}', is = true }}]\n"
        "clock = ['created_at']\nafter = '1d'\naction = 'prune'\n"
    )


def test_two_rules_of_one_name_are_refused(write: Write) -> None:
    with pytest.raises(UsageError, match=r"two rules.*notification\.read"):
        load_policy(write(HEAD + rule("notification.read")))


def test_two_rules_whose_constants_are_one_are_refused(write: Write) -> None:
    """`a.b_c` and `a.b.c` would share one duration in the rendered body, silently the later one's."""
    with pytest.raises(UsageError):
        load_policy(write(HEAD + rule("a.b_c") + rule("a.b.c")))


def test_two_kinds_of_one_label_are_refused(write: Write) -> None:
    with pytest.raises(UsageError):
        load_policy(write(f"{HEAD}[kinds.Other]\nlabel = 'Notification'\nclass = '1h'\n"))


@pytest.mark.parametrize("condition", ["", "is = true, below = 3", "is_not = 'x', one_of = ['a']"])
def test_a_condition_has_exactly_one_operator(write: Write, condition: str) -> None:
    text = rule("a.b").replace("is = true", condition) if condition else rule("a.b").replace(", is = true", "")
    with pytest.raises(UsageError, match="exactly one of"):
        load_policy(write(HEAD + text))


def test_extends_lays_the_file_over_the_shipped_policy(write: Write) -> None:
    mine = load_policy(write(f"{HEAD}[limits]\nbreaker_floor = 7\n[kinds.Notification]\nclass = '1min'\n")).policy
    shipped = load_policy().policy
    assert (mine.limits.breaker_floor, mine.limits.breaker_share) == (7, shipped.limits.breaker_share)
    assert mine.kinds["Notification"].rules == shipped.kinds["Notification"].rules
    assert mine.kinds["Task"] == shipped.kinds["Task"]


def test_without_extends_everything_must_be_there(write: Write) -> None:
    with pytest.raises(UsageError, match="rails"):
        load_policy(write('[policy]\nname = "mine"\n'))


def test_the_hash_is_of_what_the_policy_means(write: Write) -> None:
    text = DEFAULT.read_text(encoding="utf-8")
    respelled = load_policy(write("# a comment\n" + text.replace('"7d"', '"168h"')))
    assert respelled.sha256 == load_policy().sha256
    changed = load_policy(write(text.replace('after = "7d"', 'after = "8d"')))
    assert changed.sha256 != load_policy().sha256
    assert changed.verdict_sha256 != load_policy().verdict_sha256
    faster = load_policy(write(text.replace('pump_every = "2s"', 'pump_every = "3s"')))
    assert faster.sha256 != load_policy().sha256
    assert faster.verdict_sha256 == load_policy().verdict_sha256


def test_a_stored_policy_is_the_same_policy() -> None:
    shipped = load_policy()
    assert stored_policy(shipped.canonical).policy == shipped.policy
    assert stored_policy(shipped.canonical).sha256 == shipped.sha256
    with pytest.raises(UsageError, match="can't read"):
        stored_policy("{}")


def test_the_shipped_numbers_are_the_seeds() -> None:
    """Seed 000: TTL Rules, Never-Prune Safety Rails, Token Budget Enforcement."""
    policy = load_policy().policy
    rules = {rule.name: (rule.clock, str(rule.after)) for kind in policy.kinds.values() for rule in kind.rules}
    assert rules == {
        "notification.read": (("read_at", "created_at"), "7 days, 0:00:00"),
        "notification.unread": (("created_at",), "30 days, 0:00:00"),
        "session.inactive": (("last_active_at", "created_at"), "1 day, 0:00:00"),
    }
    assert (policy.tiers.HOT, policy.tiers.WARM, policy.tiers.COLD) == (1600, 400, 200)
    assert str(policy.limits.tombstone_ttl) == "30 days, 0:00:00"


@pytest.mark.parametrize("text", ["[policy", "name = ", "\x00"])
def test_a_file_that_is_no_toml_says_so(write: Write, text: str) -> None:
    with pytest.raises(UsageError, match="TOML"):
        load_policy(write(text))


def test_no_file() -> None:
    with pytest.raises(UsageError, match="no such policy file"):
        load_policy(Path("no/such/policy.toml"))
