"""How many tokens a text has: counted exactly where a vocabulary is at hand, else estimated and marked as an estimate."""

from __future__ import annotations

import base64
import logging
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jochi.errors import JochiError
from jochi.extras import extra_named
from jochi.text.vocabulary import ENCODING, read_vocabulary, vocabulary_file

if TYPE_CHECKING:
    import tiktoken

_log = logging.getLogger(__name__)

ESTIMATE_COUNTER = "estimate:chars/4"
"""What stands in `token_counter` beside an estimate."""

EXACT_COUNTER = f"tiktoken:{ENCODING}"
"""What stands in `token_counter` beside a count by `Tiktoken`."""


class TokenCounter(Protocol):
    """Counts a text's tokens. ``name`` is stored beside the count, in `token_counter`."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int:
        """The tokens of ``text``: 0 for the empty text, at least 1 for any other."""


def estimate(text: str) -> int:
    """Characters divided by four, rounded up: at least 1 for any text, 0 for none."""
    return -(-len(text) // 4)


class Estimate:
    """The counter that needs no vocabulary."""

    name = ESTIMATE_COUNTER

    def count(self, text: str) -> int:
        return estimate(text)


class Tiktoken:
    """Counts as OpenAI's o200k_base does, from the vocabulary in ``file`` (default: `vocabulary_file()`).

    Texts such as `<|endoftext|>` are ordinary text here: a memory may speak of them. `JochiError` if the file isn't there
    or isn't the published one, or if tiktoken is not installed.
    """

    name = EXACT_COUNTER

    def __init__(self, file: Path | None = None) -> None:
        self._encoding = _encoding(file or vocabulary_file())

    def count(self, text: str) -> int:
        try:
            return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            # tiktoken's matcher has run out of stack. What Rust raises there is no Exception and would end the worker.
            raise JochiError("tiktoken can't count this text") from None


def best_counter() -> TokenCounter:
    """`Tiktoken` where it is installed and its vocabulary is in the cache, else `Estimate`. Fetches nothing."""
    file = vocabulary_file()
    if not file.is_file():
        return Estimate()
    try:
        return Tiktoken(file)
    except JochiError as error:
        _log.warning("tokens are estimated: %s", error)
        return Estimate()


# White space of half a million characters in a row makes tiktoken's matcher run out of stack; a cut within such a run
# adds a token at most.
_LONGEST_BLANK = 100_000
_BLANKS = re.compile(rf"\s{{{_LONGEST_BLANK}}}")


def _pieces(text: str) -> list[str]:
    if len(text) <= _LONGEST_BLANK:
        return [text]
    cuts = [0, *(blank.end() for blank in _BLANKS.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


def _encoding(file: Path) -> tiktoken.Encoding:
    try:
        state = file.stat()
    except OSError as error:
        raise JochiError(
            f"the vocabulary can't be read: {error.strerror}", where=str(file), fix="run `jochi tokens prime`"
        ) from None
    return _loaded(file, state.st_mtime_ns, state.st_size)


@cache
def _loaded(file: Path, _changed: int, _size: int) -> tiktoken.Encoding:
    """The encoding of one state of the file: built here, so that tiktoken neither looks for the file nor fetches it."""
    with extra_named():
        import tiktoken
    lines = (line.split() for line in read_vocabulary(file).splitlines())
    return tiktoken.Encoding(
        name=ENCODING,
        pat_str=_WORDS,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    )


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
