"""An agent's lock: who gets it, how long it holds, and what the engine does meanwhile (docs/how-to/use-the-models.md)."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from neomodel import db
from tests.integration.conftest import Run

from jochi import Jochi, clock
from jochi.errors import UsageError
from jochi_models import Belief, Gone, Locked, LostUpdate, NotSaved, Pruned, aio
from jochi_models import Notification as Notice

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("connected")]

TTL = timedelta(minutes=10)  # the policy's rails.lock_ttl
SECOND = timedelta(seconds=1)


@pytest.fixture
def belief(jochi: Jochi) -> Belief:
    """One that is saved."""
    return Belief(uid="b", content="the sky is blue", confidence=0.8).save()


def stored(jochi: Jochi, name: str, key: str = "default/b") -> Any:
    (row,) = jochi.database.run(
        "MATCH (m:Curated {key: $key}) RETURN m[$name] AS value", {"key": key, "name": name}, write=False
    )
    return row["value"]


def held(jochi: Jochi, by: object, at: object, key: str = "default/b") -> None:
    """A lock as another writer left it."""
    jochi.database.run(
        "MATCH (m:Curated {key: $key}) SET m.locked_by = $by, m.locked_at = $at", {"key": key, "by": by, "at": at}
    )


def test_it_is_loaded_locked_saved_and_given_back(jochi: Jochi, belief: Belief) -> None:
    other = Belief.nodes.get(key="default/b")
    other.confidence = 0.6
    other.save()
    with belief.lock("ann") as mine:
        assert mine is belief
        assert belief.confidence == 0.6
        assert stored(jochi, "locked_by") == "ann"
        assert belief.locked_by == "ann"
        belief.confidence = 0.5
        belief.save()
    assert stored(jochi, "locked_by") is None
    assert stored(jochi, "locked_at") is None
    belief.confidence = 0.4
    belief.save()  # its own lock is no change of somebody else's
    assert stored(jochi, "confidence") == 0.4


def test_it_is_given_back_after_an_error_and_what_isnt_saved_stays_on_the_object(jochi: Jochi, belief: Belief) -> None:
    def work() -> None:
        with belief.lock("ann"):
            belief.confidence = 0.3
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert stored(jochi, "locked_by") is None
    assert belief.confidence == 0.3
    belief.save()
    assert stored(jochi, "confidence") == 0.3


def test_another_agent_waits_or_is_told_whose_it_is(
    jochi: Jochi, belief: Belief, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Belief.nodes.get(key="default/b")
    with belief.lock("ann"):
        with (
            pytest.raises(Locked, match=r"(?s)default/b: ann has locked it since .*lock_ttl") as told,
            other.lock("bob"),
        ):
            pytest.fail("two have it")
        assert told.value.by == "ann"
        assert told.value.since is not None
        waited: list[float] = []
        monkeypatch.setattr(time, "sleep", waited.append)
        ticks = iter([0.0, 0.0, 0.1, 0.2, 0.3])
        monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
        with pytest.raises(Locked), other.lock("bob", wait=0.25):
            pytest.fail("two have it")
        assert waited == pytest.approx([0.1, 0.1, 0.05])
        monkeypatch.undo()
    with other.lock("bob"):
        assert stored(jochi, "locked_by") == "bob"


def test_who_waits_gets_it_when_it_is_given_back(jochi: Jochi, belief: Belief, monkeypatch: pytest.MonkeyPatch) -> None:
    held(jochi, "ann", clock.now())
    monkeypatch.setattr(time, "sleep", lambda _seconds: held(jochi, None, None))
    with belief.lock("bob", wait=60):
        assert stored(jochi, "locked_by") == "bob"


@pytest.mark.parametrize(("age", "free"), [(TTL - 5 * SECOND, False), (TTL + SECOND, True)])
def test_a_lock_is_over_when_the_rail_says_so(jochi: Jochi, belief: Belief, age: timedelta, free: bool) -> None:
    held(jochi, "ann", clock.now() - age)
    if free:
        with belief.lock("bob"):
            assert stored(jochi, "locked_by") == "bob"
    else:
        with pytest.raises(Locked), belief.lock("bob"):
            pytest.fail("it is ann's")


@pytest.mark.parametrize(
    ("by", "at"),
    [("ann", None), (7, "long ago"), (7, datetime(2020, 1, 1, tzinfo=timezone.utc)), ("ann", "2020-01-01")],
)
def test_what_no_rail_can_read_is_honoured(jochi: Jochi, belief: Belief, by: object, at: object) -> None:
    held(jochi, by, at)
    with pytest.raises(Locked), belief.lock("bob"):
        pytest.fail("the rails honour it")
    assert (stored(jochi, "locked_by"), stored(jochi, "locked_at")) == (by, at) or by == "ann"


def test_the_same_agent_begins_its_time_anew_and_gives_back_only_what_is_its_own(jochi: Jochi, belief: Belief) -> None:
    with belief.lock("ann"):
        first = stored(jochi, "locked_at")
        again = Belief.nodes.get(key="default/b")
        with again.lock("ann"):
            assert stored(jochi, "locked_at") > first
        assert stored(jochi, "locked_by") is None
        held(jochi, "bob", clock.now())
    assert stored(jochi, "locked_by") == "bob"  # ann's time was over


def test_what_cant_be_locked_says_why(jochi: Jochi, belief: Belief) -> None:
    with pytest.raises(NotSaved), Belief(content="new").lock("ann"):
        pytest.fail("there is nothing to lock")
    with pytest.raises(UsageError, match="whose"), belief.lock(" "):
        pytest.fail("nobody has it")
    belief.confidence = 0.1
    with pytest.raises(UsageError, match="aren't saved: confidence"), belief.lock("ann"):
        pytest.fail("it would be lost")
    belief.refresh()
    with db.transaction, pytest.raises(UsageError, match="transaction"), belief.lock("ann"):
        pytest.fail("nobody sees it")
    jochi.database.run("MATCH (m {key: 'default/b'}) REMOVE m:Belief:Curated SET m:Tombstone, m.tombstone = true")
    with pytest.raises(Pruned), belief.lock("ann"):
        pytest.fail("it was pruned")
    jochi.database.run("MATCH (m {key: 'default/b'}) DETACH DELETE m")
    with pytest.raises(Gone), belief.lock("ann"):
        pytest.fail("it is gone")


def test_the_engine_leaves_it_alone_and_looks_again_when_it_is_given_back(jochi: Jochi) -> None:
    notice = Notice(uid="n", content="read it", read=True, created_at=clock.now() - timedelta(days=60)).save()
    jochi.apply(jochi.plan())
    with notice.lock("ann"):
        (run,) = jochi.run("curate_due")
        assert run.tally.get("rail_locked") == 1
        assert run.tally.get("pruned", 0) == 0
        assert stored(jochi, "next_due", "default/n") > clock.now()
    (run,) = jochi.run("curate_due")
    assert run.tally.get("pruned") == 1


def test_a_save_without_the_lock_is_told_by_the_revision(jochi: Jochi, belief: Belief) -> None:
    other = Belief.nodes.get(key="default/b")
    with belief.lock("ann"):
        other.confidence = 0.1
        other.save()
        belief.confidence = 0.9
        with pytest.raises(LostUpdate):
            belief.save()
    assert stored(jochi, "confidence") == 0.1


def test_async(jochi: Jochi, run: Run) -> None:
    async def work() -> None:
        belief = await aio.Belief(uid="b", content="one", confidence=0.8).save()
        other = await aio.Belief.nodes.get(key="default/b")
        async with belief.lock("ann"):
            belief.confidence = 0.7
            await belief.save()
            with pytest.raises(Locked):
                async with other.lock("bob", wait=0.05):
                    pytest.fail("two have it")
        async with other.lock("bob"):
            assert other.confidence == 0.7

    run(work)
    assert stored(jochi, "locked_by") is None
