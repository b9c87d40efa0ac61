"""`[compression]`: which memories get a shorter content, and what that may cost (docs/reference/compression.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share, repeated

_Money = Annotated[float, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]
_Tokens = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Compression(Part):
    """`[compression]`.

    ``compressing``: whether any memory is. ``kinds``: labels whose memories are; the policy need not have all of them.
    ``above``: only memories of more tokens. ``share``: a summary has at most this share of the original's tokens.
    ``cycle``: `per_cycle`, `cycle_tokens` and `cycle_money` hold for such a span, `per_day` and the like for a UTC day.
    ``tries``: so many summaries of one memory are made before it is put aside. Tokens are those sent and received;
    ``price_in`` and ``price_out`` are those of a million, in whatever currency the caps of money are in (absent: unknown).
    """

    compressing: bool
    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    above: Annotated[int, Field(ge=1, le=1_000_000)]
    share: Annotated[Share, Field(gt=0, lt=1)]
    cycle: PositiveDuration
    per_cycle: Count
    per_day: Count
    tries: Annotated[int, Field(ge=1, le=100)]
    cycle_tokens: _Tokens
    day_tokens: _Tokens
    price_in: _Money | None = None
    price_out: _Money | None = None
    cycle_money: _Money | None = None
    day_money: _Money | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Compression:
        if twice := repeated(list(self.kinds)):
            raise ValueError(f"a kind is there twice: {', '.join(twice)}")
        if (self.price_in is None) != (self.price_out is None):
            raise ValueError("price_in and price_out go together")
        if self.price_in is None and (self.cycle_money is not None or self.day_money is not None):
            raise ValueError("a cap of money needs price_in and price_out")
        return self
