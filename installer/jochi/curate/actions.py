"""What agents may do with memories (seed 003, Memory Action Policy Contracts; docs/reference/actions.md).

`parse_action` and `parse_eligibility` are strict: they refuse what is invalid and say where. `judge` and `read` are fail-open: they
never raise, and what is invalid falls back to what does least. `procedures/actions/judge` says the same in the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from jochi.errors import UsageError
from jochi.policy.actions import Action, Actions, LifecycleState, Need, Origin
from jochi.policy.parts import Share

T = TypeVar("T")

ACTIONS: tuple[Action, ...] = get_args(Action)
"""The taxonomy."""


class Eligibility(BaseModel):
    """What an action with a memory is judged by: all of it, and nothing else. In JSON `lifecycle_state` is `lifecycleState`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    confidence: Share
    """0 to 1."""
    lifecycle_state: Annotated[LifecycleState, Field(alias="lifecycleState")]
    """What the memory is in its life."""
    importance: Share
    """0 to 1."""
    source: Origin
    """Where it comes from."""

    def as_json(self) -> dict[str, Any]:
        """As JSON and the database have it."""
        return self.model_dump(mode="json", by_alias=True)


FALLBACK_ACTION: Action = "discard"
"""What an action that is none falls back to."""
FALLBACK_ELIGIBILITY = Eligibility.model_validate(
    {"confidence": 0, "lifecycleState": "candidate", "importance": 0, "source": "unknown"}
)
"""What an eligibility that is none falls back to."""

_ACTION: TypeAdapter[Action] = TypeAdapter(Action)
_ELIGIBILITY = TypeAdapter(Eligibility)


@dataclass(frozen=True)
class Fault:
    """Something invalid. ``where``: `action`, `eligibility` (no object), or `eligibility.<key>`."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True)
class Verdict:
    """Whether an action is allowed, and what decided.

    ``action`` and ``eligibility`` are what was judged; ``faults`` says what of it fell back. ``rule`` is the action where it is
    allowed, else `action.confidence`, `.importance`, `.lifecycleState` or `.source`: the first that isn't as ``required``, {least,
    most} or a list of words.
    """

    action: Action
    eligibility: Eligibility
    allowed: bool
    rule: str
    required: dict[str, float] | list[str] | None = None
    faults: tuple[Fault, ...] = ()


def parse_action(value: object) -> Action:
    """One of the seven; `UsageError` for anything else."""
    return _parsed(_ACTION, value, "action")


def parse_eligibility(value: object) -> Eligibility:
    """An eligibility from an object as JSON has it; `UsageError` that names each fault for anything else."""
    return _parsed(_ELIGIBILITY, value, "eligibility")


def read(action: object, eligibility: object) -> tuple[Action, Eligibility, tuple[Fault, ...]]:
    """Both as they are judged, whatever they were, and what of them fell back."""
    read_action, no_action = _read(_ACTION, action, "action", FALLBACK_ACTION)
    read_eligibility, none = _read(_ELIGIBILITY, eligibility, "eligibility", FALLBACK_ELIGIBILITY)
    return read_action, read_eligibility, (*no_action, *none)


def judge(policy: Actions, action: object, eligibility: object) -> Verdict:
    """Whether ``policy`` allows it. Never raises."""
    named, said, faults = read(action, eligibility)
    need: Need = getattr(policy.needs, named)
    parts: Mapping[str, tuple[bool, dict[str, float] | list[str]]] = {
        "confidence": _within(need.confidence, said.confidence),
        "importance": _within(need.importance, said.importance),
        "lifecycleState": (said.lifecycle_state in need.states, list(need.states)),
        "source": (said.source in need.sources, list(need.sources)),
    }
    for name, (met, required) in parts.items():
        if not met:
            return Verdict(named, said, False, f"{named}.{name}", required, faults)
    return Verdict(named, said, True, named, None, faults)


def _within(span: tuple[float, float], value: float) -> tuple[bool, dict[str, float] | list[str]]:
    return span[0] <= value <= span[1], {"least": float(span[0]), "most": float(span[1])}


def _read(adapter: TypeAdapter[T], value: object, name: str, fallback: T) -> tuple[T, tuple[Fault, ...]]:
    try:
        return adapter.validate_python(value), ()
    except ValidationError as error:
        return fallback, _faults(error, name)


def _faults(error: ValidationError, name: str) -> tuple[Fault, ...]:
    found: dict[str, Fault] = {}
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join([name, *map(str, each["loc"])])
        what = "there is no such key" if each["type"] == "extra_forbidden" else each["msg"]
        found.setdefault(where, Fault(where, what))
    return tuple(found.values())


def _parsed(adapter: TypeAdapter[T], value: object, name: str) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first, *more = _faults(error, name)
        what = "; ".join([first.what, *map(str, more)])
        raise UsageError(what, where=first.where, fix="docs/reference/actions.md says what it may be") from None
