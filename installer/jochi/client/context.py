"""Verbs of what an agent starts with: the manifest of a scope, and the file made from it (seed 001; docs/reference/context.md)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from jochi import context as files
from jochi.client.base import Base
from jochi.context import Manifest
from jochi.database.questions import FileQuestion
from jochi.database.statements import statement
from jochi.errors import Refused
from jochi.files import read_text, real_file
from jochi.graph.driver_values import read_as
from jochi.text.tokens import best_counter
from jochi.use import context
from jochi.use.context import Difference, ManifestSummary, Metrics
from jochi.write.scope_graph import ScopeGraph


class ContextVerbs(Base):
    def context(
        self,
        scope: str = "default",
        *,
        include_sensitive: bool = False,
        max_tokens: int | None = None,
        at: datetime | None = None,
    ) -> Manifest:
        """What an agent of ``scope`` starts with at ``at`` (default: now), chosen within ``max_tokens``.

        Default of ``max_tokens``: the manifest's, else the policy's. Writes nothing. `jochi.context.as_prompt` and `as_json` make
        texts of it.
        """
        when = self._at(at, "context")
        return context.make(
            self.engine, scope, when, include_sensitive=include_sensitive, max_tokens=max_tokens, write=False
        )

    def write_context(
        self,
        path: Path,
        scope: str = "default",
        *,
        include_sensitive: bool = False,
        max_tokens: int | None = None,
        strike_many: bool = False,
        another_file: bool = False,
        now: datetime | None = None,
    ) -> files.WriteResult:
        """Takes in what a person changed in the file ``path``, and makes it what the manifest of ``scope`` says.

        It is never over its tokens, and it isn't touched where nothing changed. Its personal part stays as it is and never reaches
        the graph. `Refused` where its end or many of its lines are gone, unless ``strike_many``, and where the scope feeds other
        files and this one isn't Jochi's yet, unless ``another_file``. `JochiError` where the file can't be read or written:
        then it is as it was. docs/reference/memory-file.md.
        """
        store = self._store(scope, include_sensitive, max_tokens, now)
        self._require_own_scope(path, scope, another_file)
        question = FileQuestion(
            self.database, "context", path, scope, include_sensitive=include_sensitive, now=store.now
        )
        with question.answered_or_asked():
            done = files.write_context(
                path,
                store.look(),
                store,
                best_counter().count,
                store.now,
                include_sensitive=include_sensitive,
                strike_many=strike_many,
            )
        self._note_file(path, scope, include_sensitive, done.tokens)
        return done

    def migrate_context(
        self,
        path: Path,
        scope: str = "default",
        *,
        include_sensitive: bool = False,
        max_tokens: int | None = None,
        dry_run: bool = False,
        shrink: bool = False,
        another_file: bool = False,
        now: datetime | None = None,
    ) -> files.Report:
        """Takes a MEMORY.md over that people or agents wrote: what it says becomes memories of ``scope``.

        Its personal sections stay in the file, and the old file stays as `<file>.pre-migration`. A second run changes nothing.
        `Refused` where something of it has no room in the new file, unless ``shrink``, and where the scope feeds other files,
        unless ``another_file``: the file is then as it was.
        """
        store = self._store(scope, include_sensitive, max_tokens, now)
        self._require_own_scope(path, scope, another_file)
        done = files.migrate(
            path, store, best_counter().count, dry_run=dry_run, include_sensitive=include_sensitive, shrink=shrink
        )
        if not dry_run and not done.already:
            self._note_file(path, scope, include_sensitive, None)
        return done

    def _require_own_scope(self, path: Path, scope: str, another_file: bool) -> None:
        """What stands in one file comes into no other without a yes: what is in the scope would stand in both."""
        if another_file or files.is_ours(read_text(real_file(path)) or ""):
            return
        fed = [file for each in self.contexts() if each.scope == scope for file in each.files]
        if fed and str(path.absolute()) not in fed:
            raise Refused(
                f"the memories of scope {scope} stand in {fed[-1]} already, and would stand in this file as well",
                where=str(path),
                fix="give this file a scope of its own (--scope NAME), or use --another-file if both should say the same",
            )

    def _note_file(self, path: Path, scope: str, include_sensitive: bool, tokens: int | None) -> None:
        given = {"id": context.manifest_id(scope, include_sensitive), "file": str(path.absolute()), "tokens": tokens}
        self.database.run(statement("context/written"), given)

    def context_diff(
        self,
        scope: str = "default",
        before: int | None = None,
        after: int | None = None,
        *,
        include_sensitive: bool = False,
    ) -> Difference:
        """What came into the manifest and what left it, and why; by default between the last two versions."""
        return context.difference(self.engine, scope, include_sensitive=include_sensitive, before=before, after=after)

    def contexts(self) -> list[ManifestSummary]:
        """The manifests that the job keeps up to date."""
        return context.summaries(self.database.run(statement("context/list"), write=False)[0]["manifests"])

    def context_metrics(self) -> Metrics:
        """Utilisation of the manifests, how values are spread, graph against files, and lazy loading of tasks. Writes nothing."""
        return read_as(Metrics, self._read("report/context"))

    def drop_context(self, scope: str, *, include_sensitive: bool = False) -> bool:
        """Takes the manifest of ``scope`` away; memories and files stay. False: there was none."""
        context.check_scope(scope)
        parameters = {"id": context.manifest_id(scope, include_sensitive), "scope": scope}
        return bool(self.database.run(statement("context/drop"), parameters)[0]["dropped"])

    def _store(self, scope: str, include_sensitive: bool, max_tokens: int | None, now: datetime | None) -> ScopeGraph:
        return ScopeGraph.of(
            self.engine,
            self.policy.policy,
            scope,
            include_sensitive=include_sensitive,
            max_tokens=max_tokens,
            now=self._now(now, "write_context"),
        )
