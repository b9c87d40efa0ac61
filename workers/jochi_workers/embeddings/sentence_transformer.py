"""Any sentence-transformers model that is on this machine (or, if allowed, on the hub)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jochi_workers.embeddings.protocol import ProviderUnusable, TextsRefused, TextVector, packages
from jochi_workers.embeddings.vectors import normalised

EXTRA = "pip install sentence-transformers"
_PROVIDER = "provider sentence-transformers"
# As many characters as can matter: no tokenizer makes one token out of more than some hundred.
_CHARACTERS_PER_TOKEN = 100


class SentenceTransformers:
    """``model`` is a folder or a name; ``stored_as`` is what `embedding_model` says (default: the name, a folder's last part).

    ``download``: may fetch a model that isn't here; without it nothing leaves this machine. ``device``: cpu, cuda, mps
    (default: what the library finds).
    """

    def __init__(
        self,
        model: str,
        *,
        stored_as: str | None = None,
        download: bool = False,
        device: str | None = None,
        batch: int = 32,
    ) -> None:
        (library,) = packages(["sentence_transformers"], where=_PROVIDER, fix=EXTRA)
        folder = Path(model).expanduser()
        is_folder = folder.is_dir()
        self.model = stored_as or (folder.resolve().name if is_folder else model)
        self._batch = batch
        try:
            self._model: Any = library.SentenceTransformer(
                str(folder) if is_folder else model, device=device, local_files_only=not download
            )
        except (OSError, ValueError) as error:
            raise ProviderUnusable(
                f"the model {model!r} can't be loaded: {(str(error).splitlines() or [type(error).__name__])[0]}",
                where=_PROVIDER,
                fix="name a folder that holds it, or allow the download (download=True, `--download`)",
            ) from error
        # Renamed in the library's version 5; both are asked for, since the user's version is the user's.
        ask = getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        self.dimensions = ask()
        if not isinstance(self.dimensions, int):
            raise ProviderUnusable(f"the model {model!r} doesn't say how long its vectors are", where=_PROVIDER)

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        """One vector of length 1 a text. What the library throws about a batch is `TextsRefused`: fewer texts may do."""
        if self._model is None:
            raise ProviderUnusable("this provider is closed", where=_PROVIDER)
        given = list(texts)
        if not given:
            return []
        try:
            rows = self._model.encode(
                given,
                batch_size=self._batch,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
            vectors = [[float(value) for value in row] for row in rows]
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            # torch's "out of memory" is a RuntimeError too. No words of it: a message may quote the text.
            raise TextsRefused(f"the model threw {type(error).__name__}", where=_PROVIDER) from error
        if len(vectors) != len(given):
            raise TextsRefused(f"{len(vectors)} vectors for {len(given)} texts", where=_PROVIDER)
        read = [self._read(text) for text in given]
        return [TextVector(normalised(vector), *facts) for vector, facts in zip(vectors, read, strict=True)]

    def close(self) -> None:
        """Lets the model go."""
        self._model = None

    def _read(self, text: str) -> tuple[float | None, bool]:
        """(share of unknown tokens or None, truncated). None where the tokenizer has no unknown token, or is of another make."""
        tokenizer = getattr(self._model, "tokenizer", None)
        longest = getattr(self._model, "max_seq_length", None)
        convert = getattr(tokenizer, "num_special_tokens_to_add", None)
        if not callable(tokenizer) or convert is None:
            return None, False
        room = None if longest is None else max(0, int(longest) - int(convert()))
        readable = text if room is None else text[: max(1, room) * _CHARACTERS_PER_TOKEN]
        ids = list(tokenizer(readable, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])
        truncated = len(readable) < len(text) or (room is not None and len(ids) > room)
        unknown = getattr(tokenizer, "unk_token_id", None)
        if unknown is None:
            return None, truncated
        seen = ids[:room]
        return (seen.count(unknown) / len(seen) if seen else 1.0), truncated
