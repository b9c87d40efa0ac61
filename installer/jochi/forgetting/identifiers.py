"""Identifiers in a request beyond their forms: addresses of the web, handles, codes of countries."""

from __future__ import annotations

import re

from jochi.forgetting.spelling import Spelling

URL = re.compile(r"(?:https?://)?(?:www\.)?((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?)", re.IGNORECASE)
"""An address of the web, with or without a scheme; its group is what it is without scheme and www."""
_HANDLE = re.compile(r"@?([\w.]*[_\d][\w.]*)")


def variants(identifier: str) -> list[str]:
    """An identifier as it is, and as it may be written beyond its forms: an address of the web with and without scheme and www, a
    handle with and without @."""
    if "@" not in identifier and (url := URL.fullmatch(identifier)) and re.search("[a-z]", url[1], re.IGNORECASE):
        bare = url[1].rstrip("/")
        every = [f"{scheme}{www}{bare}" for scheme in ("", "http://", "https://") for www in ("", "www.")]
        return list(dict.fromkeys((identifier, *every)))
    if (handle := _HANDLE.fullmatch(identifier)) and any(map(str.isalpha, handle[1])) and "@" not in identifier[1:]:
        return list(dict.fromkeys((identifier, handle[1], f"@{handle[1]}")))
    return [identifier]


def countries_before(one: Spelling, text: str) -> set[str]:
    """The codes of countries that stand before a number where only its digits were found."""
    found = (re.search(r"\+(\d{1,3})[\s().-]*$", text[:start]) for start, _ in one.places(text))
    return {each[1] for each in found if each}


def says_identifier(wanted: str, text: str) -> bool:
    """Whether a text says an identifier, in any spelling, and no name that only has the same letters."""
    return any(Spelling(each).says(text) for each in variants(wanted))
