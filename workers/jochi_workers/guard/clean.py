"""A text without what nobody sees and what only looks different."""

from __future__ import annotations

import re
import unicodedata

_SAME = {
    **dict.fromkeys("“”„‟«»＂″", '"'),
    **dict.fromkeys("‘’‚‛‹›ʼ′´`＇", "'"),
    **dict.fromkeys("‐‑−﹣－", "-"),
    **dict.fromkeys("–—―", "–"),
    "…": " … ",
    **dict.fromkeys("¿¡", " "),
    "\u200b": " ",
    "×": "x",
}
_NARROW = re.compile(r"(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))")
_SPLIT_ELLIPSIS = re.compile(r"\.{3,}")
_FRACTION = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4"}


class _Seen(dict[int, str]):
    """Code point to what stands for it; filled as characters are met, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if character in _SAME:
            found = _SAME[character]
        elif character in _FRACTION:
            found = f" {_FRACTION[character]} "
        elif category in ("Cf", "Cc", "Cs") and not character.isspace():
            found = "" if category == "Cf" else " "
        elif 0xFE00 <= code <= 0xFE0F or code == 0x034F:
            found = ""
        elif unicodedata.decomposition(character).startswith(("<wide>", "<narrow>")) or 0xFB00 <= code <= 0xFB06:
            found = unicodedata.normalize("NFKC", character)
        else:
            found = character
        self[code] = found
        return found


_SEEN = _Seen()


def clean(text: str) -> str:
    """Composed (NFC), one kind of quotation mark, apostrophe, hyphen and minus; no invisible characters, no lone surrogates."""
    text = _NARROW.sub("", text)
    text = unicodedata.normalize("NFC", text).translate(_SEEN)
    return _SPLIT_ELLIPSIS.sub(" … ", text)
