"""What a policy file may say, and where exactly it is told to be wrong (DESIGN §7, §8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
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
    with pytest.raises(UsageError, match="rails") as error:
        load_policy(write('[policy]\nname = "mine"\n'))
    assert 'extends = "default"' in str(error.value)


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
    unembedded = load_policy(write(text.replace("embed = false", "embed = true")))
    assert unembedded.sha256 != load_policy().sha256
    assert unembedded.verdict_sha256 == load_policy().verdict_sha256


def test_a_stored_policy_is_the_same_policy() -> None:
    shipped = load_policy()
    assert stored_policy(shipped.canonical).policy == shipped.policy
    assert stored_policy(shipped.canonical).sha256 == shipped.sha256
    with pytest.raises(UsageError, match="can't read"):
        stored_policy("{}")


def test_the_shipped_numbers_are_the_seeds() -> None:
    """Seed 000: TTL Rules, Tier Demotion and Promotion Rules, Never-Prune Safety Rails, Token Budget Enforcement; DESIGN §9."""
    policy = load_policy().policy
    rules = {
        rule.name: (rule.clock, days(rule.after), rule.action) for kind in policy.kinds.values() for rule in kind.rules
    }
    idle = ("last_accessed_at", "created_at")
    assert rules == {
        "notification.read": (("read_at", "created_at"), 7, "prune"),
        "notification.unread": (("created_at",), 30, "prune"),
        "session.inactive": (("last_active_at", "created_at"), 1, "prune"),
        "task.completed": (("completed_at", "updated_at", "created_at"), 14, "archive"),
        "task.failed": (("failed_at", "updated_at", "created_at"), 90, "archive"),
        "belief.archived": (("archived_at",), 30, "prune"),
        "belief.weak": (idle, 60, "archive"),
        "reflection.consolidated": (("consolidated_at", "created_at"), 90, "prune"),
        "reflection.unconsolidated": (("created_at",), 0, "flag"),
        "analysis.minor": (("created_at",), 60, "prune"),
        "analysis.medium": (("created_at",), 120, "prune"),
        "analysis.major": (("created_at",), 180, "prune"),
        "synthesis.old": (("created_at",), 120, "prune"),
        "context.keywords": (idle, 45, "prune"),
        "note.week": (("created_at",), 7, "prune"),
        "note.month": (("created_at",), 30, "prune"),
        "note.year": (("created_at",), 365, "prune"),
    }
    downs = {rule.name: (rule.from_, rule.to, rule.clock, days(rule.after)) for rule in policy.downs()}
    assert downs == {
        "tier.fact_of_little_value": ("HOT", "COLD", ("updated_at", "created_at"), 14),
        "tier.hot_idle": ("HOT", "WARM", idle, 0.5),
        "tier.warm_idle": ("WARM", "COLD", idle, 2),
        "tier.cold_idle": ("COLD", "ARCHIVE", ("last_accessed_at",), 90),
        "tier.cold_never": ("COLD", "ARCHIVE", ("created_at",), 7),
    }
    ups = {rule.name: (rule.from_, rule.to, [c.value for c in rule.when] or list(rule.if_any)) for rule in policy.ups()}
    assert ups == {
        "tier.archive_used": ("ARCHIVE", "WARM", [3]),
        "tier.fact_of_value": ("COLD", "HOT", [0.70]),
        "tier.cold_used": ("COLD", "WARM", [3]),
        "tier.archive_in_session": ("ARCHIVE", "WARM", ["active_session"]),
        "tier.cold_in_session": ("COLD", "WARM", ["active_session"]),
        "tier.warm_used": ("WARM", "HOT", [10]),
        "tier.warm_in_task": ("WARM", "HOT", ["in_progress_task"]),
    }
    (decay,) = policy.decays().values()
    assert (decay.per_day, days(decay.idle), decay.below, decay.floor) == (0.01, 7, 0.9, 0.2)
    assert (policy.tiers.HOT, policy.tiers.WARM, policy.tiers.COLD) == (1600, 400, 200)
    assert str(policy.limits.tombstone_ttl) == "30 days, 0:00:00"


def days(span: timedelta | None) -> float:
    assert span is not None
    return span / timedelta(days=1)


@pytest.mark.parametrize("text", ["[policy", "name = ", "\x00"])
def test_a_file_that_is_no_toml_says_so(write: Write, text: str) -> None:
    with pytest.raises(UsageError, match="TOML"):
        load_policy(write(text))


def test_no_file() -> None:
    with pytest.raises(UsageError, match="no such policy file"):
        load_policy(Path("no/such/policy.toml"))


def test_orphans_ask_for_the_age_and_for_kinds_that_are_there(write: Write) -> None:
    head = '[policy]\nname = "mine"\nextends = "default"\n[orphans]\n'
    assert load_policy(write(head + "kinds = []")).policy.orphans.kinds == ()
    with pytest.raises(UsageError, match="created_at"):
        load_policy(write(head + 'clock = ["updated_at"]'))
    with pytest.raises(UsageError, match="Widget"):
        load_policy(write(head + 'kinds = [{ kind = "Widget" }]'))
    with pytest.raises(UsageError, match="twice"):
        load_policy(write(head + 'kinds = [{ kind = "Note" }, { kind = "Note" }]'))


def test_what_the_sweep_takes_is_part_of_the_verdict_and_how_often_it_walks_is_not(write: Write) -> None:
    head = '[policy]\nname = "default"\nextends = "default"\n[orphans]\n'
    assert load_policy(write(head + 'pause = "9h"')).verdict_sha256 == load_policy().verdict_sha256
    for change in ('after = "9d"', "kinds = []", 'clock = ["created_at"]'):
        assert load_policy(write(head + change)).verdict_sha256 != load_policy().verdict_sha256


def test_moves_are_judged_in_the_order_in_which_one_can_follow_another(write: Write) -> None:
    """Whatever the order in the file: down from the nearest tier on, up from the farthest."""
    rule = '[[tier_rules]]\nname = "my.{0}"\nsource = "tests"\nfrom = "{1}"\nto = "{2}"\n{3}\n'
    down = 'clock = ["created_at"]\nafter = "12h"'
    up = 'when = [{ property = "access_count_7d", at_least = 3 }]'
    moves = (
        ("warm", "WARM", "COLD", down),
        ("hot", "HOT", "WARM", down),
        ("near", "WARM", "HOT", up),
        ("far", "COLD", "WARM", up),
    )
    policy = load_policy(write(HEAD + "".join(rule.format(*move) for move in moves))).policy
    assert [rule.name for rule in policy.downs()] == ["my.hot", "my.warm"]
    assert [rule.name for rule in policy.ups()] == ["my.far", "my.near"]


LIFE = (
    "[lifecycles.own]\nsalience = true\n"
    "[[lifecycles.own.rules]]\nname = 'own.faded'\nsource = 's'\nclock = ['created_at']\nafter = '1d'\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[kinds.Mine]\nclass = '1h'\nlifecycle = 'odd'\n",
            r"kinds\.Mine.*no lifecycle 'odd'.*episodic, factual, semantic",
        ),
        (LIFE + "when = [{ property = 'salience', at_least = 0.2 }]\naction = 'archive'\n", r"own\.faded.*below"),
        (LIFE + "action = 'state'\n", "state = "),
        (LIFE + "action = 'archive'\nstate = 'core'\n", "state = "),
        (LIFE + "action = 'state'\nstate = 'archived'\n", "archive"),
        (LIFE + "if_any = ['odd']\naction = 'archive'\n", r"own\.faded.*no predicate 'odd'"),
        ("[kinds.Belief]\nlifecycle = 'semantic'\n", r"kinds\.Belief.*confidence can't decay"),
        ("[kinds.Person]\nproperties = { salience = 'glow' }\n", r"kinds\.Person\.properties\.salience.*engine writes"),
        ("[salience]\ngain_least = 0.2\n", "gain_least is greater than gain_most"),
        ("[salience]\ngradient_least = 1.2\n", "gradient_least is greater than gradient"),
        ("[salience]\nper_day = 0\n", "per_day"),
    ],
)
def test_a_mistaken_lifecycle_is_refused(write: Write, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"(?s){said}"):
        load_policy(write(HEAD + text))


def test_kinds_of_one_lifecycle_share_their_rules_and_keep_their_own(write: Write) -> None:
    text = "[kinds.Mine]\nclass = '60min'\nlifecycle = 'semantic'\n[kinds.Named]\nclass = '60min'\nlifecycle = 'semantic'\n"
    policy = load_policy(write(HEAD + text + "properties = { state = 'phase' }\n")).policy
    together = [labels for labels, _kind in policy.kinds_with_rules()]
    assert ["Person", "Concept", "Entity", "Storyline", "Macro", "Mine"] in together
    assert ["Named"] in together
    assert policy.living_labels()[-2:] == ["Mine", "Named"]
    assert [rule.name for rule in policy.acting(policy.kinds["Mine"], "archive")] == [
        "semantic.ephemeral",
        "semantic.faded",
    ]
    assert {after.days: len(labels) for after, labels in policy.expiries().items()} == {30: 2, 90: 7}


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("[rulez]\nx = 1\n", "rulez"),
        # A table that stands only in the headers of tables in it.
        ("[kind.Invoice]\nclass = '60min'\n", "kind"),
        ("[[kind.Invoice.rules]]\nname = 'invoice.old'\n", "kind"),
        ("[lifecycle.mine.more]\nsalience = true\n", "lifecycle"),
        ("[kinds.Invoice.rule.x]\nname = 'y'\n", "kinds.Invoice.rule"),
    ],
)
def test_a_mistake_in_the_name_of_a_table_has_its_line(write: Write, header: str, told: str) -> None:
    path = write(
        f"{HEAD}[kinds.Invoice]\nclass = '60min'\n\n{header}" if "kinds." in header else f"{HEAD}\n\n\n{header}"
    )
    with pytest.raises(UsageError) as error:
        load_policy(path)
    assert f"{path}:7: {told}: there is no such key" in str(error.value)


def test_what_is_no_policy_at_all_says_what_to_do(write: Write, tmp_path: Path) -> None:
    """Each names the file, what is wrong with it, and what to do, on two lines."""
    wrong = tmp_path / "latin.toml"
    wrong.write_bytes('[policy]\nname = "Käse"\n'.encode("latin-1"))
    for path, what, fix in (
        (wrong, "byte 18 is no UTF-8", "save the file as UTF-8"),
        (tmp_path, "the policy can't be read: Is a directory", "name the file in it"),
        (tmp_path / "no.toml", "there is no such policy file", "extends ="),
        (Path("/dev/null"), "the policy is empty", "extends ="),
        (write("[derive.extract]\nderiving = true\n"), "the policy has no table [policy]", "extends ="),
    ):
        with pytest.raises(UsageError) as error:
            load_policy(path)
        first, second = str(error.value).split("\n")
        assert (first.startswith(f"{path}: "), what in first, second.startswith("  → "), fix in second) == (True,) * 4
    with pytest.raises(UsageError, match=r"not valid TOML: .*line 2") as error:
        load_policy(write("[policy]\nname = = 1\n"))
    assert "\n  → put that place right; `jochi policy check FILE`" in str(error.value)


def test_a_policy_from_before_a_table_came_has_the_shipped_one() -> None:
    """`jochi install` reads what an earlier one has stored."""
    shipped = load_policy().policy
    older = shipped.model_dump(mode="json", by_alias=True)
    del older["classification"], older["context"]
    assert stored_policy(json.dumps(older)).policy == shipped


def test_rules_is_the_shipped_policy_with_the_janitor_alone(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped, rules = load_policy().policy, load_policy(Path("rules")).policy
    assert {name for name, each in shipped.derive.items() if each.deriving} == {
        *("process", "extract", "learn", "storylines", "describe")
    }
    assert not any(each.deriving for each in rules.derive.values())
    assert rules.model_copy(update={"derive": shipped.derive, "policy": shipped.policy}) == shipped
    for name in ("rules", "default"):  # what the database keeps of it is read as the same
        loaded = load_policy(Path(name))
        assert (loaded.text, loaded.policy.policy.name) == (f'[policy]\nextends = "{name}"\n', name)
        assert stored_policy(loaded.text).sha256 == loaded.sha256
    text = HEAD.replace("default", "rules") + "[derive.learn]\nderiving = true\n"
    mine = load_policy(write(text))
    assert [name for name, each in mine.policy.derive.items() if each.deriving] == ["learn"]
    assert stored_policy(mine.text).policy == mine.policy
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").mkdir()
    (tmp_path / "rules").write_text(HEAD, encoding="utf-8")
    assert [load_policy(Path(name)).policy.policy.name for name in ("default", "rules")] == ["default", "mine"]


def test_a_base_that_isnt_shipped_is_all_that_is_told(write: Write) -> None:
    path = write('[policy]\nname = "mine"\nextends = "rule"\n')
    with pytest.raises(UsageError) as error:
        load_policy(path)
    assert str(error.value).split("\n  → ")[0] == f"{path}:3: policy.extends: Input should be 'default' or 'rules'"
