"""Touches taken, folded, rolled and forgotten by a real server (docs/reference/accesses.md; DESIGN §4, §8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
import typer
from tests.conftest import PolicyWith, say_go
from tests.oracle.strategies import WRONG_TYPES
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli import memory as command
from jochi.database.database import in_one_map
from jochi.errors import JochiError, UsageError
from jochi.graph.driver_values import to_python
from jochi.jobs.runner import Run
from jochi.operate.check import Level
from jochi.operate.doctor import examine
from jochi.operate.status import overview
from jochi.policy import LoadedPolicy
from jochi.use.accesses import CHUNK, TouchResult

pytestmark = pytest.mark.server

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=timezone.utc)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
FOLDED = (
    "recall_count", "last_recalled_at", "access_count", "access_count_7d", "access_days", "access_day", "access_windows",
    "last_accessed_at", "prev_accessed_at", "agents",
)  # fmt: skip


def memory(client: Jochi, id_: str = "m", label: str = "Note", scope: str = "default", **properties: Any) -> str:
    """A memory; returns its key."""
    base = {"key": f"{scope}/{id_}", "scope": scope, "id": id_, "created_at": NOW - 100 * DAY, "next_due": NOW + DAY}
    client.database.run(f"CREATE (m:Curated:{label}) SET m = $p", {"p": base | properties})
    return str(base["key"])


def memories(client: Jochi, each: dict[str, dict[str, Any]]) -> list[str]:
    """Memories by id, with these properties; returns their keys."""
    client.database.run(
        "UNWIND $rows AS row CREATE (m:Curated:Note {key: 'default/' + row.id, scope: 'default', id: row.id, "
        "created_at: $made, next_due: $due}) SET m += row.properties",
        {
            "rows": [{"id": id_, "properties": properties} for id_, properties in each.items()],
            "made": NOW - 100 * DAY,
            "due": NOW + DAY,
        },
    )
    return [f"default/{id_}" for id_ in each]


def read_all(client: Jochi) -> dict[str, dict[str, Any]]:
    """What folding writes on each memory, by key."""
    rows = client.database.run("MATCH (m:Curated) RETURN m.key AS key, properties(m) AS p", write=False)
    return {row["key"]: {n: v for n, v in to_python(row["p"]).items() if n in FOLDED} for row in rows}


def read(client: Jochi, key: str, label: str = "Curated") -> dict[str, Any]:
    (row,) = client.database.run(
        f"MATCH (m:{label} {{key: $key}}) RETURN properties(m) AS p", {"key": key}, write=False
    )
    return dict(to_python(row["p"]))


def counted(client: Jochi, key: str) -> dict[str, Any]:
    """What folding writes, as far as it is there."""
    return {name: value for name, value in read(client, key).items() if name in FOLDED}


def fold(client: Jochi, now: datetime = NOW) -> Run:
    """Folds everything; one run."""
    runs = client.run("fold_accesses", now=now, drain=True)
    assert [run.error for run in runs if run.error] == []
    assert waiting(client) == 0
    return runs[0]


def waiting(client: Jochi) -> int:
    return int(client.database.run("MATCH (a:JochiAccess) RETURN count(a) AS n", write=False)[0]["n"])


def call(client: Jochi, **given: Any) -> dict[str, Any]:
    """`memory/touch` as any driver would call it."""
    parameters = {"now": NOW, "keys": ["default/m"], "used": True, "agent": None, "batch": None} | given
    row: dict[str, Any] = client.database.run(
        "MATCH (p:JochiProcedure {name: 'memory/touch'}) CALL apoc.cypher.doIt(p.body, $given) YIELD value RETURN value",
        {"given": in_one_map(parameters)},
    )[0]["value"]
    return row


# -- touching ----------------------------------------------------------------------------------------------------------


def test_a_touch_is_one_record_in_utc(jochi: Jochi) -> None:
    there = timezone(timedelta(hours=5, minutes=30))
    memory(jochi)
    row = call(jochi, now=NOW.astimezone(there), agent="ada")
    assert row == {
        "touched": 1, "unknown": 0, "unknown_samples": [], "repeated": False, "rejected": 0, "samples": [], "problem": None,
    }  # fmt: skip
    (record,) = jochi.database.run("MATCH (a:JochiAccess) RETURN properties(a) AS p", write=False)
    assert to_python(record["p"]) == {"key": "default/m", "at": NOW, "used": True, "agent": "ada"}
    assert str(record["p"]["at"].iso_format()).endswith("+00:00")


WRONG_INPUT: list[tuple[dict[str, Any], str]] = [
    ({"now": NOW.replace(tzinfo=None)}, "now is not a datetime with a zone"),
    ({"now": NOW.isoformat()}, "now is not a datetime with a zone"),
    ({"now": 1_781_524_800}, "now is not a datetime with a zone"),
    ({"now": None}, "now is not a datetime with a zone"),
    ({"now": datetime(1989, 12, 31, 23, 59, 59, tzinfo=timezone.utc)}, "before 1990"),
    ({"keys": None}, "keys is not a list"),
    ({"keys": "default/m"}, "keys is not a list"),
    ({"used": None}, "used is not true or false"),
    ({"used": "true"}, "used is not true or false"),
    ({"used": 1}, "used is not true or false"),
    ({"agent": 7}, "agent is not a text"),
    ({"agent": ["ada"]}, "agent is not a text"),
    ({"agent": ""}, "agent is empty"),
    ({"agent": "a" * 201}, "agent is empty or longer"),
    ({"batch": 7}, "batch is not a text"),
    ({"batch": ""}, "batch is empty"),
    ({"batch": "b" * 201}, "batch is empty or longer"),
]


def test_wrong_input_has_an_answer_and_writes_nothing(jochi: Jochi) -> None:
    for given, says in WRONG_INPUT:
        row = call(jochi, **given)
        assert says in row["problem"]
        assert (row["touched"], row["repeated"]) == (0, False)
    assert jochi.database.run("MATCH (n:JochiAccess|JochiAccessBatch) RETURN n") == []


def test_the_limits_of_what_is_taken(jochi: Jochi) -> None:
    memory(jochi)
    assert call(jochi, now=datetime(1990, 1, 1, tzinfo=timezone.utc))["touched"] == 1
    assert call(jochi, agent="a" * 200, batch="b" * 200)["touched"] == 1
    assert call(jochi, keys=[])["touched"] == 0
    longest = "/".join(["\U0001f600" * 1000] * 2)  # four bytes a character: what remember takes, and the index
    row = call(jochi, keys=[longest, longest + "x"])
    assert (row["unknown"], row["rejected"]) == (1, 1)
    fold(jochi)


def test_what_can_not_be_a_key_is_told_and_the_others_are_taken(jochi: Jochi) -> None:
    wrong = [1, None, "m", "/m", "default/", ["default/m"], 1.5, True, {"a": 1}, ""]
    row = call(jochi, keys=[*wrong, "default/m", "a/b/c", "a//"])
    assert (row["unknown"], row["rejected"], row["problem"]) == (3, len(wrong), None)
    assert row["samples"] == ["1", "not a text", "m"]


def test_keys_that_no_memory_has_are_told_apart(jochi: Jochi) -> None:
    key, late = memory(jochi), "default/late"
    jochi.database.run("CREATE (:Tombstone {key: 'default/dead', tombstone: true, deleted_at: $at})", {"at": NOW})
    done = jochi.touch([key, "default/dead", late, "x" * 300 + "/y", late], now=NOW)
    assert done == TouchResult(2, unknown=3, unknown_samples=(late, "x" * 100, late))
    memory(jochi, "late")
    fold(jochi)
    assert read(jochi, late)["recall_count"] == 2, "it was written before they were folded"


def test_a_batch_that_is_sent_twice_counts_once(jochi: Jochi) -> None:
    key = memory(jochi)
    assert call(jochi, keys=[key, key], batch="b1")["touched"] == 2
    again = call(jochi, keys=[key, key], batch="b1")
    assert (again["touched"], again["repeated"]) == (0, True)
    fold(jochi)
    assert call(jochi, keys=[key, key], batch="b1")["repeated"], "also after it was folded"
    assert call(jochi, keys=[key], batch="b2")["touched"] == 1
    assert call(jochi, keys=["nothing"], batch="b3")["touched"] == 0
    assert call(jochi, keys=[key], batch="b3")["touched"] == 1, "what wrote nothing isn't remembered"
    fold(jochi)
    assert read(jochi, key)["recall_count"] == 4


def test_batches_are_forgotten_after_their_time_and_not_before(jochi: Jochi) -> None:
    call(jochi, batch="old", now=NOW - 7 * DAY - SECOND)
    call(jochi, batch="young", now=NOW - 7 * DAY)
    (run,) = jochi.run("forget_batches", now=NOW)
    assert run.changed == 1
    assert jochi.database.run("MATCH (b:JochiAccessBatch) RETURN b.id AS id") == [{"id": "young"}]


def test_the_client_sends_chunks_each_of_which_counts_once(jochi: Jochi) -> None:
    keys = [memory(jochi)] * (CHUNK + 1)
    assert jochi.touch(iter(keys), batch="big") == TouchResult(CHUNK + 1)
    assert jochi.touch(keys, batch="big") == TouchResult(0, repeated=CHUNK + 1)
    assert jochi.touch([]) == TouchResult(0)
    for wrong in ("default/m", b"default/m"):
        with pytest.raises(UsageError, match="not a list"):
            jochi.touch(wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="agent is not a text"):
        jochi.touch(["default/m"], agent=7)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="zone"):
        jochi.touch(["default/m"], now=NOW.replace(tzinfo=None))
    with pytest.raises(UsageError, match="batch"):
        jochi.touch(["default/m"], batch="b" * 181)


def test_a_touch_waits_for_nobody_who_holds_the_memory(jochi: Jochi) -> None:
    key = memory(jochi)
    with jochi.database.driver.session() as session, session.begin_transaction() as holder:
        holder.run("MATCH (m:Curated {key: $key}) SET m.held = true", key=key).consume()
        assert jochi.touch([key]).touched == 1


def test_the_command(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def connected(_context: object) -> Iterator[Jochi]:
        yield jochi

    monkeypatch.setattr(command, "jochi", connected)
    app = typer.Typer()
    app.command()(command.touch)
    key = memory(jochi, "m1")

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments))

    assert "2 touches taken" in run("m1", key, "--agent", "ada", "--at", "2026-06-15T12:00:00Z").output
    assert run("m1", "--recalled", "--batch", "b", "--at", "2026-06-15T12:00:00Z").exit_code == 0
    assert "1 was taken before" in run("m1", "--recalled", "--batch", "b").output
    for wrong, says in (("/x", "can't be keys (such as '/x')"), ("m2", "no memory has default/m2")):
        partly = run(wrong, key, "--at", "2026-06-15T12:00:00Z")
        assert isinstance(partly.exception, JochiError)
        assert (partly.exception.exit_code, says in partly.exception.what) == (3, True)
    fold(jochi)
    found = read(jochi, key)
    assert (found["recall_count"], found["access_count"], found["agents"]) == (5, 4, ["ada"])


# -- folding -----------------------------------------------------------------------------------------------------------


def test_a_recall_counts_as_a_recall_only(jochi: Jochi) -> None:
    key = memory(jochi)
    jochi.touch([key], used=False, agent="ada", now=NOW)
    fold(jochi)
    assert counted(jochi, key) == {
        "recall_count": 1,
        "last_recalled_at": NOW,
        "access_count": 0,
        "access_count_7d": 0,
    }
    assert jochi.database.run("MATCH (s:JochiScope) RETURN s") == []


def test_a_use_counts_as_both(jochi: Jochi) -> None:
    key = memory(jochi)
    for at in (NOW - 2 * DAY, NOW - HOUR, NOW):
        jochi.touch([key], agent="ada", now=at)
    assert fold(jochi).tally == {"records": 3}
    assert counted(jochi, key) == {
        "recall_count": 3,
        "last_recalled_at": NOW,
        "access_count": 3,
        "access_count_7d": 3,
        "access_days": [2, 0, 1, 0, 0, 0, 0],
        "access_day": date(2026, 6, 15),
        "access_windows": [n for at in (NOW, NOW - HOUR, NOW - 2 * DAY) for n in (int(at.timestamp()), 1)],
        "last_accessed_at": NOW,
        "prev_accessed_at": NOW - HOUR,
        "agents": ["ada"],
    }


def test_a_window_takes_so_many_in_however_many_folds(jochi: Jochi) -> None:
    limit = jochi.policy.policy.accesses.per_window
    moments = [NOW - HOUR + 10 * SECOND * i for i in range(limit + 3)] + [NOW - HOUR - SECOND, NOW]
    portions = {memory(jochi, f"m{n}"): n for n in (1, 2, 13)}
    for portion in range(max(portions.values())):
        for key, n in portions.items():
            for at in moments[portion::n] if portion < n else ():
                jochi.touch([key], now=at)
        fold(jochi)
    for found in read_all(jochi).values():
        assert (found["recall_count"], found["access_count"]) == (limit + 5, limit + 2)
        assert found["access_days"][0] == limit + 2


def test_only_so_many_windows_are_remembered(jochi: Jochi) -> None:
    key = memory(jochi)
    kept = jochi.policy.policy.accesses.windows_kept
    for i in range(kept):
        jochi.touch([key], now=NOW - i * HOUR)
    fold(jochi)
    assert read(jochi, key)["access_count"] == kept
    jochi.touch([key], now=NOW - kept * HOUR)
    jochi.touch([key], now=NOW - (kept - 1) * HOUR)
    assert fold(jochi).tally == {"records": 2, "uncounted": 1}
    found = read(jochi, key)
    assert (found["access_count"], found["recall_count"], len(found["access_windows"])) == (
        kept + 1,
        kept + 2,
        2 * kept,
    )


def test_a_touch_that_is_ahead_counts_as_of_the_fold(jochi: Jochi) -> None:
    key = memory(jochi)
    jochi.touch([key], now=NOW + 3650 * DAY)
    jochi.touch([key], now=NOW)
    assert fold(jochi).tally["ahead"] == 1
    found = read(jochi, key)
    assert (found["last_accessed_at"], found["access_day"]) == (NOW, NOW.date())
    assert "prev_accessed_at" not in found


def test_agents_beyond_the_limit_and_a_longer_list_that_was_there(jochi: Jochi) -> None:
    kept = jochi.policy.policy.accesses.agents_kept
    few, many = memory(jochi, "few"), memory(jochi, "many", agents=[f"z{i}" for i in range(kept + 5)])
    for i in range(kept + 2):
        jochi.touch([few], agent=f"a{i:03}", now=NOW)
    jochi.touch([many], agent="a", now=NOW)
    fold(jochi)
    assert read(jochi, few)["agents"] == [f"a{i:03}" for i in range(kept)]
    assert len(read(jochi, many)["agents"]) == kept + 5
    assert read(jochi, many)["agents"][0] == "a"


def test_records_that_nobody_can_read_are_dropped_and_told(jochi: Jochi) -> None:
    key = memory(jochi)
    for value in WRONG_TYPES.values():
        jochi.database.run("CREATE (:JochiAccess {key: $key, at: $at, used: true})", {"key": key, "at": value})
        jochi.database.run(
            "CREATE (:JochiAccess {key: $key, at: $now, used: $used, agent: $used})",
            {"key": key, "used": value, "now": NOW},
        )
    jochi.database.run("CREATE (:JochiAccess {key: $key, at: datetime('1989-12-31T00Z')})", {"key": key})
    jochi.database.run("CREATE (:JochiAccess {key: $key})", {"key": key})
    n = len(WRONG_TYPES)
    assert fold(jochi).tally == {"records": 2 * n + 2, "unreadable": n + 2}
    found = read(jochi, key)
    assert (found["recall_count"], found["access_count"]) == (n, 1), "used is true or it isn't"
    assert "agents" not in found


def test_wrong_types_on_the_memory_never_throw(jochi: Jochi) -> None:
    odd: dict[str, dict[str, Any]] = {}
    for name, value in WRONG_TYPES.items():
        odd |= {f"{name}-{at}": {at: value} for at in FOLDED}
        odd[f"{name}-all"] = dict.fromkeys(FOLDED, value)
    keys = memories(jochi, odd)
    jochi.touch([*keys, *keys], agent="ada", now=NOW)
    run = fold(jochi)
    assert (run.changed, run.tally["records"]) == (len(keys), 2 * len(keys))
    for key, found in read_all(jochi).items():
        assert type(found["recall_count"]) is type(found["access_count"]) is int, key
        assert found["recall_count"] >= 2, key
        assert found["access_count"] >= 2, key
        assert found["access_count_7d"] == 2, key
        assert (found["access_days"], found["access_day"]) == ([2, 0, 0, 0, 0, 0, 0], NOW.date()), key
        assert found["last_accessed_at"] == found["last_recalled_at"] == NOW, key
        assert "ada" in found["agents"], key
        assert found["access_windows"] == [int(NOW.timestamp()), 2], key
    jochi.touch(keys, now=NOW)
    assert "repaired" not in fold(jochi).tally, "once is enough"


REPAIRS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"access_count": "12"}, {"access_count": 13}, False),
    ({"access_count": 12.0}, {"access_count": 13}, False),
    ({"access_count": -1}, {"access_count": 1}, True),
    ({"access_count": True}, {"access_count": 1}, True),
    ({"access_count": 2**63 - 1}, {"access_count": 10**15}, False),
    ({"recall_count": 2**63 - 1}, {"recall_count": 10**15}, False),
    ({"recall_count": "many"}, {"recall_count": 1}, False),
    ({"agents": "bob"}, {"agents": ["ada", "bob"]}, False),
    ({"agents": [1, 2, 3]}, {"agents": ["1", "2", "3", "ada"]}, False),
    ({"agents": NOW}, {"agents": ["ada"]}, True),
    ({"access_days": [1, 2, 3], "access_day": NOW.date()}, {"access_days": [1, 0, 0, 0, 0, 0, 0]}, False),
    ({"access_days": [1, 2, 3, -4, 5, 6, 7], "access_day": NOW.date()}, {"access_count_7d": 1}, False),
    ({"access_days": [1] * 7}, {"access_count_7d": 1}, False),
    ({"access_days": [1] * 7, "access_day": NOW.date() + 2 * DAY}, {"access_count_7d": 1}, False),
    ({"access_windows": [1, 2, 3]}, {"access_windows": [int(NOW.timestamp()), 1]}, False),
    ({"access_windows": [int((NOW + DAY).timestamp()), 9]}, {"access_windows": [int(NOW.timestamp()), 1]}, False),
    ({"last_accessed_at": NOW + DAY}, {"last_accessed_at": NOW}, False),
]


def test_what_is_wrong_is_repaired_from_what_can_be_read(jochi: Jochi) -> None:
    keys = [memory(jochi, f"m{i}", **had) for i, (had, _, _) in enumerate(REPAIRS)]
    jochi.touch(keys, agent="ada", now=NOW)
    assert fold(jochi).tally["repaired"] == len(REPAIRS)
    for key, (had, after, held) in zip(keys, REPAIRS, strict=True):
        found = read(jochi, key)
        assert {name: found.get(name) for name in after} == after, had
        assert ("hold_until" in found) is held, had
        audits = jochi.database.run("MATCH (a:CurationAudit {key: $key}) RETURN properties(a) AS p", {"key": key})
        told = [(row["p"]["action"], to_python(row["p"]).get(*had)) for row in audits]
        assert told == [("repair", *had.values())] * held, had


def test_a_repair_never_shortens_a_hold(jochi: Jochi) -> None:
    longer = memory(jochi, "longer", access_count=True, hold_until=NOW + 400 * DAY)
    wrong = memory(jochi, "wrong", access_count=True, hold_until="for ever")
    jochi.touch([longer, wrong], now=NOW)
    fold(jochi)
    assert (read(jochi, longer)["hold_until"], read(jochi, wrong)["hold_until"]) == (NOW + 400 * DAY, "for ever")


def test_days_that_were_there_move_to_today(jochi: Jochi) -> None:
    key = memory(jochi, access_days=[1, 2, 3, 4, 5, 6, 7], access_day=NOW.date() - 2 * DAY, access_count=28)
    jochi.touch([key], now=NOW)
    assert fold(jochi).tally == {"records": 1}
    found = read(jochi, key)
    assert (found["access_days"], found["access_count_7d"], found["access_count"]) == ([1, 0, 1, 2, 3, 4, 5], 16, 29)


def test_tombstones_are_counted_and_stay_and_a_live_memory_comes_first(jochi: Jochi) -> None:
    say_go(jochi)
    gone, both = memory(jochi, "gone", expires_at=NOW), memory(jochi, "both", expires_at=NOW)
    jochi.database.run("MATCH (m:Curated) SET m.next_due = $now", {"now": NOW})
    assert jochi.run("curate_due", now=NOW)[0].changed == 2
    memory(jochi, "both")
    jochi.touch([gone, both, "default/never"], now=NOW)
    run = fold(jochi)
    assert run.tally == {"records": 3, "tombstone": 1, "unknown": 1}
    assert read(jochi, gone, "Tombstone")["access_count"] == 1
    assert read(jochi, both)["access_count"] == 1
    assert "access_count" not in read(jochi, both, "Tombstone")
    (restored,) = jochi.restore([gone])
    assert restored.outcome == "restored"
    assert read(jochi, gone)["access_count"] == 1


def test_a_touch_protects_until_it_is_folded_and_then_the_rule_decides(jochi: Jochi) -> None:
    say_go(jochi)
    key = memory(jochi, expires_at=NOW - DAY, next_due=NOW - DAY)
    jochi.touch([key], now=NOW)
    (refused,) = jochi.run("curate_due", now=NOW)
    assert (refused.changed, refused.tally["rail_unfolded_access"]) == (0, 1)
    looked = read(jochi, key)
    assert looked["next_due"] > NOW + HOUR
    fold(jochi, NOW + SECOND)
    assert read(jochi, key)["next_due"] == NOW + SECOND, "the rail that held it is gone"
    (pruned,) = jochi.run("curate_due", now=NOW + 2 * SECOND)
    assert pruned.changed == 1
    assert read(jochi, key, "Tombstone")["access_count"] == 1


def test_only_uses_that_can_bring_a_memory_up_have_it_looked_at(jochi: Jochi) -> None:
    """Three within seven days; of what moves by its value any."""
    cases = {
        ("Note", "WARM", 2): DAY,
        ("Note", "WARM", 3): 0 * DAY,
        ("Note", "HOT", 3): DAY,
        ("Fact", "COLD", 1): 0 * DAY,
    }
    for label, tier, uses in cases:
        key = memory(jochi, f"{label}{tier}{uses}", label=label, tier=tier)
        for _ in range(uses):
            jochi.touch([key], now=NOW)
    fold(jochi)
    for (label, tier, uses), due in cases.items():
        assert read(jochi, f"default/{label}{tier}{uses}")["next_due"] == NOW + due


# -- batches -----------------------------------------------------------------------------------------------------------


def set_batches(client: Jochi, size: int, most: int) -> None:
    client.database.run(
        "MATCH (j:JochiJob {name: 'fold_accesses'}) SET j.batch_size = $size, j.max_batches = $most",
        {"size": size, "most": most},
    )


def test_one_memory_with_very_many_touches_takes_several_batches(jochi: Jochi) -> None:
    records = jochi.policy.policy.accesses.batch_records
    big, small = memory(jochi, "a"), memory(jochi, "b")
    jochi.touch([big] * (2 * records + 7) + [small] * 3, now=NOW)
    set_batches(jochi, 1000, 1)
    first, *_ = jochi.run("fold_accesses", now=NOW)
    assert first.tally["records"] == records
    assert "recall_count" not in read(jochi, small)
    second, *_ = jochi.run("fold_accesses", now=NOW)
    assert read(jochi, small)["recall_count"] == 3, "the big one doesn't keep it waiting"
    assert 0 < second.tally["records"] <= records
    fold(jochi)
    assert read(jochi, big)["recall_count"] == 2 * records + 7
    jochi.touch([big] * (records + 1), now=NOW)
    set_batches(jochi, 1000, 50)
    (run,) = jochi.run("fold_accesses", now=NOW)
    assert (run.batches, run.tally["records"]) == (2, records + 1), "one run goes on until nothing is left"
    assert read(jochi, big)["access_count"] == jochi.policy.policy.accesses.per_window


def test_the_keys_go_round_and_those_to_pass_over_are_left_out(jochi: Jochi) -> None:
    keys = [memory(jochi, f"m{i}") for i in range(6)]
    jochi.touch(keys, now=NOW)
    text = jochi.engine.text("access/fold_accesses", "select")

    def select(limit: int, skip: list[Any], cursor: Any = None) -> list[str]:
        parameters = {"now": NOW, "limit": limit, "skip": skip, "job": {"cursor": cursor}}
        return list(jochi.database.run(text, in_one_map(parameters), write=False)[0]["keys"])

    assert select(10, []) == keys
    assert select(2, [], keys[2]) == keys[3:5]
    assert select(10, [], keys[2]) == keys[3:] + keys[:3]
    assert select(10, [keys[0], keys[3], keys[3], 7], keys[2]) == keys[4:] + keys[1:3]
    assert select(10, [keys[5], keys[2]], keys[2]) == keys[3:5] + keys[:2]
    assert select(10, keys, keys[2]) == []
    assert select(10, [], "zzz") == keys
    assert select(10, [], 7) == keys
    assert select(10, ["a", "zzz"], "default/m2x") == keys[3:] + keys[:3]


def test_one_memory_that_fails_is_put_aside_and_the_others_are_folded(jochi: Jochi) -> None:
    keys = [memory(jochi, f"m{i}") for i in range(20)]
    bad = keys[7]
    jochi.database.run("CREATE (:Curated {key: 'x/held', recall_count: 3})")
    jochi.database.run(
        "CREATE (:TestsOnce {recall_count: 1}) WITH 1 AS x MATCH (m:Curated {key: $k}) SET m:TestsOnce", {"k": bad}
    )
    jochi.touch(keys, now=NOW)
    runs: list[Run] = []
    while not any(run.quarantined for run in runs):
        assert len(runs) < 12
        runs += jochi.run("fold_accesses", now=NOW)
    runs += jochi.run("fold_accesses", now=NOW)
    assert [key for run in runs for key in run.quarantined] == [bad]
    assert {key for key in keys if read(jochi, key).get("recall_count") == 1} == {*keys} - {bad}
    assert waiting(jochi) == 1
    jochi.database.run("MATCH (m:TestsOnce) REMOVE m:TestsOnce")
    jochi.database.run("MATCH (j:JochiJob {name: 'fold_accesses'}) SET j.skip = []")
    fold(jochi)
    assert read(jochi, bad)["recall_count"] == 1


def test_nothing_to_do_is_one_row(jochi: Jochi) -> None:
    for name in ("fold_accesses", "roll_access_days", "forget_batches"):
        (run,) = jochi.run(name, now=NOW)
        assert (run.status, run.selected, run.changed) == ("ok", 0, 0)


# -- rolling -----------------------------------------------------------------------------------------------------------


def test_the_count_of_seven_days_falls_when_nothing_happens(jochi: Jochi) -> None:
    key = memory(jochi)
    for at in (NOW - DAY, NOW, NOW):
        jochi.touch([key], now=at)
    fold(jochi)
    assert jochi.run("roll_access_days", now=NOW.replace(hour=23, minute=59))[0].changed == 0
    for days, total, buckets in (
        (1, 3, [0, 2, 1, 0, 0, 0, 0]),
        (5, 3, [0, 0, 0, 0, 0, 2, 1]),
        (6, 2, [0, 0, 0, 0, 0, 0, 2]),
        (7, 0, None),
    ):
        (run,) = jochi.run("roll_access_days", now=NOW.replace(hour=0) + days * DAY)
        found = read(jochi, key)
        assert run.changed == 1
        assert (found["access_count_7d"], found.get("access_days")) == (total, buckets)
        assert found.get("access_day") == (None if buckets is None else NOW.date() + days * DAY)
    assert read(jochi, key)["access_count"] == 3
    assert jochi.run("roll_access_days", now=NOW + 8 * DAY)[0].selected == 0


def test_days_without_a_roll(jochi: Jochi) -> None:
    last = memory(jochi, "last", access_days=[9] * 7, access_day=NOW.date() - 6 * DAY, access_count_7d=63)
    none = memory(jochi, "none", access_days=[9] * 7, access_day=NOW.date() - 7 * DAY, access_count_7d=63)
    month = memory(jochi, "month", access_days=[9] * 7, access_day=NOW.date() - 30 * DAY, access_count_7d=63)
    (run,) = jochi.run("roll_access_days", now=NOW)
    assert run.tally == {"rolled": 3, "emptied": 2}
    assert counted(jochi, last) == {
        "access_count_7d": 9,
        "access_days": [0, 0, 0, 0, 0, 0, 9],
        "access_day": NOW.date(),
    }
    assert counted(jochi, none) == counted(jochi, month) == {"access_count_7d": 0}


def test_buckets_that_can_not_be_read_are_taken_off(jochi: Jochi) -> None:
    yesterday = NOW.date() - DAY
    keys = memories(
        jochi,
        {
            name: {"access_days": value, "access_day": yesterday, "access_count_7d": value}
            for name, value in WRONG_TYPES.items()
        },
    )
    assert jochi.run("roll_access_days", now=NOW)[0].tally["repaired"] == len(keys)
    assert list(read_all(jochi).values()) == [{"access_count_7d": 0}] * len(keys)


# -- scopes ------------------------------------------------------------------------------------------------------------


def test_a_scope_is_known_by_reported_uses_only(jochi: Jochi) -> None:
    used, shown = memory(jochi, "m", scope="used"), memory(jochi, "m", scope="shown")
    memory(
        jochi,
        "m",
        scope="imported",
        access_count=5,
        last_accessed_at=NOW,
        access_days=[5] + [0] * 6,
        access_day=NOW.date(),
    )
    check = examine(jochi, probe=False)["accesses"]
    assert (check.level, "off in 3 scopes" in check.found) == (Level.WARN, True)
    jochi.touch([used], now=NOW - HOUR)
    jochi.touch([shown], used=False, now=NOW)
    jochi.touch(["nobody/m"], now=NOW)
    assert overview(jochi, tiers=False).accesses.waiting == 3  # type: ignore[union-attr]
    fold(jochi)
    jochi.touch([used], now=NOW - 2 * HOUR)
    jochi.touch([used], now=NOW)
    fold(jochi)
    rows = jochi.database.run("MATCH (s:JochiScope) RETURN properties(s) AS p")
    assert [to_python(row["p"]) for row in rows] == [
        {"name": "used", "first_access_at": NOW - 2 * HOUR, "last_access_at": NOW}
    ]
    check = examine(jochi, probe=False)["accesses"]
    assert "off in 2 scopes" in check.found
    assert "imported, shown" in check.found
    found = overview(jochi).accesses
    assert found is not None
    assert (found.waiting, found.reporting, found.silent) == (0, 1, 2)
    assert overview(jochi, tiers=False).accesses.silent is None  # type: ignore[union-attr]
    jochi.touch(["shown/m", "imported/m"], now=NOW)
    fold(jochi)
    assert examine(jochi, probe=False)["accesses"].level is Level.OK


def test_a_window_must_go_into_a_day(policy_with: PolicyWith) -> None:
    for window in ("7min", "5h", "2d", "36h"):
        with pytest.raises(JochiError, match="go into a day"):
            policy_with(f"[accesses]\nwindow = '{window}'")


def test_the_shipped_policy_is_what_the_page_says(test_policy: LoadedPolicy) -> None:
    rules = test_policy.policy.accesses
    assert (rules.window, rules.per_window, rules.windows_kept, rules.agents_kept) == (HOUR, 10, 168, 100)
    assert rules.batch_memory == 7 * DAY
