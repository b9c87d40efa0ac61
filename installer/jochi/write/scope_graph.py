"""The graph as a file sees it: lines that a person added, changed or struck (docs/reference/memory-file.md)."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar

from jochi.context import Manifest
from jochi.database.engine import Engine
from jochi.errors import JochiError, Refused
from jochi.policy import Policy
from jochi.text.content import content_hash
from jochi.use import context
from jochi.write import remembering
from jochi.write.remembering.screening import CHANGED, STAMP, RowScreen

DONE = "done"
GONE = "is gone"
FOREIGN = "is of another scope"
WORDS = {
    "gone": GONE,
    "changed": "says something else by now",
    "slot": "is a fact in a slot, where its value is what counts",
    "pinned": "is pinned",
    "keep_forever": "is to be kept for ever",
    "locked": "is locked by an agent",
    "no_task": "is no task",
    "own_expiry": "keeps its expiry under a name of its own",
}
_PLAIN = "Note"
"""What a person writes into a section that says nothing about its memories."""

G = TypeVar("G", bound="ScopeGraph")


@dataclass(frozen=True)
class ScopeGraph:
    """One scope, for one file: `jochi.context.Store`. Edits of one object are one run, which can be undone."""

    engine: Engine
    policy: Policy
    scope: str
    include_sensitive: bool
    max_tokens: int | None
    now: datetime
    run: str

    @classmethod
    def of(
        cls: type[G],
        engine: Engine,
        policy: Policy,
        scope: str,
        *,
        include_sensitive: bool,
        max_tokens: int | None,
        now: datetime,
    ) -> G:
        """For one writing of one file."""
        context.check_scope(scope)
        return cls(engine, policy, scope, include_sensitive, max_tokens, now, f"edit/{uuid.uuid4()}")

    def look(self) -> Manifest:
        """Chosen now; nothing is kept of it, nor of the tokens that were asked for."""
        return self._choose(write=False)

    def manifest(self) -> Manifest:
        """Chosen and kept now."""
        return self._choose(write=True)

    def remember(self, section: str, text: str, behind: int = 0) -> str:
        """As a memory that belongs into the section; one of whatever kind that says it already is reinforced.
        `SomeRefused` where it can't be one. It is so many milliseconds older as it stands ``behind`` others, so that
        what is worth the same stays in their order.

        Its id follows from what it says, so that a line that is read twice is one memory.
        """
        for same in self._same(content_hash(text))[:1]:
            scope, _, id = same["key"].partition("/")
            done = self._remember({"scope": scope, "id": id, "kind": same["kind"], "content": text}, behind)
            if done.results[0].reason != "id_taken":  # else it was changed meanwhile
                return self._key_of(done)
        return self.remember_as(*self._kind(section), text, behind=behind)

    def remember_as(
        self,
        kind: str,
        properties: Mapping[str, Any],
        text: str,
        relationships: Sequence[Mapping[str, str]] = (),
        behind: int = 0,
    ) -> str:
        """The same, of this kind and with these properties and relationships."""
        # What stands in a file with SENSITIVE memories may be said of one of them.
        tier = {"access_tier": "SENSITIVE"} if self.include_sensitive else {}
        row = {
            "scope": self.scope,
            "content": text,
            "kind": kind,
            "properties": {"confidence": 1.0, **properties, **tier},
            "relationships": list(relationships),
        }
        named = row | {"id": "line-" + hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()[:16]}
        done = self._remember(named, behind)
        if done.results[0].reason == "id_taken":  # that memory was changed since
            done = self._remember(row, behind)
        return self._key_of(done)

    def _key_of(self, done: remembering.RememberResult) -> str:
        if done.refused:
            raise remembering.SomeRefused(done)
        result = done.results[0]
        key = result.owner or result.key
        assert key is not None
        self._edit("keep" if result.outcome == "reinforced" else "add", key)  # what is there may have been struck
        return key

    def change(self, key: str, text: str, expected_content_hash: str | None) -> str:
        """`done`, or what goes on after the key in a sentence. `Refused` where the text says what was forgotten."""
        screen = RowScreen(self.engine)
        row = {"scope": self.scope, "id": key.partition("/")[2], "content": text}
        for _ in range(remembering.TRIES):
            compared, refused = screen.pass_on([(0, row)])
            if refused:
                raise Refused(str(refused[0].detail), where=key)
            outcome = self._edit("change", key, text, expected_content_hash, compared[0][1].get(STAMP))
            if outcome != CHANGED:
                return outcome
            screen.refresh()
        raise JochiError(
            "more was forgotten each time that the line had been compared",
            where=key,
            fix="write the file again when nobody forgets anything",
        )

    def strike(self, key: str, expected_content_hash: str | None) -> str:
        """It expires now; what is gone already is done."""
        outcome = self._edit("strike", key, was=expected_content_hash)
        return DONE if outcome == GONE else outcome

    def copies(self, key: str, content_hash: str) -> dict[str, str | None]:
        """Other memories that say this, and that a file can show or that this task stands for, each with its content hash."""
        return {
            each["key"]: each["hash"] for each in self._same(content_hash) if each["is_live"] and each["key"] != key
        }

    def _same(self, content_hash: str) -> list[dict[str, Any]]:
        given = {"now": self.now, "scope": self.scope, "hash": content_hash, "open": self.include_sensitive}
        return list(self.engine.call("context/same", given, write=False)["same"])

    def complete(self, key: str, expected_content_hash: str | None) -> str:
        """Its status says so from now on, under the name that the policy maps."""
        return self._edit("complete", key, was=expected_content_hash)

    def _choose(self, *, write: bool) -> Manifest:
        return context.make(
            self.engine,
            self.scope,
            self.now,
            include_sensitive=self.include_sensitive,
            max_tokens=self.max_tokens,
            write=write,
        )

    def _kind(self, section: str) -> tuple[str, dict[str, str]]:
        """By the first row of its section that says what its memories are like."""
        for each in self.policy.context.sections:
            if each.name == section:
                for row in each.of:
                    if row.when:
                        return row.kind, {row.when.property: row.when.one_of[0]}
        return _PLAIN, {}

    def _remember(self, row: dict[str, Any], behind: int) -> remembering.RememberResult:
        at = self.now - timedelta(milliseconds=behind)
        return remembering.remember(self.engine, [row], now=at, agent="file")

    def _edit(
        self,
        way: Literal["add", "change", "strike", "complete", "keep"],
        key: str,
        text: str | None = None,
        was: str | None = None,
        forgotten_as_of: int | None = None,
    ) -> str:
        if key.partition("/")[0] != self.scope:  # whoever may write beside the file can name any key there
            return FOREIGN
        edit = {
            "key": key,
            "way": way,
            "text": text,
            "was": was,
            "content_hash": text and content_hash(text),
            "forgotten_as_of": forgotten_as_of,
        }
        row = self.engine.call("context/edit", {"now": self.now, "run": self.run, "edits": [edit]})
        return WORDS.get(outcome := str(row["results"][0]["outcome"]), outcome)
