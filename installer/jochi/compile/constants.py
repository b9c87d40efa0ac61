"""The numbers and names of a policy that nearly every body reads: the map `k` (procedures/_macros/values/constants.j2).

Durations are whole seconds and their names end in `_s`; what a body reads as a duration it makes of them.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from jochi.graph import catalogue
from jochi.policy.model import Policy
from jochi.policy.rules import TIERS, Decay, Salience
from jochi.text.tokens import ESTIMATE_COUNTER

CHARACTERS_A_TOKEN = 4
"""What an estimate of tokens goes by."""


def seconds(span: timedelta | None) -> int | None:
    """Whole seconds; None stays None."""
    return None if span is None else int(span.total_seconds())


def constants_of(policy: Policy) -> dict[str, Any]:
    """Everything in it is a text, a number, a truth value, or a list or map of these."""
    rails, queue, limits = policy.rails, policy.queue, policy.limits
    return {
        "tiers": list(TIERS),
        "kinds": list(policy.labels()),
        # Less than pruning: what stands in the way of each kind of change (DESIGN §8).
        "hold_archive": ["pinned", "keep_forever", "hold", "locked", "unfolded_access", "quarantined"],
        "hold_tier": ["pinned", "hold", "locked", "unfolded_access", "quarantined"],
        "hold_flag": ["locked", "quarantined"],
        "active_tasks": list(rails.active_tasks),
        "active_beliefs": list(rails.active_beliefs),
        "confident_belief": rails.confident_belief,
        "proven_accesses": rails.proven_accesses,
        "consensus_agents": rails.consensus_agents,
        "grace_s": seconds(rails.grace),
        "lock_ttl_s": seconds(rails.lock_ttl),
        "volatile_horizon_s": seconds(queue.volatile_horizon),
        "horizon_min_s": seconds(queue.horizon_min),
        "horizon_max_s": seconds(queue.horizon_max),
        "horizon_growth": queue.horizon_growth,
        "pause_recheck_s": seconds(queue.pause_recheck),
        "breaker_hours": math.ceil(limits.breaker_window.total_seconds() / 3600),
        "breaker_share": limits.breaker_share,
        "breaker_floor": limits.breaker_floor,
        "breaker_run_share": limits.breaker_run_share,
        "breaker_run_floor": limits.breaker_run_floor,
        "breaker_pause_s": seconds(limits.breaker_pause),
        "newborn": newborn_data(policy),
        "enrolment": enrolment_data(policy),
    }


def enrolment_data(policy: Policy) -> dict[str, Any]:
    """What procedures/_macros/write/enrolment.j2 reads: ``own`` are names of properties by label, `_` those of all other kinds."""
    kept = ("scope", "id", "content")
    return {
        **newborn_data(policy),
        "own": {
            "_": {name: name for name in kept},
            **{
                label: {name: policy.own_name(label, name) for name in kept}
                for label, kind in policy.labels().items()
                if kind.properties
            },
        },
        "protected": sorted(policy.protected_kinds),
        "tiers": list(catalogue.CHOICES["tier"]),
        "in_the_way": list(catalogue.IN_THE_WAY),
        "longest_key": policy.intake.longest_key,
        "longest": policy.content.longest,
    }


def newborn_data(policy: Policy) -> dict[str, Any]:
    """What `newborn` of procedures/_macros/write/newborn.j2 reads."""
    return {
        "estimate_counter": ESTIMATE_COUNTER,
        "estimate_prefix": "estimate:",
        "hash_prefix": catalogue.HASH_PREFIX,
        "characters_a_token": CHARACTERS_A_TOKEN,
        "unique_kinds": list(policy.unique_labels()),
        "compared_kinds": list(policy.duplicates.kinds),
        "resolved_kinds": list(policy.resolved_labels()),
        "derived_kinds": list(policy.derived_labels()),
        "embedded_kinds": list(policy.embedded_labels()),
        "embedding_model": policy.embedding.model,
    }


def decay_data(decay: Decay | None) -> dict[str, Any] | None:
    """How a confidence falls, as `fading` of procedures/_macros/measure/usage.j2 reads it."""
    if decay is None:
        return None
    return {
        "per_day": decay.per_day,
        "idle_s": seconds(decay.idle),
        "below": decay.below,
        "floor": decay.floor,
    }


def salience_data(salience: Salience) -> dict[str, Any]:
    """The numbers that `living` of procedures/_macros/measure/salience.j2 reads."""
    return {
        "initial": float(salience.initial),
        "per_day": float(salience.per_day),
        "gradient": float(salience.gradient),
        "gradient_least": float(salience.gradient_least),
        "steady_from": salience.steady_from,
        "doubt": float(salience.doubt),
    }
