"""Names that changed still work under their old ones, with a warning."""

from __future__ import annotations

from importlib import import_module

import pytest

from jochi import Jochi
from jochi.deprecation import METHODS, RENAMED


@pytest.mark.parametrize("module", sorted(RENAMED))
def test_an_old_name_is_the_new_one_with_a_warning(module: str) -> None:
    home = import_module(module)
    for old, new in RENAMED[module].items():
        with pytest.warns(DeprecationWarning, match=f"{module}.{old} is {module}.{new} now"):
            assert getattr(home, old) is getattr(home, new)
        assert old not in vars(home), "it has both names"


@pytest.mark.parametrize("module", sorted(RENAMED))
def test_what_never_was_there_is_no_alias(module: str) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        import_module(module).nothing  # noqa: B018


def test_an_old_method_is_the_new_one_with_a_warning() -> None:
    client = object.__new__(Jochi)
    for old, new in METHODS.items():
        with pytest.warns(DeprecationWarning, match=f"Jochi.{old} is {new} now"):
            assert getattr(client, old) == getattr(client, new)
    with pytest.raises(AttributeError, match="'Jochi' object has no attribute 'nothing'"):
        client.nothing  # noqa: B018
