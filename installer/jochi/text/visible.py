"""What a person sees of a text that comes from anywhere."""

from __future__ import annotations

import re


def visible(text: str) -> str:
    """``text`` without what is invisible and could mislead; half of a surrogate pair is U+FFFD.

    Gone are control characters, marks of direction, tags and other characters that nobody sees and no script needs. Blanks and
    the ends of lines stay.
    """
    return _INVISIBLE.sub("", whole(text))


def whole(text: str) -> str:
    """``text`` with U+FFFD for each half of a surrogate pair: what can be sent as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


_SURROGATES = re.compile("[\ud800-\udfff]")
# Blanks among the control characters separate words and are left to `split`. Joiners and variation selectors spell words and
# emoji. Tags and the further selectors can hide whole sentences from a person, so the flags that they also spell are given up.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
