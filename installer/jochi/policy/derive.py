"""What derivations may cost (`Caps`), `[compression]`, and `[derive.<name>]` (DESIGN §13; docs/reference/derivations.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share, repeated

_Money = Annotated[float, Field(ge=0, le=1_000_000_000, allow_inf_nan=False)]
_Tokens = Annotated[int, Field(ge=1, le=1_000_000_000)]
_LONGEST_DAYS = 36_500
_Weight = Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class Caps(Part):
    """What a derivation may take and cost, within a cycle, a day, a minute and a scope."""

    cycle: PositiveDuration
    """The span that `per_cycle`, `cycle_tokens` and `cycle_money` hold for."""
    per_cycle: Count
    """How many outputs are made within a cycle."""
    per_day: Count
    """How many outputs are made on a day (UTC)."""
    tries: Annotated[int, Field(ge=1, le=100)]
    """After so many rejected outputs a piece of work is put aside."""
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
    def _prices(self) -> Caps:
        if (self.price_in is None) != (self.price_out is None):
            raise ValueError("price_in and price_out go together")
        if self.price_in is None and {self.cycle_money, self.day_money, self.scope_money} != {None}:
            raise ValueError("a cap of money needs price_in and price_out")
        return self


class Compression(Caps):
    """`[compression]`: which long memories of the archive get a shorter content, and what that may cost."""

    compressing: bool
    """`false`: no memory is compressed."""
    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The labels whose memories are compressed. The policy need not have all of them."""
    above: Annotated[int, Field(ge=1, le=1_000_000)]
    """Only memories of more tokens than this are compressed."""
    share: Annotated[Share, Field(gt=0, lt=1)]
    """A summary has at most this share of the tokens of the original."""

    @model_validator(mode="after")
    def _once(self) -> Compression:
        if twice := repeated(list(self.kinds)):
            raise ValueError(f"a kind is there twice: {', '.join(twice)}")
        return self


class Derived(Caps):
    """`[derive.<name>]`: memories that are made out of memories."""

    deriving: bool
    """`false`: nothing is made."""
    of: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The labels of its targets: each such memory has an output of its own. The policy need not have all of them."""
    retention: Annotated[tuple[Literal["KEEP", "SUMMARIZE", "ARCHIVE"], ...], Field(strict=False)] = ()
    """Only memories whose value is in these tiers have an output (`[classification]`). Empty: all have."""
    by_job: bool = False
    """A job says what is to be made, and when; `of` is empty then."""
    after: Name | None = None
    """Only memories of which that derivation has made something have an output, while that one is switched on."""
    outlives: bool
    """`true`: an output stays as it is when what it was made of is pruned.

    `false`: it is made anew of what is left, and expires with the last of it.
    """
    small_model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """The model, of the worker's provider, for what is made of few inputs; it counts by the same prices. For `describe`."""
    lazy: bool = False
    """`true`: an output is made when its target was used since something new was said of it, not before. For `describe`."""
    source_weights: dict[Annotated[str, Field(min_length=1, max_length=100)], _Weight] = Field(default_factory=dict)
    """So many sources one of this `source_type` counts for; 1 where it isn't named. For `storylines`."""
    numbers: dict[Name, _Number] = Field(default_factory=dict)
    """Numbers of its own, by name. One that ends in `_days` is a span, above 0."""

    @model_validator(mode="after")
    def _plain(self) -> Derived:
        if twice := repeated(list(self.of)):
            raise ValueError(f"a kind is there twice: {', '.join(twice)}")
        if self.deriving and not self.of and not self.by_job:
            raise ValueError("`of` names no kind, so nothing would be made")
        if taken := sorted({*type(self).model_fields, "cycle_s"} & self.numbers.keys()):
            raise ValueError(f"numbers can't be named {', '.join(taken)}: that is a field of its own")
        for name, days in self.numbers.items():
            if name.endswith("_days") and not 0 < days <= _LONGEST_DAYS:
                raise ValueError(f"{name} must be above 0 and at most {_LONGEST_DAYS}")
        return self
