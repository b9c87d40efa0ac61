"""What must hold of the indexes whose form the policy decides: there, right, and built. What constraints of apps mean here."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jochi.operate.check import Check, fail, ok, warn
from jochi.policy import Policy
from jochi.schema.constraints import Constraint
from jochi.schema.indexes import Row, is_foreign, is_ours, told, wanted_indexes


def check_indexes(policy: Policy, rows: Sequence[Row]) -> Check:
    """The doctor's check; ``rows`` as `jochi.schema.indexes.read` gives them."""
    name, install = "policy indexes", "run `jochi install`"
    wanted = wanted_indexes(policy)
    if foreign := [f"{row['name']} is on {told(row)}" for row in rows if is_foreign(row)]:
        return fail(name, f"not Jochi's: {', '.join(foreign)}", f"drop or rename it, then {install}")
    found = [(index, row) for index in wanted if (row := index.find(rows)) is not None]
    if missing := [index.name for index in wanted if index.find(rows) is None]:
        return fail(name, f"gone: {', '.join(missing)}", install)
    if failed := [f"{row['name']}: {row['failure']}" for _, row in found if row["state"] == "FAILED"]:
        return fail(name, f"FAILED: {', '.join(failed)}", f"{install}: it builds Jochi's own again")
    wrong = [
        f"{row['name']} is on {told(row)}, the policy says {index}" for index, row in found if not index.is_right(row)
    ]
    unasked = {row["name"] for row in rows if is_ours(row)} - {index.name for index in wanted}
    wrong += [f"{each} is there, the policy doesn't ask for it" for each in sorted(unasked)]
    if wrong:
        return fail(name, "; ".join(wrong), f"{install}: the policy is the source")
    if filling := [f"{row['name']} {row['percent']:.0f} %" for _, row in found if row["state"] != "ONLINE"]:
        slow = "wait: until then recall by meaning and decay_edges are slow, and recall by words is off"
        return warn(name, f"POPULATING: {', '.join(filling)}", slow)
    online = [f"{row['name']} on {index}" for index, row in found]
    return ok(name, f"ONLINE: {'; '.join(online)}")


def check_app_constraints(constraints: Sequence[Constraint], labels: Collection[str]) -> Check:
    """What the constraints of apps mean on the labels that memories carry, ``labels``, and on relationships. Nothing to mend."""
    relevant = [one for one in constraints if one.of_relationships or one.label in labels]
    if not relevant:
        return ok("constraints of apps", "none on memories or relationships")
    return ok("constraints of apps", "; ".join(f"{one.name}: {one.meaning}" for one in relevant))
