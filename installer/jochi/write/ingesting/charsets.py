"""Bytes as text, where nobody says how, or says it wrongly."""

from __future__ import annotations

import codecs

from jochi.extras import extra_named

_READ = 64 * 1024
"""Bytes that a guess looks at."""
# Python takes them for charsets. They are none, and the first two take a long time over a long text.
_NO_CHARSETS = frozenset({"punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"})


def decode(data: bytes, declared: str | None) -> str | None:
    """The text by the charset that is declared, else as UTF-8, else by a guess; None where nobody can tell."""
    for name in (declared, "utf-8"):
        if name is not None and _is_charset(name):
            try:
                return data.decode(name)
            except (UnicodeError, ValueError):
                continue
    found = charset_of(data[:_READ], cut=len(data) > _READ)
    return None if found is None else data.decode(found, "replace")


def charset_of(data: bytes, *, cut: bool = False) -> str | None:
    """A codec for bytes: UTF-8 if they are that, else what charset-normalizer takes them for. ``cut``: more bytes follow."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, not cut)
        return "utf-8"
    except UnicodeDecodeError:
        with extra_named():
            from charset_normalizer import from_bytes
        best = from_bytes(data).best()
        return None if best is None else best.encoding


def _is_charset(name: str) -> bool:
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return False
    return found._is_text_encoding and found.name not in _NO_CHARSETS
