"""`[duplicates]`: when two memories are near enough to be shown, and to be merged (docs/reference/duplicates.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from jochi.policy.parts import Name, Part, PositiveDuration, repeated

_Cosine = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class OfKind(Part):
    """One entry of `duplicates.by_kind`: what is different for one kind."""

    kind: Name
    flag: _Cosine | None = None
    merge: _Cosine | None = None


class Duplicates(Part):
    """`[duplicates]`. Cosines are raw, -1 to 1.

    ``kinds``: labels whose memories are compared, each with its own only; the policy need not have all of them.
    ``flag``: from this cosine on two are shown as near duplicates. ``merge``: from this on they may be merged, if the
    guard agrees. ``most``: memories that are merged into one at most; ``merging``: whether any are. ``neighbours``: so
    many nearest of the same scope and kind are looked at, and ``flags`` pairs of one memory stay at most.
    ``exact_up_to``: memories of a scope up to which each vector is compared; above, the vector index is asked, for
    ``widest`` neighbours at most. ``again``: a memory of which not all likely pairs could be kept is looked at again
    after this.
    """

    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    flag: _Cosine
    merge: _Cosine
    most: Annotated[int, Field(ge=2, le=100)]
    merging: bool
    neighbours: Annotated[int, Field(ge=1, le=1_000)]
    flags: Annotated[int, Field(ge=1, le=1_000)]
    exact_up_to: Annotated[int, Field(ge=0, le=100_000)]
    widest: Annotated[int, Field(ge=1, le=100_000)]
    again: PositiveDuration
    by_kind: Annotated[tuple[OfKind, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> Duplicates:
        if twice := repeated(list(self.kinds)):
            raise ValueError(f"a kind is there twice: {', '.join(twice)}")
        if twice := repeated([entry.kind for entry in self.by_kind]):
            raise ValueError(f"by_kind names a kind twice: {', '.join(twice)}")
        for label, (flag, merge) in {"flag, merge": (self.flag, self.merge), **self._told()}.items():
            if merge < flag:
                raise ValueError(f"{label}: merge ({merge}) is below flag ({flag})")
        return self

    def _told(self) -> dict[str, tuple[float, float]]:
        return {
            entry.kind: (
                self.flag if entry.flag is None else entry.flag,
                self.merge if entry.merge is None else entry.merge,
            )
            for entry in self.by_kind
        }

    def thresholds(self) -> dict[str, dict[str, float]]:
        """By each label that takes part, in order: raw cosines from which two are flagged, and from which they may merge."""
        told = self._told()
        both = {label: told.get(label, (self.flag, self.merge)) for label in self.kinds}
        return {label: {"flag": flag, "merge": merge} for label, (flag, merge) in both.items()}
