"""Names of files: safe on every file system, whatever they are made of."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from jochi.text.visible import visible

LONGEST = 80
"""Bytes of a name in UTF-8, without its ending and what tells it from others."""

APART = "~"
"""Stands before what tells a name from others like it. No name holds one."""


def safe_name(text: str, otherwise: str) -> str:
    """A name in letters, marks and digits of any script, in lower case, the rest as hyphens; ``otherwise`` where nothing is left.

    It is no name that a system keeps for itself, opens no other folder, hides nothing, and no two systems take it for two names.
    """
    folded = folded_name(visible(text)[:LONGEST])
    kept = "".join(letter if unicodedata.category(letter)[0] in "LMN" or letter in "_+" else "-" for letter in folded)
    name = _cut(_HYPHENS.sub("-", kept).strip("-"))
    if name.lstrip("-") == "" or unicodedata.category(name[0])[0] == "M":  # a mark alone belongs to what is before it
        name = f"{otherwise}{name}" if name else otherwise
    return f"{name}_" if _KEPT_NAMES.fullmatch(name) else name


def folded_name(name: str) -> str:
    """``name`` as file systems compare names: without upper and lower case, composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def short_hash(key: str) -> str:
    """Of a memory's key, for names: 16 hex digits."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _cut(name: str) -> str:
    kept = name.encode()[:LONGEST].decode("utf-8", "ignore")
    while len(kept) < len(name) and kept and unicodedata.category(name[len(kept)])[0] == "M":
        kept = kept[:-1]  # a letter without its marks is another one
    return kept.rstrip("-")


_HYPHENS = re.compile("-{2,}")
# Windows; the small raised digits count there, too. Names with ~ are its short ones.
_KEPT_NAMES = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]")
