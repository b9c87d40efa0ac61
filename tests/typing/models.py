"""What a type checker must see in the models. Never run: `tests/unit/test_models_typing.py` has mypy read it."""

from datetime import date, datetime
from typing import Literal

from neomodel import NodeSet
from typing_extensions import assert_type

from jochi_models import Belief, Fact, Person, Task, aio
from jochi_models.curated import LiveRelationships

belief = Belief(content="x", confidence=0.5)
assert_type(belief.uid, str)
assert_type(belief.scope, str)
assert_type(belief.key, str)
assert_type(belief.content, str | None)
assert_type(belief.confidence, float | None)
assert_type(belief.pinned, bool | None)
assert_type(belief.created_at, datetime)
assert_type(belief.expires_at, datetime | None)
assert_type(belief.tier, Literal["HOT", "WARM", "COLD", "ARCHIVE"] | None)
assert_type(belief.access_day, date | None)
assert_type(belief.access_days, list[int] | None)
assert_type(belief.embedding, list[float] | None)
assert_type(belief.revision, int | None)
assert_type(belief.save(), Belief)
assert_type(belief.expire(), Belief)
assert_type(belief.evidence, LiveRelationships)
assert_type(Belief.nodes, NodeSet[Belief])
assert_type(Belief.nodes.get(key="default/x"), Belief)
assert_type(Task.nodes.filter(status="pending").all(), list[Task])
assert_type(Fact().tags, list[str] | None)
assert_type(Person().is_owner, bool | None)

belief.content = None
belief.state = "validated"
belief.state = "wonderful"  # type: ignore[assignment]
belief.confidence = "0.5"  # type: ignore[assignment]
belief.created_at = None  # type: ignore[assignment]
belief.tier = "HOT"  # type: ignore[assignment]
belief.access_count = 0  # type: ignore[assignment]
belief.key = "default/y"  # type: ignore[assignment]


async def asynchronous() -> None:
    """The same of the asynchronous models."""
    later = aio.Belief(content="x")
    assert_type(later.content, str | None)
    assert_type(await later.save(), aio.Belief)
    assert_type(await aio.Belief.nodes.get(key="default/x"), aio.Belief)
    assert_type(later.evidence, aio.LiveRelationships)
    later.tier = "HOT"  # type: ignore[assignment]
