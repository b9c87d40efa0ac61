"""Seals and receipts as a file: what outlives a restored backup and an uninstall (docs/how-to/backup-and-restore.md).

It holds what the database holds of what was forgotten: keyed hashes, and receipts without a word of it. Who hasn't the key can
tell nothing by it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import Refused, UsageError
from jochi.files import read_text, write_atomically
from jochi.forgetting.checker import own_key, read_gate
from jochi.forgetting.forget_key import ForgetKey, read_key
from jochi.forgetting.receipts import append, body_text, hash_of, read_chain
from jochi.graph.driver_values import to_python

_PAGE = 1_000
_FORMAT = 2
"""Files of format 1 are read as well: their seals are of the first reading (`jochi.forgetting.words.READING`)."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExportedSeal(_Part):
    """A keyed hash, as `jochi.forgetting.checker.Seal`; ``at``: when it was made."""

    hash: str
    words: int
    at: datetime
    of: str | None = None
    reading: int | None = None


class ExportedReceipt(_Part):
    """A receipt with its body as the text that the hash is of."""

    number: int
    at: datetime
    body: str
    hash: str
    previous: str | None = None


class Export(_Part):
    """What a file holds. ``key_id``: of the key that made the seals; None where nothing was ever forgotten. ``kinds``: of the
    sealed canonical forms (`jochi.text.forms`)."""

    format: int = _FORMAT
    key_id: str | None
    kinds: tuple[str, ...]
    seals: tuple[ExportedSeal, ...]
    receipts: tuple[ExportedReceipt, ...]

    def bodies(self) -> list[dict[str, Any]]:
        """What the receipts say."""
        return [json.loads(each.body) for each in self.receipts]

    @property
    def lengths(self) -> tuple[str, ...]:
        """Of the sealed phrases, in words, as `jochi.forgetting.checker.Gate` has them."""
        found = {(seal.reading, seal.words) for seal in self.seals if seal.words}
        return tuple(sorted(str(words) if reading is None else f"{reading}/{words}" for reading, words in found))


@dataclass(frozen=True)
class ImportSummary:
    """How many seals and receipts were new. ``apart``: how many receipts of the file can't go into the chain of the database,
    as it has others with these numbers; a receipt of their own says so, with the hash of the file's last."""

    seals: int
    receipts: int
    apart: int = 0


def collect_export(database: Database) -> Export:
    """Everything that the database has now."""
    gate = read_gate(database)
    seals: list[ExportedSeal] = []
    if gate.version == 0:  # nothing was ever forgotten, or Jochi isn't here, and its indexes aren't either
        return Export(key_id=None, kinds=(), seals=(), receipts=())
    while True:
        given = {"after": seals[-1].hash if seals else "", "limit": _PAGE}
        page = to_python(database.run(statement("forget/seals"), given, write=False)[0]["seals"])
        seals += [ExportedSeal(**row) for row in page]
        if len(page) < _PAGE:
            break
    receipts = [
        ExportedReceipt(
            number=each.number, at=each.at, body=body_text(each.body), hash=each.hash, previous=each.previous
        )
        for each in read_chain(database).receipts
    ]
    return Export(key_id=gate.key_id, kinds=gate.kinds, seals=tuple(seals), receipts=tuple(receipts))


def write_export(path: Path, export: Export) -> None:
    """Writes the file, whole or not at all."""
    write_atomically(path, export.model_dump_json(indent=1) + "\n")


def read_export(path: Path) -> Export:
    """What a file holds; `UsageError` for one that isn't of `write_export`, or was changed since."""
    text = read_text(path)
    if text is None:
        raise UsageError("there is no such file", where=str(path), fix="`jochi receipts export FILE` writes one")
    not_ours = "`jochi receipts export FILE` writes such a file: take that one, as it was written"
    try:
        export = Export.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"this is no file of seals and receipts: {place + ': ' if place else ''}{first['msg']}",
            where=str(path),
            fix=not_ours,
        ) from None
    if not 1 <= export.format <= _FORMAT:
        raise UsageError(
            f"its format is {export.format}, and this Jochi reads 1 to {_FORMAT}", where=str(path), fix="upgrade Jochi"
        )
    before: str | None = None
    for number, each in enumerate(export.receipts, 1):
        if each.number != number or each.previous != before or each.hash != hash_of(number, before, each.body):
            raise UsageError(f"its receipt {number} was changed, or one is missing", where=str(path), fix=not_ours)
        before = each.hash
    if export.seals and export.key_id is None:
        raise UsageError("its seals name no key", where=str(path), fix=not_ours)
    return export


def key_of(database: Database, export: Export) -> ForgetKey | None:
    """This machine's key, which must be that of the file and of the database; None where the file has no seals.

    `Refused` where it is another one, or isn't here: nothing could be recognised.
    """
    key = own_key(database, read_gate(database))
    if export.key_id is None:
        return None
    key = key or read_key()
    if key is None or key.id != export.key_id:
        raise Refused(
            f"the seals of the file were made with the key {export.key_id}, and "
            + ("there is none here" if key is None else f"the one here is {key.id}"),
            where=f"database {database.name}",
            fix="copy that key's file here, or name it with JOCHI_FORGET_KEY_FILE",
        )
    return key


def import_export(database: Database, export: Export, *, at: datetime, by: str) -> ImportSummary:
    """Brings seals and receipts back that the database hasn't. Idempotent; what it has stays.

    `Refused` where the seals of the database were made with another key.
    """
    key_of(database, export)
    added = 0
    for begin in range(0, max(len(export.seals), len(export.receipts[:1])), _PAGE):
        part = export.seals[begin : begin + _PAGE]
        rows = [seal.model_dump() for seal in part]
        given = {"key_id": export.key_id, "seals": rows, "kinds": list(export.kinds)}
        row = database.run(statement("forget/import_seals"), given)[0]
        if row["foreign"]:
            raise Refused(
                "another client has just forgotten the first value in this database, with a key of its own",
                where=f"database {database.name}",
                fix="copy that key's file here, and import again",
            )
        added += row["added"]
    receipts, apart = _import_receipts(database, export.receipts, at, by)
    return ImportSummary(added, receipts, apart)


def _import_receipts(database: Database, receipts: Sequence[ExportedReceipt], at: datetime, by: str) -> tuple[int, int]:
    """How many went into the chain, and how many can't."""
    there = read_chain(database).receipts
    common = 0
    while common < min(len(there), len(receipts)) and there[common].hash == receipts[common].hash:
        common += 1
    missing = receipts[common:]
    if not missing or common < len(there):
        return 0, _note_apart(database, missing, at, by)
    for done, each in enumerate(missing):
        given: dict[str, Any] = {**each.model_dump(), "runs": []}
        if not database.run(statement("forget/receipt"), given)[0]["appended"]:
            return done, _note_apart(database, missing[done:], at, by)
    return len(missing), 0


def _note_apart(database: Database, receipts: Sequence[ExportedReceipt], at: datetime, by: str) -> int:
    """Has a receipt say that there are others, elsewhere; once."""
    if not receipts:
        return 0
    body = {"form": "imported", "by": by, "counts": {}, "receipts": len(receipts), "last": receipts[-1].hash}
    noted = {(each.body.get("form"), each.body.get("last")) for each in read_chain(database).receipts}
    if ("imported", receipts[-1].hash) not in noted:
        append(database, body, runs=[], at=at)
    return len(receipts)
