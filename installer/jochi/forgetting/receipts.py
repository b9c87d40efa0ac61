"""Receipts of what was forgotten: what was done, without a word of what it was; each holds the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jochi.database.database import Database
from jochi.database.statements import statement
from jochi.errors import JochiError
from jochi.graph.driver_values import to_python

_TRIES = 20
_PAGE = 200

OUT_OF_REACH = (
    "transaction logs, until they rotate",
    "backups and dumps made before",
    "index files, until their segments merge",
    "the server's query log, where it is switched on",
    "what other systems copied from here",
)
"""What no statement of a database can reach. DESIGN §10."""


@dataclass(frozen=True)
class Receipt:
    """One receipt. ``body``: what it says, JSON types only; ``hash``: SHA-256 in hex over number, previous hash and body."""

    number: int
    at: datetime
    body: Mapping[str, Any]
    hash: str
    previous: str | None

    @property
    def clean(self) -> bool | None:
        """Whether nothing was found afterwards; None where nobody looked."""
        checked = self.body.get("verified")
        return None if checked is None else not checked["found"]


@dataclass(frozen=True)
class Chain:
    """All receipts, and the number of the first that doesn't fit to the one before it; None where all do."""

    receipts: tuple[Receipt, ...]
    broken_at: int | None


def hash_of(number: int, previous: str | None, body: str) -> str:
    """The hash of a receipt."""
    return hashlib.sha256(f"jochi receipt\n{number}\n{previous or ''}\n{body}".encode()).hexdigest()


def body_text(body: Mapping[str, Any]) -> str:
    """What a receipt says as the text that its hash is of."""
    return json.dumps(body, ensure_ascii=False, sort_keys=True)


def append(database: Database, body: Mapping[str, Any], *, runs: Sequence[str], at: datetime) -> Receipt:
    """Writes the next receipt and ends its runs; of two at once one takes the next number."""
    text = body_text(body)
    for _ in range(_TRIES):
        last = database.run(statement("forget/last_receipt"), write=False)[0]
        number, previous = last["number"] + 1, last["hash"]
        made = hash_of(number, previous, text)
        given = {"number": number, "previous": previous, "body": text, "hash": made, "at": at, "runs": list(runs)}
        if database.run(statement("forget/receipt"), given)[0]["appended"]:
            return Receipt(number, at, json.loads(text), made, previous)
    raise JochiError(
        "the receipt could not be written: others write receipts all the time", fix="forget the same again"
    )


def read_chain(database: Database) -> Chain:
    """Every receipt in order, each compared with its own hash and with the one before."""
    found: list[Receipt] = []
    broken: int | None = None
    while True:
        given = {"after": found[-1].number if found else 0, "limit": _PAGE}
        rows = to_python(database.run(statement("forget/receipts"), given, write=False)[0]["receipts"])
        for row in rows:
            before = found[-1] if found else None
            fits = (
                row["number"] == (before.number + 1 if before else 1)
                and row["previous"] == (before.hash if before else None)
                and row["hash"] == hash_of(row["number"], row["previous"], row["body"])
            )
            if not fits and broken is None:
                broken = row["number"]
            found.append(Receipt(row["number"], row["at"], json.loads(row["body"]), row["hash"], row["previous"]))
        if len(rows) < _PAGE:
            return Chain(tuple(found), broken)
