"""What the templates check and what a line of an import checks is the same."""

from __future__ import annotations

import typing

from jochi.importing.line import Instant, MemoryLine
from jochi.ownership import ENGINE_OWNED
from jochi.properties import CHOICES, COUNTED, DEADLINES, FLAGS, NOT_REMEMBERED, SHARES, TEXTS, is_moment

FIELDS = {name: str(typing.get_type_hints(MemoryLine, include_extras=True)[name]) for name in MemoryLine.model_fields}


def test_the_types_of_an_import_line_are_those_of_remember() -> None:
    assert set(FIELDS) >= SHARES | FLAGS | (TEXTS - {"ttl_policy"}) | set(CHOICES)
    assert {name for name in FIELDS if FIELDS[name].startswith("bool")} | {
        name for name, hint in FIELDS.items() if "bool |" in hint or "[bool]" in hint
    } == FLAGS
    assert all(all(repr(word) in FIELDS[name] for word in words) for name, words in CHOICES.items())
    assert all("ge=0" in FIELDS[name].lower() for name in SHARES)


def test_moments_are_named_so() -> None:
    moments = {name for name, hint in FIELDS.items() if "datetime.datetime" in hint}
    assert moments
    assert all(name.endswith("_at") for name in moments)
    assert all(is_moment(name) for name in DEADLINES - {"valid_from"})
    assert "datetime" in str(Instant)


def test_what_remember_refuses() -> None:
    assert set(NOT_REMEMBERED) == ENGINE_OWNED | COUNTED
    assert {"curation_lock", "purge_started_at", "enrolled_run", "work_error"} < set(NOT_REMEMBERED)
    assert "agents" not in NOT_REMEMBERED
