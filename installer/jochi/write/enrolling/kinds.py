"""The kind of a label: what the installed policy says of it, or the TOML that would add it, guessed from its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jochi.compile.rendering import render_for_label
from jochi.database.database import Database
from jochi.database.engine import NOT_INSTALLED, Engine
from jochi.errors import Refused, UsageError
from jochi.graph.catalogue import WRITTEN
from jochi.policy import LoadedPolicy, stored_policy
from jochi.policy.mapping import identifier
from jochi.policy.model import PROTECTED_KINDS, RESERVED_LABEL, Kind

SAMPLE_HALF = 500
_CONTENT = ("content", "text", "body", "description", "message", "summary", "note", "title", "name")
_CREATED = (
    *("created_at", "created", "createdAt", "created_on", "date_created", "creation_date"),
    *("opened_at", "opened_on", "opened", "inserted_at", "timestamp", "date"),
)
_SCOPE = ("scope", "tenant", "tenant_id", "user_id", "customer", "customer_id", "account", "org", "workspace")
_ID = ("id", "uid", "uuid", "key", "number", "no")


def kind_of(engine: Engine, label: str) -> tuple[LoadedPolicy, Kind]:
    """The installed policy and its kind for ``label``.

    `UsageError` for a label that can't be enrolled or that the policy doesn't have (the message holds the TOML that would
    add it); `Refused` where nothing is installed.
    """
    try:
        identifier(label)
    except ValueError as error:
        raise UsageError(f"the label {error}") from None
    if label in PROTECTED_KINDS or RESERVED_LABEL.fullmatch(label):
        raise UsageError(f"the label {label} is protected and can't be enrolled")
    text = engine.state().policy_text
    where = f"database {engine.database.name}"
    if text is None:
        raise Refused("jochi is not installed", where=where, fix=NOT_INSTALLED)
    policy = stored_policy(text)
    kind = policy.policy.labels().get(label)
    if kind is None:
        guess = guessed_kind(engine.database, label)
        raise UsageError(
            f"the policy has no kind for the label {label}",
            where=where,
            fix=f"add this to your policy file, correct it, and run `jochi --policy FILE install`:\n\n{guess}",
        )
    return policy, kind


def guessed_kind(database: Database, label: str) -> str:
    """TOML for ``label``, from at most a thousand of its nodes; comments say what is a guess."""
    row = database.run(render_for_label("enrol/sample", label), {"half": SAMPLE_HALF}, write=False)[0]
    if not row["sampled"]:
        return f'# no node carries the label {label}\n[kinds.{label}]\nclass = "60min"\n'
    found = {p["name"]: p for p in row["properties"] if p["name"] not in WRITTEN or p["name"] == "key"}
    guesses = {
        "id": _guess_id(label, found, row["sampled"]),
        "scope": _first(found, _SCOPE, "STRING", "INTEGER"),
        "content": _first(found, _CONTENT, "STRING") or _longest_text(found),
        "created_at": next((name for name in _CREATED if name in found and _is_moment(found[name])), None),
    }
    entries = []
    notes = [f"# guessed from {row['sampled']:,} of {row['nodes']:,} nodes"]
    for name, own in guesses.items():
        if own is None:
            notes.append(
                f"# {name}: nothing fits" + ("; everything goes to the scope 'default'" if name == "scope" else "")
            )
            continue
        entry = _entry(name, own, found[own])
        if entry:
            entries.append(entry)
    lines = [*notes, f"[kinds.{label}]", 'class = "60min"']
    if entries:
        lines.append("properties = { " + ", ".join(entries) + " }")
    lines.append("# properties seen: " + ", ".join(f"{p['name']} ({_types(p)}{_reading(p)})" for p in found.values()))
    return "\n".join(lines) + "\n"


def _types(found: Mapping[str, Any]) -> str:
    return " or ".join(type.removesuffix(" NOT NULL").lower() for type in found["types"])


def _conversion(found: Mapping[str, Any]) -> str | None:
    """The `as` that reads the most of its values; None where none reads any."""
    read = max(found["readable"], key=found["readable"].__getitem__)
    return str(read) if found["readable"][read] else None


def _reading(found: Mapping[str, Any]) -> str:
    conversion = _conversion(found)
    return f', as = "{conversion}"' if conversion else ""


def _is_moment(found: Mapping[str, Any]) -> bool:
    return _has(found, "ZONED DATETIME") or _conversion(found) is not None


def _has(found: Mapping[str, Any], *types: str) -> bool:
    return any(type.removesuffix(" NOT NULL") in types for type in found["types"])


def _first(found: Mapping[str, Any], names: tuple[str, ...], *types: str) -> str | None:
    return next((name for name in names if name in found and _has(found[name], *types)), None)


def _guess_id(label: str, found: Mapping[str, Any], sampled: int) -> str | None:
    """The property that is there on every node and differs on each; names that say id first."""
    unique = [
        name
        for name, p in found.items()
        if p["n"] == p["distinct"] == sampled and _has(p, "STRING", "INTEGER") and p["longest"] <= 200
    ]
    wanted = [*_ID, *(f"{label.lower()}_{name}" for name in _ID), *(f"{label.lower()}{name.title()}" for name in _ID)]
    return next((name for name in wanted if name in unique), unique[0] if unique else None)


def _longest_text(found: Mapping[str, Any]) -> str | None:
    texts = sorted((p["longest"], name) for name, p in found.items() if _has(p, "STRING"))
    return texts[-1][1] if texts else None


def mapped_moment(name: str, own: str, conversion: str) -> str:
    """The entry of `properties` that has a moment read, as TOML."""
    return f'{name} = {{ property = "{own}", as = "{conversion}" }}'


def _entry(name: str, own: str, found: Mapping[str, Any]) -> str | None:
    if name == "created_at" and not _has(found, "ZONED DATETIME"):
        return mapped_moment(name, own, str(_conversion(found)))
    return None if own == name else f'{name} = "{own}"'
