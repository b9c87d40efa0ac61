"""Verbs of the mirror: a folder of files that says what the memories of a scope say (seed 003; docs/reference/mirror.md)."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from jochi import mirror
from jochi.client.actions import ActionVerbs, guidelines_page
from jochi.client.use import UseVerbs
from jochi.database.questions import FileQuestion
from jochi.mirror import Difference, Pages, WriteResult
from jochi.text.imports import escape_json_imports
from jochi.write.mirror_graph import MirrorGraph


class MirrorVerbs(UseVerbs, ActionVerbs):
    def write_mirror(
        self,
        folder: Path,
        scope: str = "default",
        *,
        include_sensitive: bool = False,
        whole: bool = False,
        strike_many: bool = False,
        now: datetime | None = None,
    ) -> WriteResult:
        """Takes in what people changed in ``folder``, and makes its files what the graph says of ``scope``.

        Only what changed since the last write is looked at, unless ``whole``. What can't be brought up to date is in
        `WriteResult.left`, with the reason. `Refused` where the folder holds another scope; `JochiError` where it can't be read or
        written.
        """
        source = self._mirrored(scope, include_sensitive, now)
        question = FileQuestion(
            self.database, "mirror", folder, scope, include_sensitive=include_sensitive, now=source.now
        )
        done = mirror.write_mirror(folder, source, whole=whole, strike_many=strike_many, pages=self._pages(scope))
        if done.left:
            question.ask(len(done.left))
        else:
            question.answer()
        return done

    def check_mirror(
        self, folder: Path, scope: str = "default", *, include_sensitive: bool = False, now: datetime | None = None
    ) -> Difference:
        """What differs between ``folder`` and the graph: missing, edited, stale and foreign files. Writes nothing."""
        return mirror.check_mirror(folder, self._mirrored(scope, include_sensitive, now), pages=self._pages(scope))

    def _pages(self, scope: str) -> Pages:
        """What the engine's jobs say of the scope."""
        indexes = self.topics(scope=scope)
        guidelines = [each for each in self.guidelines(scope=scope) if each.scope == scope]
        topics = [
            {
                "scope": each.scope,
                "read": each.read,
                "cut": each.cut,
                "topics": [{"topic": one.topic, "memories": one.n, "newest": list(one.newest)} for one in each.topics],
            }
            for each in indexes
        ]
        return {
            "state/topics.json": escape_json_imports(json.dumps(topics[0], ensure_ascii=False, indent=2)) + "\n"
            if topics
            else None,
            "state/compression-guidelines.md": guidelines_page(guidelines) if guidelines else None,
        }

    def _mirrored(self, scope: str, include_sensitive: bool, now: datetime | None) -> MirrorGraph:
        return MirrorGraph.of(
            self.engine,
            self.policy.policy,
            scope,
            include_sensitive=include_sensitive,
            max_tokens=None,
            now=self._now(now, "mirror"),
        )
