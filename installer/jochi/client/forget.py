"""Verbs that forget for good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

from jochi import forgetting
from jochi.client.base import Base, on_engine
from jochi.errors import UsageError
from jochi.forgetting.candidates import rank_candidates
from jochi.forgetting.export_requests import requests_of_export
from jochi.forgetting.exports import collect_export, import_export, key_of
from jochi.forgetting.retrieval import Embed, cosine_to, memories_about
from jochi.use.recall import recall
from jochi.users import operating_system_user


class ForgetVerbs(Base):
    def candidates(
        self, about: str, *, scope: str = "default", k: int = 5, embed: Embed | None = None
    ) -> list[forgetting.Candidate]:
        """What a description may mean in ``scope``: at most ``k`` memories, or statements of compound ones, the best first, each
        with its score, its margin to the others and in what it differs. ``embed`` makes a text a vector of the policy's model.

        `jochi.forgetting.unambiguous` says which of them are meant without doubt. What to forget: `Request` with the key, and
        `Candidate.statement`. Writes nothing.
        """
        found = memories_about(
            about,
            partial(recall, self.engine),
            self.policy.policy.forgetting,
            scope=scope,
            embed=embed,
            include_superseded=True,
        )
        return rank_candidates(about, found, cosine_of=cosine_to(about, embed) if embed else None)[:k]

    def read_request(
        self, about: str, *, scope: str = "default", k: int = 5, embed: Embed | None = None
    ) -> forgetting.Reading:
        """What a request in a person's words means in ``scope``: everything that says what it names, or a statement that it
        describes, without doubt; else at most ``k`` candidates. Writes nothing. docs/reference/forgetting.md, Requests."""
        return forgetting.read_request(
            self.engine, self.policy.policy, partial(recall, self.engine), about, scope, k, embed
        )

    def plan_forgetting(
        self, request: forgetting.Request | str, *, scope: str | None = None, embed: Embed | None = None
    ) -> forgetting.ForgettingPlan:
        """What `forget` would take now, and what would be left of memories that are only cut. Writes nothing."""
        wanted, reading = self._meant(request, scope, embed)
        if wanted is None:
            assert reading is not None
            return forgetting.ForgettingPlan(
                reading.asked, (), (), new_key=False, candidates=reading.candidates, reason=reading.reason
            )
        return forgetting.plan_forgetting(self.engine, self.policy.policy, wanted)

    def _meant(
        self, request: forgetting.Request | str, scope: str | None, embed: Embed | None
    ) -> tuple[forgetting.Request | None, forgetting.Reading | None]:
        """The request that can be done; None where a person has to say what is meant."""
        if isinstance(request, str):
            request = forgetting.Request(about=request, scope=scope or "default")
        elif scope is not None:
            raise UsageError("the request has its own scope", where="scope", fix="Request(…, scope=…)")
        if request.about is None:
            return request, None
        reading = self.read_request(request.about, scope=str(request.scope), embed=embed)
        if reading.request is None:
            return None, reading
        return replace(reading.request, clauses=request.clauses, unsure=request.unsure), reading

    def forget(
        self,
        request: forgetting.Request | str,
        *,
        scope: str | None = None,
        embed: Embed | None = None,
        verify: bool = False,
        now: datetime | None = None,
        wait: float = forgetting.WAIT,
        on_page: Callable[[int], None] | None = None,
    ) -> forgetting.ForgetResult:
        """Forgets for good: the memories of ``request``, which may be said in words (of ``scope``, by default `default`), with
        all that was made of them and all that the engine keeps of them.

        What is forgotten is sealed by a keyed hash first, so that `remember`, import and workers don't learn it again; the key
        stays on this machine (`jochi.forgetting.key_file`). Of the rails only agent_identity, agent_key, migration,
        system_config and a hold stop it (`ForgetResult.held`). ``verify``: look through the whole store afterwards. ``wait``:
        seconds for transactions that began before, whose writes were compared with less. Where words don't tell without doubt what
        is meant, nothing is done (`ForgetResult.candidates`); ``embed`` makes a text a vector of the policy's model. Can't be
        undone; cut off, it goes on when the same is asked again. docs/reference/forgetting.md.
        """
        when = self._now(now, "forget")
        wanted, reading = self._meant(request, scope, embed)
        if wanted is None:
            assert reading is not None
            return forgetting.ForgetResult(None, {}, {}, candidates=reading.candidates, reason=reading.reason)
        return forgetting.forget(
            self.engine,
            self.policy.policy,
            wanted,
            now=when,
            by=operating_system_user(),
            verify=verify,
            wait=wait,
            on_page=on_page,
        )

    def verify_forgotten(self, request: forgetting.Request) -> list[forgetting.Mention]:
        """Where the whole store says it, word for word. Reads everything; writes nothing."""
        return forgetting.verify(self.engine, self.policy.policy, request)

    allow_again = on_engine(forgetting.lift)

    def export_receipts(self) -> forgetting.Export:
        """Seals and receipts as they are now, for `jochi.forgetting.write_export`: without the key they tell nothing."""
        return collect_export(self.database)

    def import_receipts(self, export: forgetting.Export, *, now: datetime | None = None) -> forgetting.ImportSummary:
        """Brings seals and receipts back that the database hasn't, as after a restore or an install. Idempotent.

        `Refused` where the seals of the file or of the database were made with another key than this machine's.
        """
        when = self._now(now, "import_receipts")
        return import_export(self.database, export, at=when, by=operating_system_user())

    def requests_of_export(self, export: forgetting.Export) -> list[forgetting.Request]:
        """What to `forget` so that nothing is left of what ``export`` has seals of: after a restore, what was forgotten since the
        backup. Empty where nothing is left. Reads every memory; writes nothing."""
        key = key_of(self.database, export)
        return [] if key is None else requests_of_export(self.engine, self.policy.policy, export, key)

    def receipts(self) -> forgetting.Chain:
        """The receipts of what was forgotten, each compared with its hash and the one before."""
        return forgetting.read_chain(self.database)
