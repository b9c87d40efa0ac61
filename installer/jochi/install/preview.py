"""`jochi install --dry-run`: what an install would change. It reads, and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from jochi.compile.policy_data import policy_data
from jochi.compile.registry import Status, compare
from jochi.database.database import Database
from jochi.database.engine import Engine, EngineState
from jochi.database.server_facts import read_facts
from jochi.database.statements import statement
from jochi.graph.driver_values import to_python
from jochi.install.install import job_rows, of_earlier_versions, render_checked
from jochi.install.preflight import jobs_obstacle, require_no_newer, require_suitable_server
from jochi.policy import LoadedPolicy, stored_policy
from jochi.schema import indexes, migrations
from jochi.schema.indexes import IndexChange
from jochi.version import __version__


@dataclass(frozen=True)
class Names:
    """What would be new, changed and gone, by name."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __add__(self, other: Names) -> Names:
        return Names(self.new + other.new, self.changed + other.changed, self.gone + other.gone)

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


@dataclass(frozen=True)
class InstallPreview:
    """What `install` would change now.

    ``installed`` is the version that is there, None on a database without Jochi; ``version`` is this one. ``migrations``: names of
    files. ``policy``: the fields of the policy (`table.key`) whose meaning changes. ``decides_anew``: what decides over memories
    changes, so that nothing is pruned until `jochi apply`. ``obstacle``: why nothing would be armed, where that is so.
    """

    installed: str | None
    version: str
    migrations: tuple[str, ...]
    indexes: tuple[IndexChange, ...]
    procedures: Names
    jobs: Names
    policy: Names
    decides_anew: bool
    obstacle: str | None = None

    @property
    def changes(self) -> bool:
        """Whether anything would change but the arming, which each install does anew."""
        return self.installed != self.version or any(
            getattr(self, field.name)
            for field in fields(self)
            if field.name not in ("installed", "version", "obstacle")
        )


def preview(
    database: Database, policy: LoadedPolicy, *, chain: migrations.ChainName | str | None = None
) -> InstallPreview:
    """What `jochi.install.install.install` would do with the same arguments. Raises what it would raise before its first write."""
    engine = Engine(database)
    facts = read_facts(database)
    require_suitable_server(database, facts)
    changes = indexes.planned_changes(database, policy.policy)
    state = engine.state()
    require_no_newer(database, state.pump)
    found = compare(render_checked(policy, facts), engine.procedures().values())

    def of(*words: Status) -> tuple[str, ...]:
        return tuple(row.name for row in found if row.status in words)

    pump = state.pump or {}
    return InstallPreview(
        pump.get("version"),
        __version__,
        tuple(migrations.planned(database, chain=chain)),
        tuple(changes),
        Names(of(Status.MISSING), of(Status.OUTDATED, Status.MODIFIED), tuple(of_earlier_versions(found))),
        _jobs(database, policy),
        policy_changes(state, policy),
        state.pump is not None and pump.get("verdict_sha256") != policy.verdict_sha256,
        jobs_obstacle(facts),
    )


def _jobs(database: Database, policy: LoadedPolicy) -> Names:
    stored = to_python(database.run(statement("report/stored_engine"), write=False)[0])["jobs"]
    have = {row["name"]: row for row in stored}
    want = {row["name"]: row for row in job_rows(policy)}
    return Names(
        tuple(sorted(want.keys() - have.keys())),
        tuple(name for name in sorted(want.keys() & have.keys()) if job_differences(want[name], have[name])),
        tuple(sorted(have.keys() - want.keys())),
    )


def job_differences(wanted: Mapping[str, Any], stored: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """(property, as it is stored, as the policy says) of a job where they differ; ``wanted``: a row of `job_rows`."""
    expected = {name: value for name, value in wanted.items() if name != "parameters"} | dict(wanted["parameters"])
    there = {name: value for name, value in stored.items() if name in expected or name.startswith("p_")}
    return [
        (name, there.get(name), expected.get(name))
        for name in sorted(expected.keys() | there.keys())
        if there.get(name) != expected.get(name)
    ]


def policy_changes(state: EngineState, policy: LoadedPolicy) -> Names:
    """The fields that mean something else under ``policy`` than under the installed one. A database without Jochi has none."""
    if state.policy_text is None:
        return Names()
    changes = _compared(_installed_fields(state.policy_text), json.loads(policy.canonical))
    if changes or state.policy_data is None:
        return changes
    # Its author's text reads the same: what this version ships besides may still be other.
    return _compared(state.policy_data, json.loads(json.dumps(policy_data(policy.policy))))


def _installed_fields(text: str) -> Mapping[str, Any]:
    if text.startswith("{"):  # before 0.2.0 the whole policy was kept, as JSON
        whole: Mapping[str, Any] = json.loads(text)
        return whole
    read: Mapping[str, Any] = json.loads(stored_policy(text).canonical)
    return read


def _compared(before: Mapping[str, Any], after: Mapping[str, Any], way: str = "") -> Names:
    """The keys, with dots, that only one of two tables has, the widest ones, and those whose values differ."""
    found = Names()
    for key in sorted(before.keys() | after.keys()):
        name, old, new = f"{way}{key}", before.get(key), after.get(key)
        if name == "policy" or old == new:
            continue
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += _compared(old, new, f"{name}.")
        else:
            found += Names(
                *(((name,) if which else ()) for which in (old is None, None not in (old, new), new is None))
            )
    return found
