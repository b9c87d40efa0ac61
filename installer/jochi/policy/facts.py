"""`[facts]` as types: what heat and decay are made of, confidence tiers, protected categories (seed 003)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, model_validator

from jochi.policy.parts import Count, Name, Part, PositiveDuration, Share

FACT_TYPES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        **dict.fromkeys(("confidence", "importance"), frozenset({"INTEGER", "FLOAT"})),
        **dict.fromkeys(
            ("category", "confidence_tier", "policy_class", "state", "verification_state"), frozenset({"STRING"})
        ),
        **dict.fromkeys(("confirmed_at", "resolved_at", "updated_at"), frozenset({"ZONED DATETIME"})),
        "resolved": frozenset({"BOOLEAN"}),
    }
)
"""What scores and predicates of facts read, and the types that they can use."""


class ConfidenceTier(Part):
    """One tier of confidence."""

    name: Name
    """The name of the tier."""
    from_: Annotated[Share | None, Field(alias="from")] = None
    """The confidence from which on it holds. The lowest tier has none."""
    weight: Share
    """What it weighs in a score."""


class HeatWeights(Part):
    """What each input adds to heat (peers A3, lifecycle.ts)."""

    confidence: Share
    """The weight of the confidence tier."""
    access: Share
    """The weight of the number of accesses."""
    recency: Share
    """The weight of the time since the last access."""
    importance: Share
    """The weight of the importance."""
    feedback: Share
    """The weight of feedback, which is neutral."""


class DecayWeights(Part):
    """What each input adds to decay; ``doubt`` is that of a confidence of 0, ``cold`` of a heat of 0 (peers A3)."""

    age: Share
    """The weight of the age since the last change."""
    idle: Share
    """The weight of the time without access."""
    doubt: Share
    """The weight of a low confidence."""
    feedback: Share
    """The weight of feedback, which is neutral."""
    cold: Share
    """The weight of a low heat."""


class WorthWeights(Part):
    """What each input adds to the value by which facts move between tiers, and ``correction`` and ``confirmed`` besides;
    ``disputed`` is the share of a dispute that is taken off (peers A3, tier-routing.ts)."""

    confidence: Share
    """The weight of the confidence tier."""
    access: Share
    """The weight of the number of accesses."""
    recency: Share
    """The weight of the time since the last access."""
    importance: Share
    """The weight of the importance."""
    feedback: Share
    """The weight of feedback, which is neutral."""
    correction: Share
    """What a correction adds."""
    confirmed: Share
    """What a confirmed fact adds."""
    disputed: Share
    """The share that a dispute takes off."""


Delta = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]


class RecallDeltas(Part):
    """What a state adds to a score between 0 and 1 in recall, and what a dispute adds besides (peers A3, Recall score deltas)."""

    candidate: Delta
    """What the state candidate adds to a score."""
    validated: Delta
    """What the state validated adds to a score."""
    active: Delta
    """What the state active adds to a score."""
    stale: Delta
    """What the state stale adds to a score."""
    archived: Delta
    """What the state archived adds to a score."""
    disputed: Delta
    """What a dispute adds besides."""

    @property
    def by_state(self) -> dict[str, float]:
        """Without that of a dispute."""
        return {name: value for name, value in self.model_dump().items() if name != "disputed"}


class Facts(Part):
    """`[facts]`: how warm facts are and how far they have faded, from 0 to 1, computed when they are asked for and never stored.

    Recency falls to 0 over ``recent``, age and idle time rise to 1 over ``old`` and ``unused``. Feedback is neutral (0.5):
    nobody hands any in.
    """

    confidence_tiers: Annotated[tuple[ConfidenceTier, ...], Field(strict=False, min_length=2)]
    """The tiers of confidence, the highest first."""
    unknown_weight: Share
    """The weight of a fact whose confidence is unknown."""
    importance: Share
    """The importance of a fact whose importance is unknown."""
    many_accesses: Count
    """More accesses than this add nothing."""
    recent: PositiveDuration
    """Recency falls to 0 in this time after the last access."""
    old: PositiveDuration
    """Age counts fully from here on."""
    unused: PositiveDuration
    """Time without access counts fully from here on."""
    disputed: Share
    """What a dispute takes from heat."""
    heat: HeatWeights
    """The weights of heat."""
    decay: DecayWeights
    """The weights of decay."""
    worth: WorthWeights
    """The weights of the value by which facts move between tiers."""
    protected_categories: Annotated[tuple[str, ...], Field(strict=False)]
    """Facts of these categories are never archived by a rule."""
    unimportant: Share
    """A fact of a lower importance is archived after its time."""
    recall: RecallDeltas
    """What a state adds to a score in recall."""
    filter_stale: bool
    """Recall leaves out what is stale or archived, even where archived memories are asked for."""

    @model_validator(mode="after")
    def _tiers_in_order(self) -> Facts:
        limits = [tier.from_ for tier in self.confidence_tiers]
        known = [limit for limit in limits[:-1] if limit is not None]
        if limits[-1] is not None or len(known) != len(limits) - 1 or any(a <= b for a, b in pairwise(known)):
            raise ValueError(
                "confidence_tiers go from the highest to the lowest; each but the last says from which confidence on"
            )
        if len({tier.name for tier in self.confidence_tiers}) != len(self.confidence_tiers):
            raise ValueError("confidence_tiers: a name is there twice")
        return self

    @model_validator(mode="after")
    def _heat_is_a_share(self) -> Facts:
        if sum(self.heat.model_dump().values()) > 1 + 1e-9:
            raise ValueError("heat: the weights add up to more than 1")
        return self

    @property
    def access_scale(self) -> float:
        """What ln(1 + accesses) is divided by."""
        return math.log1p(self.many_accesses)
