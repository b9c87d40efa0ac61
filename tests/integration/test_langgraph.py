"""LangGraph's store over Jochi answers as its own InMemoryStore does, sync and async; what is Jochi's own, and a real graph
(docs/reference/langgraph.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from random import Random
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from jochi import Jochi, clock
from jochi.errors import JochiError, Refused, UsageError
from jochi.graph.driver_values import to_python
from jochi.store import MemoryStore, items
from jochi.store.langgraph import JochiStore
from jochi.write.remembering import SomeRefused

pytestmark = pytest.mark.server

SPACES = [
    ("ada",),
    ("ada", "prefs"),
    ("ada", "prefs", "ui"),
    ("ada", "prefs2"),
    ("bob", "prefs"),
    ("a/b%2F", "ünï", "*x"),
]
KEYS = ["theme", "Theme", "a/b", "…"]
VALUES: list[dict[str, Any]] = [
    {},
    {"theme": "dark", "n": 1},
    {"theme": "Dark", "n": 2.5},
    {"theme": "dark", "n": 3, "deep": {"tags": ["x", "y"], "none": None}},
    {"text": 'says "no"\n – 日本語', "n": 4},
]
FILTERS: list[dict[str, Any] | None] = [
    None,
    {"theme": "dark"},
    {"n": {"$gt": 1, "$lte": 3}},
    {"n": {"$ne": 1}},
    {"deep": {"tags": ["x", "y"]}},
    {"deep": {"none": None}},
    {"theme": {"$eq": "Dark"}},
]
CONDITIONS = [
    None,
    (MatchCondition("prefix", ("ada",)),),
    (MatchCondition("prefix", ("*", "prefs")),),
    (MatchCondition("suffix", ("prefs",)),),
    (MatchCondition("prefix", ("ada", "prefs")), MatchCondition("suffix", ("*", "ui"))),
]


def plain(result: Any) -> Any:
    """An answer without the moments; what has no order is sorted."""
    if isinstance(result, Item):
        return result.namespace, result.key, result.value
    if isinstance(result, list) and all(isinstance(one, Item) for one in result):
        return sorted((plain(one) for one in result), key=repr)
    return result


def drawn(dice: Random) -> Op:
    """Any operation; searches that are cut short would show whose order is whose."""
    space, key = dice.choice(SPACES), dice.choice(KEYS)
    match dice.randrange(6):
        case 0 | 1:
            return PutOp(space, key, dice.choice(VALUES))
        case 2:
            return PutOp(space, key, None)
        case 3:
            return GetOp(space, key)
        case 4:
            prefix = space[: dice.randint(0, len(space))]
            # Numbers are compared with what has none by an error, in both.
            asked = dice.choice([each for each in FILTERS if not each or "$gt" not in str(each)])
            return SearchOp(prefix, asked, limit=100)
        case _:
            depth = dice.choice([None, 1, 2])
            return ListNamespacesOp(
                dice.choice(CONDITIONS), depth, limit=dice.choice([1, 3, 100]), offset=dice.choice([0, 1])
            )


@pytest.fixture
def store(jochi: Jochi) -> JochiStore:
    return JochiStore(jochi)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Sets the time that the store believes in."""
    return lambda moment: monkeypatch.setattr(clock, "now", lambda: moment)


def cleaned(theirs: InMemoryStore) -> None:
    """Theirs goes on listing namespaces that hold nothing any more."""
    for namespace in [each for each, held in theirs._data.items() if not held]:
        del theirs._data[namespace]


