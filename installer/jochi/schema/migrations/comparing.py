"""Holding the files against the chain: the state of each migration, and whether one may go on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from jochi.schema.migrations.chain import PACKAGE, Applied, Chain
from jochi.schema.migrations.earlier import is_earlier_chain
from jochi.schema.migrations.files import Folder, MigrationFile
from jochi.schema.migrations.results import ChainName, Migration, Outcome, State


@dataclass(frozen=True)
class Comparison:
    """The rows of a listing, the files to run in order, and in ``messages`` what is wrong and what to do."""

    outcome: Outcome
    migrations: tuple[Migration, ...]
    to_run: tuple[MigrationFile, ...]
    messages: tuple[str, ...]
    earlier: bool = False
    """The chain is one of before the first release: ``to_run`` are all files, and the chain is written anew after them."""


def compare(folder: Folder, chain: Chain, name: ChainName = ChainName.DEFAULT) -> Comparison:
    """Compares version, repeatability and checksum, as neo4j-migrations does; descriptions and names are free."""
    local = {file.version: file for file in folder.files}
    applied = {entry.version: entry for entry in chain.applied}
    rows = [_row(file, applied.get(file.version)) for file in folder.files]
    rows += [_row(None, entry) for entry in chain.applied if entry.version not in local]
    earlier = is_earlier_chain(folder, chain)
    to_run = tuple(
        file
        for file in folder.files
        if earlier
        or file.version not in applied
        or (file.repeatable and _state(file, applied[file.version]) is State.CHANGED)
    )
    outcome, messages = _judge(folder, chain, local, name)
    return Comparison(outcome, tuple(rows), to_run, messages, earlier)


def _state(file: MigrationFile | None, entry: Applied | None) -> State:
    if file is None:
        return State.UNKNOWN
    if entry is None:
        return State.PENDING
    same = entry.checksum == file.checksum and entry.repeatable == file.repeatable
    return State.APPLIED if same else State.CHANGED


def _row(file: MigrationFile | None, entry: Applied | None) -> Migration:
    known = file or entry
    assert known is not None
    row = Migration(
        version=known.version,
        description=known.description,
        source=known.source,
        state=_state(file, entry),
        repeatable=known.repeatable,
        file_checksum=file.checksum if file else None,
    )
    if entry is None:
        return row
    return row.model_copy(
        update={
            "database_checksum": entry.checksum,
            "package": entry.package,
            "applied_at": entry.at,
            "applied_by": entry.by,
            "connected_as": entry.connected_as,
            "milliseconds": entry.milliseconds,
        }
    )


def is_foreign(entry: Applied, file: MigrationFile | None) -> bool:
    """Whether ``entry`` was applied by somebody else from files of theirs.

    neo4j-migrations run on Jochi's files leaves no package, so without one the version and either the content or the
    file's name must be Jochi's.
    """
    if entry.package == PACKAGE:
        return False
    return file is None or (entry.checksum != file.checksum and entry.source != file.source)


def _judge(
    folder: Folder, chain: Chain, local: dict[str, MigrationFile], name: ChainName
) -> tuple[Outcome, tuple[str, ...]]:
    foreign = [entry for entry in chain.applied if is_foreign(entry, local.get(entry.version))]
    if foreign:
        return Outcome.FOREIGN_CHAIN, (_foreign(foreign, name),)
    twice = [version for version, times in Counter(entry.version for entry in chain.applied).items() if times > 1]
    if twice:
        return Outcome.DUPLICATE_VERSION, (
            f"recorded more than once: {', '.join(twice)}; two tools without a common lock have migrated it. "
            "`jochi engine migrations repair` keeps one record of each",
        )
    if chain.broken:
        return Outcome.UNDEFINED, (
            f"the chain of migrations in the database is broken: {chain.broken}. "
            "It was edited by hand or written by two tools at once; `jochi engine migrations repair` makes one line of it",
        )
    if is_earlier_chain(folder, chain):
        return Outcome.INCOMPLETE_DATABASE, (
            "the constraints and indexes are those of a jochi before 0.2.0. `jochi install` (or `jochi engine migrations apply`) "
            "brings them to this version",
        )
    newer = [entry for entry in chain.applied if entry.version not in local]
    if newer:
        return Outcome.NEWER_DATABASE, (
            f"a newer jochi has migrated this database: {_names(newer)} is not in {folder.path}. Upgrade jochi",
        )
    changed = [_changed(local[entry.version], entry) for entry in chain.applied if _is_changed(local, entry)]
    changed += _out_of_order(folder, chain)
    if changed:
        return Outcome.DIFFERENT_CONTENT, tuple(changed)
    pending = [file for file in folder.files if file.version not in {entry.version for entry in chain.applied}]
    if pending:
        return Outcome.INCOMPLETE_DATABASE, (
            f"pending: {_names(pending)}. `jochi engine migrations apply` applies what is pending",
        )
    return Outcome.VALID, ()


def _is_changed(local: dict[str, MigrationFile], entry: Applied) -> bool:
    file = local[entry.version]
    if entry.repeatable != file.repeatable:
        return True
    return not file.repeatable and entry.checksum != file.checksum


def _changed(file: MigrationFile, entry: Applied) -> str:
    if entry.repeatable != file.repeatable:
        words = ("repeatable", "not repeatable")
        was, now = words if entry.repeatable else reversed(words)
        return f"{file.path}: was applied as {was} and is {now} now. Give it back its old name"
    if entry.checksum == file.checksum_with_line_feeds:
        return (
            f"{file.path}: only its line ends differ from what was applied (CRLF instead of LF). "
            "Check it out with LF: `*.cypher text eol=lf` in .gitattributes"
        )
    return (
        f"{file.path}: edited after it was applied (checksum {file.checksum}, applied {entry.checksum}). "
        "Put the released file back (reinstall jochi); a change to the schema takes a new migration"
    )


def _out_of_order(folder: Folder, chain: Chain) -> list[str]:
    for file, entry in zip(folder.files, chain.applied, strict=False):
        if file.version != entry.version:
            return [
                f"the order does not fit: {entry.source} is applied in the place of {file.source}. "
                "A new migration takes a version above all released ones"
            ]
    return []


def _foreign(entries: list[Applied], name: ChainName) -> str:
    remedy = (
        "Give Jochi a chain of its own beside it: `jochi install --chain jochi`, or `jochi engine migrations apply --chain jochi`"
        if name is ChainName.DEFAULT
        else "Use another database for Jochi"
    )
    return (
        f"this database has a chain of migrations that is not Jochi's: {_names(entries)}. Two sets of files in one chain "
        f"break each other, so nothing was written. {remedy}; if these are Jochi's own migrations under other names, say "
        "so to its maintainers"
    )


def _names(entries: list[Applied] | list[MigrationFile]) -> str:
    names = [f"{entry.source or '?'} ({entry.version})" for entry in entries]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
