"""What all tables of the policy are made of: names, durations, shares, and strict frozen tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from jochi.policy.durations import Duration
from jochi.policy.mapping import identifier


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise ValueError("must be longer than zero")
    return value


Name = Annotated[str, AfterValidator(identifier)]
PositiveDuration = Annotated[Duration, AfterValidator(_positive)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


class Part(BaseModel):
    """A table of the policy: frozen, nothing unknown in it, no value turned into another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


def repeated(names: list[str]) -> list[str]:
    """Those that are there more than once, sorted."""
    return sorted({name for name in names if names.count(name) > 1})
