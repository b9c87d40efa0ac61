"""The sentence-transformers provider, against a stand-in that has the part of the library's surface which it uses.

The library itself needs torch and isn't installed for the tests.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from jochi_workers.embeddings import ProviderUnusable, TextsRefused, provider
from jochi_workers.embeddings.sentence_transformer import SentenceTransformers

UNKNOWN = 7


class Tokenizer:
    """Words; `?` is the unknown one. Two special tokens, as BERT has."""

    unk_token_id: int | None = UNKNOWN

    def num_special_tokens_to_add(self) -> int:
        return 2

    def __call__(self, text: str, *, add_special_tokens: bool, truncation: bool, verbose: bool) -> dict[str, list[int]]:
        assert (add_special_tokens, truncation, verbose) == (False, False, False)
        return {"input_ids": [UNKNOWN if word == "?" else 1 for word in text.split()]}


class SentenceTransformer:
    """The library's class, as far as we call it."""

    made: ClassVar[list[dict[str, Any]]] = []
    most = 100

    def __init__(self, name: str, *, device: str | None = None, local_files_only: bool = False) -> None:
        if "missing" in name:
            raise OSError(f"{name} isn't there\nand a long story")
        self.made.append({"name": name, "device": device, "local_files_only": local_files_only})
        self.tokenizer: Any = Tokenizer()
        self.max_seq_length: int | None = 6

    def get_sentence_embedding_dimension(self) -> int | None:
        return 3

    def encode(self, texts: Sequence[str], **options: Any) -> list[list[float]]:
        assert options == {
            "batch_size": 32,
            "normalize_embeddings": True,
            "convert_to_numpy": True,
            "show_progress_bar": False,
        }
        if len(texts) > self.most:
            raise RuntimeError(f"CUDA out of memory at {texts[0]}")
        return [[float(len(text)), 3.0, 4.0] for text in texts]


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> type[SentenceTransformer]:
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(SentenceTransformer, "made", [])
    monkeypatch.setattr(SentenceTransformer, "most", 100)
    return SentenceTransformer


def test_vectors_of_length_one_and_what_was_read() -> None:
    made = SentenceTransformers("org/model")
    results = made.embed(["one ?", "", "a b c d", "a b c d ?", "? ? ? ? a"])
    assert [result.unknown_share for result in results] == [0.5, 1.0, 0.0, 0.0, 1.0]
    assert [result.truncated for result in results] == [False, False, False, True, True]
    assert all(math.isclose(math.hypot(*result.vector), 1) for result in results)
    assert results[0].vector == pytest.approx([5 / math.sqrt(50), 3 / math.sqrt(50), 4 / math.sqrt(50)])
    assert made.embed([]) == []


def test_nothing_is_downloaded_unless_allowed(library: type[SentenceTransformer]) -> None:
    SentenceTransformers("org/model")
    provider("sentence-transformers", model="org/model", download=True, device="cpu")
    assert [made["local_files_only"] for made in library.made] == [True, False]
    assert [made["device"] for made in library.made] == [None, "cpu"]


def test_a_folder_is_stored_under_its_own_name_not_its_path(tmp_path: Path, library: type[SentenceTransformer]) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    assert SentenceTransformers(str(folder)).model == "my-model"
    assert library.made[0]["name"] == str(folder)
    assert SentenceTransformers(str(folder), stored_as="v2").model == "v2"
    assert SentenceTransformers("org/model").model == "org/model"
    assert SentenceTransformers("org/model").dimensions == 3


def test_a_newer_version_names_the_dimension_otherwise(
    monkeypatch: pytest.MonkeyPatch, library: type[SentenceTransformer]
) -> None:
    monkeypatch.delattr(library, "get_sentence_embedding_dimension")
    monkeypatch.setattr(library, "get_embedding_dimension", lambda self: 3, raising=False)
    assert SentenceTransformers("m").dimensions == 3
    monkeypatch.setattr(library, "get_embedding_dimension", lambda self: None)
    with pytest.raises(ProviderUnusable, match="how long"):
        SentenceTransformers("m")


def test_a_batch_that_is_too_large_is_refused_without_quoting_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SentenceTransformers("m")
    monkeypatch.setattr(SentenceTransformer, "most", 1)
    with pytest.raises(TextsRefused, match="RuntimeError") as refused:
        made.embed(["private words", "b"])
    assert "private" not in str(refused.value)
    assert len(made.embed(["a"])) == 1


@pytest.mark.parametrize("change", ["no tokenizer", "another tokenizer", "no unknown token", "no longest"])
def test_tokenizers_of_other_makes(change: str) -> None:
    made = SentenceTransformers("m")
    inner = made._model
    if change == "no tokenizer":
        inner.tokenizer = None
    elif change == "another tokenizer":
        inner.tokenizer = lambda text: text
    elif change == "no unknown token":
        inner.tokenizer.unk_token_id = None
    else:
        inner.max_seq_length = None
    result = made.embed(["? a b c d e f"])[0]
    assert result.unknown_share == (pytest.approx(1 / 7) if change == "no longest" else None)
    assert result.truncated is (change == "no unknown token")


def test_a_model_that_is_not_here() -> None:
    with pytest.raises(ProviderUnusable, match="isn't there") as missing:
        SentenceTransformers("org/missing")
    assert "long story" not in str(missing.value)
    assert "--download" in (missing.value.fix or "")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ProviderUnusable, match="sentence_transformers") as missing:
        SentenceTransformers("m")
    assert missing.value.fix == "pip install sentence-transformers"


def test_closed() -> None:
    made = SentenceTransformers("m")
    made.close()
    with pytest.raises(ProviderUnusable, match="closed"):
        made.embed(["a"])