def test_it_answers_as_langgraphs_own_store_does(store: JochiStore) -> None:
    theirs, dice = InMemoryStore(), Random(9)
    kinds: set[str] = set()

    async def both(ops: Iterable[Op]) -> None:
        asked = list(ops)
        kinds.update(type(op).__name__ for op in asked)
        ours = await store.abatch(asked) if dice.random() < 0.5 else store.batch(asked)
        cleaned(theirs)
        wanted = theirs.batch(asked)
        cleaned(theirs)
        assert [plain(one) for one in ours] == [plain(one) for one in wanted], asked

    async def all_of_them() -> None:
        await both(PutOp(space, "theme", VALUES[number % 5]) for number, space in enumerate(SPACES))
        await both(PutOp(("ada", "n"), f"k{n}", {"n": n}) for n in range(6))
        await both(SearchOp(("ada", "n"), asked, limit=100) for asked in FILTERS)
        for _ in range(60):
            await both([drawn(dice) for _ in range(dice.choice([1, 1, 4]))])

    asyncio.run(all_of_them())
    assert kinds == {"PutOp", "GetOp", "SearchOp", "ListNamespacesOp"}
    assert not theirs.get(("ada", "n"), "none")
    many = [(("ada", "many", f"n{n}"), f"k{n}", {"n": n}, None) for n in range(3)]
    store.items.put_all(many)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items, "_PAGE", 2)
        assert [item.key for item in store.search(("ada", "many"))] == ["k0", "k1", "k2"]
        assert len(store.search((), limit=100)) == len(theirs.search((), limit=100)) + 3
    for wrong in ((), ("langgraph",), ("a.b",), ("",)):
        for each in (store, theirs):
            with pytest.raises(InvalidNamespaceError):
                each.put(wrong, "k", {})
    for each in (store, theirs):
        with pytest.raises((ValueError, UsageError)):
            each.search(("ada", "n"), filter={"n": {"$near": 1}})
    found = [store.search(("ada", "n"), limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [item.key for page in found for item in page] == [f"k{n}" for n in range(6)], "in the order of their keys"


def test_what_is_jochis_own(store: JochiStore, at: Callable[[datetime], None]) -> None:
    client: Jochi = Jochi(store.items.engine.database.driver, policy=store.items.policy)
    now = datetime.now(timezone.utc).replace(microsecond=0)
    at(now)
    space = ("ada", "prefs")

    # Another value is an edit on record; the same one isn't.
    store.put(space, "theme", {"theme": "dark"})
    first = store.get(space, "theme")
    assert first is not None
    at(now + timedelta(hours=1))
    store.put(space, "theme", {"theme": "dark"})
    assert store.get(space, "theme") == first
    store.put(space, "theme", {"theme": "Dark"})
    second = store.get(space, "theme")
    assert second is not None
    assert (second.value, second.created_at) == ({"theme": "Dark"}, first.created_at)
    assert second.updated_at == now + timedelta(hours=1)
    record = client.database.run(
        "MATCH (a:CurationAudit {key: 'ada/item:prefs/theme'}) RETURN a.action AS action, a.run AS run"
    )
    assert [row["action"] for row in record] == ["edit"]
    client.undo(record[0]["run"])
    undone = store.get(space, "theme")
    assert undone is not None
    assert undone.value == {"theme": "dark"}

    # A time to live counts from the last put or read, and ends at the instant.
    store.put(space, "code", {"pin": 1}, ttl=30)
    for minutes, refresh, there in ((89, True, True), (118, False, True), (119, False, False)):
        at(now + timedelta(minutes=minutes))
        assert (store.get(space, "code", refresh_ttl=refresh) is not None) == there, minutes
    assert [item.key for item in store.search(space)] == ["theme"]
    store.put(space, "code", {"pin": 2})
    at(now + timedelta(days=9))
    assert plain(store.get(space, "code")) == (space, "code", {"pin": 2})
    store.put(space, "code", {"pin": 2}, ttl=1)
    at(now + timedelta(days=10))
    assert store.get(space, "code") is None

    # Deleted: gone for the store at once, pruned by the engine, on record; put again, it is a new one.
    store.delete(space, "theme")
    store.delete(space, "nothing")
    assert (store.get(space, "theme"), store.list_namespaces()) == (None, [])
    (left,) = client.database.run(
        "MATCH (m:Curated {key: 'ada/item:prefs/theme'}) RETURN m.expires_at AS ends, m.next_due AS due, m.content AS content"
    )
    assert (to_python(left)["ends"], to_python(left)["due"]) == (clock.now(), clock.now())
    assert left["content"] == '{"theme": "dark"}'
    (run,) = client.database.run("MATCH (a:CurationAudit {rule: 'file.struck'}) RETURN a.run AS run")
    client.undo(run["run"])
    assert store.get(space, "theme") is not None
    store.delete(space, "theme")
    store.put(space, "theme", {"theme": "dark"})
    assert plain(store.get(space, "theme")) == (space, "theme", {"theme": "dark"}), "put again before it is pruned"
    client.database.run(
        "MATCH (m {key: 'ada/item:prefs/theme'}) SET m:Tombstone, m.tombstone = true REMOVE m:Curated, m:StoreItem"
    )
    store.put(space, "theme", {"theme": "light"})
    assert plain(store.get(space, "theme")) == (space, "theme", {"theme": "light"})

    # Pinned: it says so and stays.
    client.database.run("MATCH (m:Curated {key: 'ada/item:prefs/theme'}) SET m.pinned = true")
    with pytest.raises(Refused, match="is pinned"):
        store.delete(space, "theme")
    assert store.get(space, "theme") is not None

    # By words, the best first; never of another scope.
    store.put(("ada", "notes"), "1", {"text": "The blue door squeaks."})
    store.put(("ada", "notes"), "2", {"text": "The red door is new, and blue paint is out."})
    store.put(("bob", "notes"), "1", {"text": "A blue door."})
    client.database.autocommit("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    found = store.search(("ada",), query="blue door squeaks")
    assert [item.key for item in found] == ["1", "2"]
    assert found[0].score is not None
    assert found[0].score > (found[1].score or 0)
    assert [
        item.key for item in store.search(("ada",), query="blue door", filter={"text": {"$ne": "x"}}, limit=1, offset=1)
    ]
    assert {item.namespace[0] for item in store.search((), query="blue door")} == {"ada", "bob"}
    assert store.search(("ada", "prefs"), query="blue door") == []

    # Somebody else is quicker each time that it has looked.
    at(clock.now() + timedelta(minutes=1))
    look, missed = items.Items._look, iter([True, False])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(items.Items, "_look", lambda self, keys: [] if next(missed, False) else look(self, keys))
        store.put(("ada", "notes"), "1", {"text": "The Blue door squeaks."})
    late = store.get(("ada", "notes"), "1")
    assert late is not None
    assert late.value == {"text": "The Blue door squeaks."}

    # One scope for all namespaces; a plain store without LangGraph; what can't be kept.
    mine = client.items("team")
    assert isinstance(mine, MemoryStore)
    mine.put(("ada", "prefs"), "k", {"x": 1})
    assert (mine.namespaces(), mine.namespaces(("bob",))) == ([("ada", "prefs")], [])
    assert (
        client.database.run("MATCH (m:Curated {scope: 'team'}) RETURN m.key AS key")[0]["key"]
        == "team/item:ada.prefs/k"
    )
    for value in ({"x": object()}, {"x": float("nan")}, {1: 2}, "text"):
        with pytest.raises(UsageError):
            mine.put(("ada",), "k", value)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="ttl"):
        mine.put(("ada",), "k", {}, ttl=-1)
    with pytest.raises(SomeRefused):
        client.items("no kind", kind="Nothing").put(("a",), "k", {})
    twice = client.items("twice", kind="Belief")
    twice.put(("a",), "k", {"x": 1})
    with pytest.raises(JochiError, match="says the same"):
        twice.put(("a",), "other", {"x": 1})


class State(TypedDict):
    user: str
    said: str
    answer: str


def test_a_graph_remembers_across_threads(store: JochiStore) -> None:
    def listen(state: State, runtime: Runtime[None]) -> dict[str, str]:
        assert isinstance(runtime.store, BaseStore)
        runtime.store.put((state["user"], "facts"), "drink", {"text": state["said"]})
        return {}

    async def answer(state: State, runtime: Runtime[None]) -> dict[str, str]:
        assert runtime.store is not None
        item = await runtime.store.aget((state["user"], "facts"), "drink")
        assert item is not None
        return {"answer": item.value["text"]}

    graph = StateGraph(State)
    graph.add_node("listen", listen)
    graph.add_node("answer", answer)
    graph.add_conditional_edges(START, lambda state: "listen" if state["said"] else "answer")
    graph.add_edge("listen", "answer")
    graph.add_edge("answer", END)
    app = graph.compile(store=store)
    told = asyncio.run(app.ainvoke({"user": "ann", "said": "green tea", "answer": ""}))
    asked = asyncio.run(app.ainvoke({"user": "ann", "said": "", "answer": ""}))
    assert (told["answer"], asked["answer"]) == ("green tea", "green tea")
