"""Tokens are counted as tiktoken counts them, by the vocabulary that comes with Jochi, and nothing is fetched."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path

import pytest
import tiktoken
from tests.context_memories import entry, manifest
from typer.testing import CliRunner

from jochi.cli.app import app
from jochi.context import as_json, as_prompt, render
from jochi.errors import JochiError
from jochi.operate.checks_memories import check_tokens
from jochi.text import tokens
from jochi.text.tokens import EXACT_COUNTER, Tiktoken, best_counter, estimate

SPECIAL = "<|endoftext|>"
HOSTILE: list[str] = json.loads(
    (Path(__file__).parents[1] / "memory_files" / "hostile_texts.json").read_text(encoding="utf-8")
)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("somebody wanted to connect")

    monkeypatch.setattr(socket.socket, "connect", refused)


def test_counts_as_tiktoken_itself_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: None) -> None:
    counter = best_counter()
    assert counter.name == EXACT_COUNTER == "tiktoken:o200k_base"
    # tiktoken's own definition of the encoding, from a cache that holds our vocabulary: it checks the hash of what it reads there.
    published = gzip.decompress(tokens.vocabulary_file().read_bytes())
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(published)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    theirs = tiktoken.get_encoding("o200k_base")
    texts = ["", "x", "I'LL don't WE'RE", "1234567 3.14", "a\r\n\r\n  b\t", "x" * 20_000, "\u200d👩‍💻"]
    texts += [SPECIAL, f"say {SPECIAL} loud", "<|endofprompt|>", *HOSTILE]
    assert [counter.count(text) for text in texts] == [
        len(theirs.encode(text, disallowed_special=())) for text in texts
    ]
    assert counter.count(SPECIAL) > 1, "a special token's name is ordinary text in a memory"


def test_text_that_makes_tiktoken_run_out_of_stack() -> None:
    counter = Tiktoken()
    for blank in (" ", "\u3000", "\t"):
        assert counter.count("x" + blank * 1_000_000 + "y") > 100
    longest = 100_000
    around = [counter.count("a " + "\t" * n + " b") for n in (longest - 3, longest - 2, longest, longest + 1)]
    assert max(around) - min(around) <= 3


def test_a_damaged_vocabulary_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tokens.vocabulary_file().read_bytes()
    other = gzip.compress(gzip.decompress(whole)[:-1] + b"9")
    file = tmp_path / "vocabulary.gz"
    monkeypatch.setattr(tokens, "vocabulary_file", lambda: file)
    for data, why in (
        (None, "can't be read"),
        (whole[:5000], "can't be read"),
        (b"<html>", "can't be read"),
        (other, "not the published"),
    ):
        if data is not None:
            file.write_bytes(data)
        with pytest.raises(JochiError, match=why) as caught:
            best_counter()
        assert str(file) in str(caught.value)
        assert "install Jochi again" in str(caught.value)
        with pytest.raises(JochiError):
            check_tokens()


def test_count_says_who_counted(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("hello world", encoding="utf-8")
    assert (
        CliRunner().invoke(app, ["tokens", "count", "-"], input=b"hello world").output
        == f"2 tokens ({EXACT_COUNTER})\n"
    )
    assert '"tokens": 2' in CliRunner().invoke(app, ["tokens", "count", str(text), "--json"]).output
    primed = CliRunner().invoke(app, ["tokens", "prime", "--from", str(text)])
    assert (primed.exit_code, primed.output.count("nothing has to be fetched")) == (0, 1), "scripts call it"


@pytest.mark.parametrize("limit", [400, 2000, 8000])
def test_no_file_of_hostile_texts_is_over_its_limit(limit: int) -> None:
    """220 texts in 65 scripts. An estimate would have let them through: it finds room for all of them where there is none."""
    chosen = manifest([entry(f"default/{n}", text) for n, text in enumerate(HOSTILE)], max_tokens=limit)
    files = {
        "MEMORY.md": render(chosen, "- about me\n", best_counter().count, False).text,
        "JSON": as_json(chosen, best_counter().count, False).text,
        "prompt": as_prompt(chosen, best_counter().count, False).text,
    }
    used = {name: best_counter().count(text) for name, text in files.items()}
    assert all(0.9 * limit <= tokens <= limit for tokens in used.values()), used
    by_estimate = render(chosen, "- about me\n", estimate, False).text
    assert best_counter().count(by_estimate) > limit
