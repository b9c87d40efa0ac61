"""Speech as it was written down, without the sounds that say nothing."""

from __future__ import annotations

import re

# "um" and "er" are words in other languages.
_ANYWHERE = r"u+h+|u+h+m+|u+mm+|e+r+m+|ä+h+m*|e+uh+|h+m+|m+h+m*|hä+"
_IN_ENGLISH = rf"{_ANYWHERE}|um|er"
_ENGLISH = re.compile(r"\b(?:the|and|you|that|is|was|we|it|I|I'm|of|to)\b")


def _fillers(words: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?<=[,;])\s*)?(?<![\w'-])(?:{words})(?![\w'-])(?:\s*[,…]|\s*\.{{2,}})?[ \t]*", re.IGNORECASE
    )


_ANY, _ALL = _fillers(_ANYWHERE), _fillers(_IN_ENGLISH)


def remove_fillers(text: str) -> str:
    """``text`` without um, uh, hmm, äh, euh; as it is where there are none, and where it says nothing else."""
    left, fillers = (_ALL if _ENGLISH.search(text) else _ANY).subn(" ", text)
    if not fillers:
        return text
    left = re.sub(r"[ \t]+([,.;:!?…])", r"\1", re.sub(r"[ \t]{2,}", " ", left)).strip(" \t,")
    return left if any(each.isalnum() for each in left) else text
