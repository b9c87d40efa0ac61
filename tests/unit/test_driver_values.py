"""What callers give: keys of memories."""

from __future__ import annotations

import pytest

from jochi.errors import UsageError
from jochi.graph.driver_values import keys_of


def test_keys_are_a_list_of_some() -> None:
    assert keys_of(("s/a", "s/b"), where="restore") == ["s/a", "s/b"]
    with pytest.raises(UsageError, match=r"not one text") as one:
        keys_of("s/a", where="restore")
    assert "['s/a']" in str(one.value.fix)
    with pytest.raises(UsageError, match="no memory named"):
        keys_of([], where="restore")
