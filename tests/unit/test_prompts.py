"""Prompts as files: the package's own, one of a person's own before it, and what is refused before anybody is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from jochi.errors import UsageError
from jochi.policy import load_policy
from jochi_workers.derive import derivation
from jochi_workers.derive.compress.model_summariser import instructions
from jochi_workers.models.prompt import Prompt

GOOD = "Between {{ fence }}: {{ words }} words."


def test_the_packages_own_tells_fence_and_length(tmp_path: Path) -> None:
    own = instructions()
    assert own == instructions(str(tmp_path)), "a folder without a prompt of this name"
    assert own.filled(words=7).count("{fence}") == 1
    assert "at most 7 words" in own.filled(words=7)


@pytest.mark.parametrize("name", list(load_policy().policy.derive))
def test_every_derivation_tells_a_model_something(name: str) -> None:
    """Whatever the words are called that its prompt is filled with."""
    found = derivation(name)
    assert found.prompt().filled(**found.example)


def test_ones_own_goes_before_it_and_its_version_is_its_text(tmp_path: Path) -> None:
    seen = set()
    for text in (GOOD, GOOD + "!"):
        (tmp_path / "compress.md.j2").write_text(text)
        told = instructions(str(tmp_path))
        assert told.filled(words=3).startswith("Between {fence}: 3 words.")
        seen.add(told.version)
    assert len(seen | {instructions().version}) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{{ words }} words", "where memories begin"),
        (b"{{ fence }\n", "can't be read: .*"),
        (b"{{ fence }} {{ secret }}", "can't be filled: 'secret' is undefined"),
        (b"{{ fence }} {{ ''.__class__.__mro__ }}", "unsafe"),
        (b"{{ fence }} {{ words / 0 }}", "can't be filled: division"),
        (b"{{ fence }} \xff", "UTF-8"),
        (b"{{ fence }}" + b"x" * 20_000, "at most 20,000 bytes"),
    ],
)
def test_what_is_refused_before_anybody_is_asked(tmp_path: Path, text: bytes, said: str) -> None:
    (tmp_path / "compress.md.j2").write_bytes(text)
    with pytest.raises(UsageError, match=said):
        instructions(str(tmp_path))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        instructions(str(tmp_path / "away"))


def test_a_memory_is_no_template() -> None:
    assert Prompt(GOOD, "x").filled(words="{{ 6 * 7 }}") == "Between {fence}: {{ 6 * 7 }} words."
