"""Many patterns looked for in one pass, in time that grows with the text whatever the patterns are: RE2 never goes back."""

from __future__ import annotations

from collections.abc import Sequence

import re2

_LETTER = r"\p{L}\p{M}\p{N}_"
_FOLDED = str.maketrans("’‘ʼ＇", "''''")


def compile_patterns(patterns: Sequence[str]) -> re2.Set:
    """The patterns as one automaton, each between words: RE2's own `\\b` knows ASCII only. `ValueError` says which is none."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = 64 << 20
    found = re2.Set.SearchSet(options)
    for pattern in patterns:
        try:
            found.Add(f"(?:^|[^{_LETTER}])(?:{pattern})(?:[^{_LETTER}]|$)")
        except re2.error as error:
            raise ValueError(f"{pattern!r} is no pattern as RE2 has them: {_message(error)}") from None
    if patterns:
        found.Compile()
    return found


def match_patterns(patterns: re2.Set, text: str) -> list[int]:
    """Numbers of the patterns that ``text`` has, in order. Typographic apostrophes count as plain ones."""
    return sorted(patterns.Match(text.translate(_FOLDED).encode("utf-8", "replace").decode()) or ())


def _message(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode() if isinstance(reason, bytes) else str(reason)
