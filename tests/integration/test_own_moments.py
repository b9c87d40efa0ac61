"""Moments that an app doesn't keep as zoned datetimes, converted in place with guards (policy, `as`)."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import Any

import jinja2
import pytest

from jochi import Jochi
from jochi.compile.quoting import identifier, literal
from jochi.database.statements import procedures_folder
from jochi.graph.driver_values import to_python
from jochi.policy.mapping import Source

pytestmark = pytest.mark.server

UTC = timezone.utc
FIRST = datetime(1990, 1, 1, tzinfo=UTC)
LOCAL = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001
ZONED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
MS, S = 1_767_323_045_000, 1_767_323_045


@pytest.mark.parametrize(
    ("conversion", "value", "wanted"),
    [
        ("epoch_ms", MS, ZONED),
        ("epoch_ms", 631_152_000_000, FIRST),
        ("epoch_ms", 631_151_999_999, 631_151_999_999),
        ("epoch_ms", S, S),
        ("epoch_ms", 253_402_300_799_999, datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
        ("epoch_ms", 253_402_300_800_000, 253_402_300_800_000),
        ("epoch_ms", 2**63 - 1, 2**63 - 1),
        ("epoch_ms", float(MS), float(MS)),
        ("epoch_ms", str(MS), str(MS)),
        ("epoch_ms", ZONED, ZONED),
        ("epoch_ms", LOCAL, LOCAL),
        ("epoch_ms", None, None),
        ("epoch_s", S, ZONED),
        ("epoch_s", 631_151_999, 631_151_999),
        ("epoch_s", MS, MS),
        ("local_utc", LOCAL, ZONED),
        ("local_utc", datetime(1989, 12, 31), datetime(1989, 12, 31)),  # noqa: DTZ001
        ("local_utc", date(2026, 1, 2), date(2026, 1, 2)),
        ("local_utc", MS, MS),
        ("local_utc", True, True),
    ],
)
def test_what_has_the_type_it_should_have_is_converted_and_nothing_else(
    jochi: Jochi, conversion: str, value: Any, wanted: Any
) -> None:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(procedures_folder()), autoescape=False)
    environment.filters.update({"identifier": identifier, "literal": literal})
    macro = environment.from_string(
        "{% from '_macros/values/properties.j2' import prop %}{{ prop(names, 'created_at', node='m') }}"
    )
    text = macro.render(names={"created_at": (Source(None, "opened", conversion),)})  # type: ignore[arg-type]
    (row,) = jochi.database.run(f"WITH {{opened: $value}} AS m RETURN {text} AS seen", {"value": value}, write=False)
    seen = to_python(row["seen"])
    assert (seen, type(seen)) == (wanted, type(wanted))
