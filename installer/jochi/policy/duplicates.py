"""`[duplicates]`: when two memories are near enough to be shown, and to be merged (docs/reference/duplicates.md)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from jochi.policy.parts import Name, Part, PositiveDuration, repeated

_Cosine = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class OfKind(Part):
    """One entry of `duplicates.by_kind`: what is different for one kind."""

    kind: Name
    """The label for which something is different."""
    flag: _Cosine | None = None
    """Its `flag`, where it differs."""
    merge: _Cosine | None = None
    """Its `merge`, where it differs."""


class Duplicates(Part):
    """`[duplicates]`: when two memories are near enough to be shown, and to be merged. Cosines are raw, -1 to 1."""

    kinds: Annotated[tuple[Name, ...], Field(strict=False)] = ()
    """The labels whose memories are compared, each with its own only. The policy need not have all of them."""
    flag: _Cosine
    """Two memories of this cosine or more are shown as near duplicates."""
    merge: _Cosine
    """Two memories of this cosine or more may merge, if the guard agrees."""
    most: Annotated[int, Field(ge=2, le=100)]
    """How many memories become one at most."""
    merging: bool
    """`false`: pairs are shown and never merged."""
    neighbours: Annotated[int, Field(ge=1, le=1_000)]
    """How many nearest memories of the same scope and kind a new memory is compared with."""
    flags: Annotated[int, Field(ge=1, le=1_000)]
    """How many pairs of one memory are kept, the nearest first."""
    exact_up_to: Annotated[int, Field(ge=0, le=100_000)]
    """In a scope of at most so many memories each vector is compared. In a larger one the vector index is asked."""
    widest: Annotated[int, Field(ge=1, le=100_000)]
    """For how many neighbours the vector index is asked at most."""
    again: PositiveDuration
    """If not all pairs of a memory could be kept, the others are looked at again after this."""
    by_kind: Annotated[tuple[OfKind, ...], Field(strict=False)] = ()
    """What is different for some kinds."""

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
