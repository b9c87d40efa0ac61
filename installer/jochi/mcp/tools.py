"""What the tools of the server do: one call of the client each, in one scope. Forgetting needs two calls."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field

from jochi.client import Jochi
from jochi.curate.explain import Explanation
from jochi.errors import Refused, UsageError
from jochi.forgetting import Candidate, ForgettingPlan, Request, Target, key_file
from jochi.mcp.arguments import Memories, Number, Object, Objects, Text, Texts, parse_moment
from jochi.use.accesses import TouchResult
from jochi.use.explore import ExploreResult, Place
from jochi.use.recall import Hit, SpreadMatch
from jochi.write.observing import ObserveResult, Turn
from jochi.write.remembering import Memory, RememberResult

_KEPT = 50
"""So many confirmations wait at most; the oldest of more are no good any longer."""


class NewLink(BaseModel):
    """A relationship from the new memory to another one of the same scope."""

    model_config = ConfigDict(extra="forbid")

    type: Text = Field(description="Letters, digits and _, such as PART_OF")
    to: Text = Field(description="The other memory's id")
    direction: Literal["out", "in"] = Field("out", description="`in`: from the other one to this one")


class NewMemory(BaseModel):
    """What is to be remembered."""

    model_config = ConfigDict(extra="forbid")

    content: Text = Field(description="What it says, as one or more whole sentences")
    kind: Text = Field("MemoryEntry", description="A kind of the policy, such as Belief, Fact, Task, Note")
    id: Text | None = Field(None, description="An id of your own; the same again is known and not doubled")
    properties: Annotated[dict[str, Any], Object] = Field(
        default_factory=dict,
        description="Such as confidence 0-1, importance 0-1, expires_at (ISO 8601); of a Fact subject, attribute, value",
    )
    relationships: Annotated[list[NewLink], Objects] = Field(default_factory=list)


def _text(example: str, more: str = "") -> Any:
    return Field(description=more or None, examples=[example])


_ABOUT = "ISO 8601; a time without a zone is in the policy's"
_Since = Annotated[Text | None, _text("2026-11-01", f"Made from this moment on: {_ABOUT}")]
_Until = Annotated[Text | None, _text("2026-11-30", f"Made before it; a date alone is in it as a whole. {_ABOUT}")]
_At = Annotated[Text | None, _text("2026-11-01T09:30:00+01:00", f"When it was said. {_ABOUT}")]
_Keys = Annotated[list[Text], Texts, Field(examples=[["ada/m1", "ada/m2"]])]
_Words = Annotated[Text, _text("where Ann lives")]
_Key = Annotated[Text, _text("ada/m1", "As recall returns it")]
_K = Annotated[int, Field(examples=[10])]
_Flag = Annotated[bool, Field(examples=[False])]


@dataclass(frozen=True)
class Recall:
    """The best first. ``reached``: what edges lead to from the hits. ``degraded``: what was done without. ``hint``: why there is
    nothing."""

    hits: tuple[Hit, ...]
    reached: tuple[SpreadMatch, ...]
    cut_off: bool
    degraded: str | None
    hint: str | None
    since: datetime | None = None
    until: datetime | None = None
    """How these were taken: created from ``since`` on, and before ``until``."""


@dataclass(frozen=True)
class Explored(ExploreResult):
    """``since`` and ``until``: how these were taken."""

    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Removal:
    """A memory that would go, as `Target` has it: ``outcome`` forget, cut (``left`` stays), ask (it says more, and
    nothing is done: give its key to take it as a whole) or mark (it is made anew)."""

    key: str
    kind: str | None
    outcome: str
    why: str
    content: str | None
    left: dict[str, str | None]
    reason: str | None

    @classmethod
    def of(cls, target: Target) -> Removal:
        """In words."""
        left = {name: None if value is None else str(value) for name, value in target.left.items()}
        return cls(target.key, target.kind, target.outcome, target.why, target.content, left, target.reason)


@dataclass(frozen=True)
class Proposal:
    """What one ``confirmation`` would take. Of a description: the ``statement`` that is meant where the memory makes others too,
    its ``score`` (0 to 1) and ``margin`` to the next, and in what it ``differs``; ``parts``: what may be
    chosen of it, by `keys` and `statement`; ``sure``: it is meant without doubt. ``near``:
    keys of what has the words only as part of others: they stay. ``records``: how many records and copies of the engine go with
    it. ``spellings``: what is looked for, the words asked for first; the others a memory says to be the same."""

    confirmation: str
    key: str | None
    targets: tuple[Removal, ...]
    near: tuple[str, ...]
    records: int
    spellings: tuple[str, ...] = ()
    statement: str | None = None
    score: float | None = None
    margin: float | None = None
    differs: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    sure: bool = False


@dataclass(frozen=True)
class Interpretation:
    """What may be meant: a memory by its ``key``, or one ``statement`` or one of the ``parts`` of it; ``score`` 0 to 1, ``margin``
    to the next."""

    key: str
    content: str | None
    statement: str | None
    score: float
    margin: float
    differs: tuple[str, ...]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, one: Candidate) -> Interpretation:
        """Without what only the engine reads."""
        return cls(one.key, one.content, one.statement, one.score, one.margin, one.differs, one.parts)


@dataclass(frozen=True)
class SupersedeResult:
    """``replaced``: what each memory says now; ``superseded``: facts that are history, with what holds instead. ``stays``: memories
    with the old words that are as they were, and why. ``candidates``: nothing was done; show them to the person, and call again
    with the key of the one that is meant. ``already``: these say the new. ``run``: what `jochi undo` takes back."""

    replaced: dict[str, str]
    superseded: dict[str, str | None]
    stays: dict[str, str]
    candidates: tuple[Interpretation, ...]
    already: tuple[str, ...]
    run: str | None


@dataclass(frozen=True)
class ForgetResult:
    """``counts`` of what went; ``held``: what a rail keeps, with the rails; the number and hash of the receipt. ``key_made``: this
    file holds a new key of forgetting, which every machine that remembers needs."""

    counts: dict[str, int]
    held: dict[str, tuple[str, ...]]
    receipt: int
    hash: str
    key_made: str | None


@dataclass(frozen=True)
class Forgetting:
    """``candidates``: nothing was done yet; ``reason``: why it isn't sure which is meant. ``done``: what was, one for each
    confirmation."""

    candidates: tuple[Proposal, ...] = ()
    done: tuple[ForgetResult, ...] = ()
    reason: str | None = None


@dataclass
class Tools:
    """The tools on one scope of a database. ``embed`` makes a text a vector of the policy's model."""

    client: Jochi
    scope: str
    embed: Callable[[str], Sequence[float]] | None = None
    agent: str | None = None
    _waiting: dict[str, ForgettingPlan] = field(default_factory=dict)

    @property
    def zone(self) -> ZoneInfo:
        """That of times which name none: the policy's."""
        return ZoneInfo(self.client.policy.policy.policy.time_zone)

    def remember(
        self, memories: Annotated[list[NewMemory], Memories, Field(examples=[[{"content": "Ann prefers tea."}]])]
    ) -> RememberResult:
        """Remember things for later. What is known already is reinforced, not doubled. Each result says what became of one;
        one that is refused says why and takes no other with it."""
        rows = [Memory.model_validate({**each.model_dump(), "scope": self.scope}) for each in memories]
        return self.client.remember(rows, agent=self.agent)

    def observe(
        self,
        text: Annotated[Text, _text("I moved to Lyon.")],
        session: Annotated[Text, _text("default")] = "default",
        speaker: Annotated[Text | None, _text("Ann")] = None,
        at: _At = None,
        id: Annotated[Text | None, _text("turn-17")] = None,
    ) -> ObserveResult:
        """Hand over one turn of the conversation, as it was said: what is worth keeping is learned from it later, by itself. The
        same turn again (`id`, else `speaker`, `at` and `text`) is known."""
        moment = parse_moment(at, "at", self.zone)
        return self.client.observe(Turn(text, at=moment, id=id, session=session, scope=self.scope, speaker=speaker))

    def recall(
        self,
        text: _Words,
        k: _K = 10,
        kinds: Annotated[list[Text] | None, Texts, Field(examples=[["Fact", "Belief"]])] = None,
        include_archived: _Flag = False,
        include_superseded: _Flag = False,
        since: _Since = None,
        until: _Until = None,
        hops: Annotated[int, Field(examples=[1])] = 0,
        xray: _Flag = False,
    ) -> Recall:
        """Find statements that fit a text. A hit's `later` is what was said since and may replace it: go by the newest. Raw turns,
        sources, quotations, boxes and traces come only where `kinds` names them. `hops` 1 to 3 follows relationships from the
        hits on; `xray` says what each score is made of. Tell `touch` which ones you used."""
        first, end = self._span(since, until)
        found = self.client.recall(
            text,
            vector=self._vector(text),
            scope=self.scope,
            k=k,
            kinds=kinds,
            include_archived=include_archived,
            include_superseded=include_superseded,
            since=first,
            until=end,
            hops=hops,
            xray=xray,
        )
        return Recall(found.hits, found.reached, found.cut_off, found.degraded, found.hint, first, end)

    def explore(
        self,
        text: _Words,
        granularity: Annotated[Literal[1, 2, 3, "auto"], Number, Field(examples=["auto"])] = "auto",
        k: _K = 10,
        include_archived: _Flag = False,
        since: _Since = None,
        until: _Until = None,
        xray: _Flag = False,
    ) -> Explored:
        """Find what happened: 1 sources, people and things; 2 storylines; 3 themes; each with what lies beneath it. `drill_down`
        leads further down. Tell `touch` which ones you used."""
        first, end = self._span(since, until)
        found = self.client.explore(
            text,
            vector=self._vector(text),
            scope=self.scope,
            granularity=granularity,
            k=k,
            include_archived=include_archived,
            since=first,
            until=end,
            xray=xray,
        )
        return Explored(**vars(found), since=first, until=end)

    def drill_down(self, keys: _Keys) -> list[Place]:
        """What lies beneath memories (by their keys): storylines of a theme, sources of a storyline, the text of a source."""
        return self.client.drill_down(self._keys(keys))

    def touch(self, keys: _Keys) -> TouchResult:
        """Say which memories (by their keys) were used for an answer: used ones stay, others fade."""
        return self.client.touch(self._keys(keys), agent=self.agent)

    def explain(self, key: _Key) -> Explanation:
        """Why a memory is still here, or why it is gone: every rule and rail, what is due, and its records."""
        return self.client.explain(self._keys([key])[0])

    def forget(
        self,
        about: Annotated[Text | None, _text("everything about Ann Lee")] = None,
        says: Annotated[Text | None, _text("5 Elm St")] = None,
        keys: Annotated[list[Text] | None, Texts, Field(examples=[["ada/m1", "ada/m2"]])] = None,
        statement: Annotated[Text | None, _text("Ann lives in Lyon")] = None,
        confirm: Annotated[list[Text] | None, Texts, Field(examples=[["0f3c9a7de2b84511"]])] = None,
    ) -> Forgetting:
        """Forget for good; it can't be undone. First give one of `about` (the person's request: a description, or all of what it
        names, such as "everything about Ann Lee"), `says` (exact words) or `keys`: nothing is done, and each candidate has a
        confirmation and names all that would go with it; of a description also score and margin. Show them to the person who
        asked. Where a person means only a part of one, give its key and that part as `statement`. Then call again with
        `confirm`: the confirmations of those that the person wants gone, and nothing else."""
        about, says = (None if not each or each.isspace() else each for each in (about, says))
        keys, confirm = keys or None, confirm or None
        if sum(each is not None for each in (about, says, keys, confirm)) != 1:
            fix = 'pass for example {"about": "where Ann lives"}, then {"confirm": [a confirmation of a candidate]}'
            raise UsageError("give one of about, says, keys and confirm", where="forget", fix=fix)
        if confirm is not None:
            return Forgetting(done=tuple(self._forgotten(each) for each in self._planned(confirm)))
        if says is not None:
            return Forgetting((self._candidate(Request(scope=self.scope, phrase=says)),))
        if (statement or None) and (keys is None or len(keys) != 1):
            raise UsageError("a statement is one of one memory", where="forget", fix="give its key: keys=[key]")
        if keys is not None:
            named = self._keys(keys)
            if statement:
                return Forgetting(
                    (self._candidate(Request((named[0],), statements=((named[0], statement),)), named[0]),)
                )
            return Forgetting(tuple(self._candidate(Request(keys=(key,)), key) for key in named))
        reading = self.client.read_request(str(about), scope=self.scope, embed=self.embed)
        if reading.request is not None and reading.request.phrase is not None:
            return Forgetting((replace(self._candidate(reading.request), sure=True),))
        if not reading.candidates:
            raise UsageError("no memory is about that", where="forget", fix="use other words, or says, or keys")
        sure = reading.request.keys if reading.request is not None else ()
        proposals = tuple(self._meant(one, sure=one.key in sure) for one in reading.candidates)
        return Forgetting(proposals, reason=reading.reason)

    def supersede(
        self,
        old: _Words,
        new: Annotated[Text, _text("Ann lives in Lyon.")],
        key: Annotated[Text | None, _text("ada/m1")] = None,
        statement: Annotated[Text | None, _text("Ann lives in Lyon")] = None,
    ) -> SupersedeResult:
        """Replace one statement: `old` is what is said until now, in its words or in others ("where Ann lives"), `new` a
        sentence that is said in its place. What else the memories say stays. It acts only on what is meant without doubt; else
        it returns candidates with score and margin: ask the person, and call again with the `key` of the one that is meant,
        and of one that says more with its `statement` or one of its `parts` as `statement`."""
        named = None if key is None else self._keys([key])[0]
        done = self.client.supersede(
            old, new, scope=self.scope, key=named, statement=statement or None, embed=self.embed
        )
        stays = {target.key: str(target.reason) for target in done.asked}
        candidates = tuple(map(Interpretation.of, done.candidates))
        return SupersedeResult(dict(done.replaced), dict(done.superseded), stays, candidates, done.already, done.run)

    # ---------------------------------------------------------------------------------------------------------------

    def _vector(self, text: str) -> Sequence[float] | None:
        return None if self.embed is None else self.embed(text)

    def _span(self, since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
        zone = self.zone
        first, end = parse_moment(since, "since", zone), parse_moment(until, "until", zone, whole_day=True)
        if first is not None and end is not None and first >= end:
            raise UsageError(
                f"nothing lies between since ({first.isoformat()}) and until ({end.isoformat()})",
                fix="pass a later until, or leave one of them out",
            )
        return first, end

    def _keys(self, keys: list[str]) -> list[str]:
        named = [key if "/" in key else f"{self.scope}/{key}" for key in keys]
        for key in named:
            if not key.startswith(f"{self.scope}/"):
                raise Refused(
                    f"this server is for the scope {self.scope!r} only", where=key, fix="give keys that recall returned"
                )
        return named

    def _candidate(self, request: Request, key: str | None = None) -> Proposal:
        plan = self.client.plan_forgetting(request)
        confirmation = secrets.token_hex(8)
        self._waiting[confirmation] = plan
        for old in list(self._waiting)[:-_KEPT]:
            self._waiting.pop(old, None)
        spellings = tuple(each.text for each in plan.spellings)
        return Proposal(confirmation, key, tuple(map(Removal.of, plan.targets)), plan.near, plan.records, spellings)

    def _meant(self, one: Candidate, *, sure: bool) -> Proposal:
        stated = () if one.statement is None else ((one.key, one.statement),)
        return replace(
            self._candidate(Request(keys=(one.key,), statements=stated), one.key),
            statement=one.statement,
            score=one.score,
            margin=one.margin,
            differs=one.differs,
            parts=one.parts,
            sure=sure,
        )

    def _planned(self, confirmations: list[str]) -> list[ForgettingPlan]:
        """What they were given for, if all of it is still the same; each is good once."""
        plans = [self._waiting.pop(each, None) for each in dict.fromkeys(confirmations)]
        known = [plan for plan in plans if plan is not None]
        if not known or len(known) < len(plans) or any(_changed(self.client, plan) for plan in known):
            raise Refused(
                "a confirmation is unknown or was used, or something else would go by now; nothing was forgotten",
                where="forget",
                fix="call forget without confirm, show the candidates, and confirm these",
            )
        return known

    def _forgotten(self, plan: ForgettingPlan) -> ForgetResult:
        done = self.client.forget(plan.request)
        made = str(key_file()) if done.key_made else None
        assert done.receipt is not None  # what was planned names memories or a phrase
        return ForgetResult(dict(done.counts), dict(done.held), done.receipt.number, done.receipt.hash, made)


def _changed(client: Jochi, plan: ForgettingPlan) -> bool:
    now = client.plan_forgetting(plan.request)
    return (now.targets, now.near, now.records, now.spellings) != (
        plan.targets,
        plan.near,
        plan.records,
        plan.spellings,
    )
