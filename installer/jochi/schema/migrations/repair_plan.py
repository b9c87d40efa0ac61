"""What a repair of a chain would do: from the files and the chain's nodes to steps and writes. Touches no database."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from jochi.database.database import Row
from jochi.errors import Refused
from jochi.schema.migrations.chain import BASELINE, PACKAGE, applied_of, counts, node_of
from jochi.schema.migrations.comparing import is_foreign
from jochi.schema.migrations.files import Folder, MigrationFile
from jochi.schema.migrations.results import RepairAction, RepairStep
from jochi.version import __version__

_LATE = datetime.max.replace(tzinfo=timezone.utc)


@dataclass
class RepairPlan:
    """The steps for a person, and the writes for the database: all of them or none.

    ``remove``: ids of nodes. ``change``: {id, properties, once: whether its repetitions go}. ``insert``: properties of
    new nodes. ``link``: (version, previous version or None) of each node whose incoming relationship is made anew.
    ``ids``: the id of each version that stays. ``pending``: names of the files behind the chain's end.
    """

    steps: list[RepairStep] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    change: list[dict[str, Any]] = field(default_factory=list)
    insert: list[dict[str, Any]] = field(default_factory=list)
    link: list[tuple[str, str | None]] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)

    def add(self, action: RepairAction, version: str, source: str, detail: str) -> None:
        self.steps.append(RepairStep(action=action, version=version, source=source, detail=detail))


def plan_repair(folder: Folder, rows: list[Row], where: str) -> RepairPlan:
    """The repair of the chain whose nodes are ``rows`` (as `migrations/chain` returns them).

    The line that results has the order of the files. `Refused` for a chain that isn't Jochi's or a newer jochi's.
    """
    plan = RepairPlan()
    if not any(counts(row["node"]) for row in rows):
        plan.pending = [file.source for file in folder.files]
        return plan
    _refuse_what_is_not_ours(folder, rows, where)
    kept = _choose_records(plan, folder, rows)
    last = max((index for index, file in enumerate(folder.files) if file.version in kept), default=-1)
    line, behind = folder.files[: last + 1], folder.files[last + 1 :]
    plan.pending = [file.source for file in behind]
    for file in line:
        if file.version in kept:
            _compare(plan, file, kept[file.version])
        else:
            plan.insert.append(node_of(file))
            plan.add(RepairAction.INSERT, file.version, file.source, "recorded as applied; it is not run")
    _keep_one_root(plan, rows, kept)
    plan.ids = {version: row["id"] for version, row in kept.items()}
    _link(plan, [BASELINE, *(file.version for file in line)], kept)
    return plan


def _refuse_what_is_not_ours(folder: Folder, rows: list[Row], where: str) -> None:
    local = {file.version: file for file in folder.files}
    for row in rows:
        node = row["node"]
        if node.get("version") == BASELINE:
            continue
        if not counts(node):
            raise Refused(
                "the chain holds a node without a version or with a mark of Flyway, which Jochi never writes",
                where=where,
                fix="repair it with the tool that wrote it",
            )
        entry = applied_of(row)
        file = local.get(entry.version)
        if is_foreign(entry, file):
            raise Refused(
                f"this chain is not Jochi's: {entry.source or '?'} ({entry.version}) was applied by somebody else",
                where=where,
                fix="repair it with the tool and the files that wrote it",
            )
        if file is None and _is_newer(node.get("packageVersion")):
            raise Refused(
                f"a newer jochi ({node['packageVersion']}) has applied {entry.source}, and its record would be lost",
                where=where,
                fix="upgrade jochi",
            )


def _is_newer(version: object) -> bool:
    """Whether a jochi of this version is newer than this one; what can't be told counts as not newer."""
    try:
        return isinstance(version, str) and _numbers(version) > _numbers(__version__)
    except ValueError:
        return False


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")[:3]]


def _choose_records(plan: RepairPlan, folder: Folder, rows: list[Row]) -> dict[str, Row]:
    """One node a version that has a file; all others go."""
    local = {file.version: file for file in folder.files}
    by_version: dict[str, list[Row]] = {}
    for row in rows:
        if row["node"].get("version") != BASELINE:
            by_version.setdefault(str(row["node"]["version"]), []).append(row)
    kept: dict[str, Row] = {}
    for version, found in sorted(by_version.items()):
        file = local.get(version)
        if file is None:
            plan.remove += [row["id"] for row in found]
            for row in found:
                plan.add(RepairAction.REMOVE, version, applied_of(row).source, "there is no such file")
            continue
        best, *surplus = sorted(found, key=lambda row: _preference(row, file))
        kept[version] = best
        plan.remove += [row["id"] for row in surplus]
        for _ in surplus:
            plan.add(RepairAction.REMOVE_DUPLICATE, version, file.source, "recorded more than once")
    return kept


def _preference(row: Row, file: MigrationFile) -> tuple[bool, datetime, str]:
    """The record with the file's checksum first, then the oldest: that is when it was applied."""
    entry = applied_of(row)
    return entry.checksum != file.checksum, entry.at or _LATE, str(row["id"])


def _compare(plan: RepairPlan, file: MigrationFile, row: Row) -> None:
    entry = applied_of(row)
    if entry.repeatable == file.repeatable and (file.repeatable or entry.checksum == file.checksum):
        # A repeatable file with other content is no damage: it runs at the next apply.
        return
    detail = f"checksum {entry.checksum} becomes {file.checksum}"
    if entry.repeatable != file.repeatable:
        detail += ", " + ("repeatable now" if file.repeatable else "not repeatable now")
    properties = {**node_of(file), "package": row["node"].get("package") or PACKAGE}
    plan.change.append({"id": row["id"], "properties": properties, "once": not file.repeatable})
    plan.add(RepairAction.REWRITE, file.version, file.source, detail)


def _keep_one_root(plan: RepairPlan, rows: list[Row], kept: dict[str, Row]) -> None:
    roots = [row for row in rows if row["node"].get("version") == BASELINE]
    if not roots:
        plan.insert.append({"version": BASELINE})
        plan.add(RepairAction.INSERT, BASELINE, "", "the root of the line")
        return
    # The root that the line hangs on, if one does.
    followed = {previous for row in rows for previous in row["previous"]}
    best, *surplus = sorted(roots, key=lambda row: (row["id"] not in followed, str(row["id"])))
    kept[BASELINE] = best
    plan.remove += [row["id"] for row in surplus]
    for _ in surplus:
        plan.add(RepairAction.REMOVE_DUPLICATE, BASELINE, "", "a second root")


def _link(plan: RepairPlan, line: list[str], kept: dict[str, Row]) -> None:
    removed = set(plan.remove)
    before: list[str | None] = [None, *line[:-1]]
    for version, previous in zip(line, before, strict=True):
        row = kept.get(version)
        wanted = [] if previous is None else [kept[previous]["id"] if previous in kept else "new"]
        if row is None:
            if previous is not None:
                plan.link.append((version, previous))
            continue
        found = list(row["previous"])
        if found == wanted:
            continue
        plan.link.append((version, previous))
        explained = wanted == ["new"] or (len(found) == 1 and found[0] in removed)
        if not explained:
            plan.add(
                RepairAction.RELINK,
                version,
                applied_of(row).source,
                "is made the root" if previous is None else f"follows {previous}",
            )
