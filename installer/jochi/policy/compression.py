"""`[compression]`: which memories get a shorter content, and what that may cost (docs/reference/compression.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share, repeated

_Money = Annotated[float, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]
_Tokens = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Compression(Part):
    """`[compression]`: which long memories of the archive get a shorter content, and what that may cost."""

    compressing: bool
    """`false`: no memory is compressed."""
    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The labels whose memories are compressed. The policy need not have all of them."""
    above: Annotated[int, Field(ge=1, le=1_000_000)]
    """Only memories of more tokens than this are compressed."""
    share: Annotated[Share, Field(gt=0, lt=1)]
    """A summary has at most this share of the tokens of the original."""
    cycle: PositiveDuration
    """The span that `per_cycle`, `cycle_tokens` and `cycle_money` hold for."""
    per_cycle: Count
    """How many memories are compressed within a cycle."""
    per_day: Count
    """How many memories are compressed on a day (UTC)."""
    tries: Annotated[int, Field(ge=1, le=100)]
    """After so many rejected summaries a memory is put aside."""
    cycle_tokens: _Tokens
    """Tokens sent to a model and received from it within a cycle."""
    day_tokens: _Tokens
    """Tokens sent to a model and received from it on a day (UTC)."""
    scope_tokens: _Tokens | None = None
    """Tokens sent and received on a day (UTC) for the memories of one scope."""
    per_minute: Count | None = None
    """How many memories all workers together take within a minute."""
    price_in: _Money | None = None
    """The price of a million tokens that are sent, in the currency of the caps."""
    price_out: _Money | None = None
    """The price of a million tokens that are received."""
    cycle_money: _Money | None = None
    """The cap on the costs of a cycle. It needs both prices."""
    day_money: _Money | None = None
    """The cap on the costs of a day (UTC). It needs both prices."""
    scope_money: _Money | None = None
    """The cap on the costs of one scope on a day (UTC). It needs both prices."""

    @model_validator(mode="after")
    def _fits_together(self) -> Compression:
        if twice := repeated(list(self.kinds)):
            raise ValueError(f"a kind is there twice: {', '.join(twice)}")
        if (self.price_in is None) != (self.price_out is None):
            raise ValueError("price_in and price_out go together")
        if self.price_in is None and {self.cycle_money, self.day_money, self.scope_money} != {None}:
            raise ValueError("a cap of money needs price_in and price_out")
        return self
