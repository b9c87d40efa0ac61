"""What a derivation has to be remembered goes through `memory/remember`, in the transaction that stores what else is known of it:
so all of it is there or nothing, and nobody learns again what was forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jochi.database.engine import Engine
from jochi.errors import JochiError
from jochi.text.content import text_hash
from jochi.write.remembering.screening import CHANGED, RowScreen

Call = Callable[..., dict[str, Any]]


class ForgettingConflict(JochiError):
    """More was forgotten since the memories were compared with it: the transaction is given up, and done again."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "something is forgotten each time that results are to be stored",
            where=f"queue {name}",
            fix="nothing was stored and the inputs wait: start the worker again when the forgetting is done",
        )


class MemoryWriter:
    """Of one derivation that has a body `begin`. Each result's `made` has ``memories``, rows as `memory/remember` takes them."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._name = name
        self._screen = RowScreen(engine)

    def refresh(self) -> None:
        """Reads anew what was forgotten."""
        self._screen.refresh()

    def write(self, call: Call, token: str, sent: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The results as `store` takes them: instead of memories what became of them. Of a result whose inputs are others by now
        none is remembered."""
        begun = [{"key": result["key"], "inputs": result["inputs"]} for result in sent]
        same = set(call(f"derive/{self._name}/begin", token=token, results=begun)["same"])
        rows = [row for result in sent if result["key"] in same for row in result["made"]["memories"]]
        allowed, _ = self._screen.pass_on(list(enumerate(rows)))
        results = (
            call("memory/remember", agent=None, memories=[row for _, row in allowed])["results"] if allowed else []
        )
        if any(each["reason"] == CHANGED for each in results):
            raise ForgettingConflict(self._name)
        became = {
            each["key"]: {
                **{name: each[name] for name in ("key", "outcome", "owner")},
                **{"hash": text_hash(row["content"]), "fact": row["kind"] == "Fact"},
            }
            for each, (_, row) in zip(results, allowed, strict=True)
        }
        return [
            {
                **result,
                "made": {name: value for name, value in result["made"].items() if name != "memories"},
                "remembered": [
                    became[key]
                    for row in result["made"]["memories"]
                    if (key := f"{row['scope']}/{row['id']}") in became and result["key"] in same
                ],
            }
            for result in sent
        ]
