"""What belongs to a word, in every script, and which of its marks tell it from another word. The only home of both.

By Unicode's properties, not by lists: words as in UAX 29 (marks and format characters are parts of the word before them), grapheme
clusters, combining classes. `regex` brings these tables itself, so they are the same on every Python. Dictionaries, such as ICU's
for Thai, know no names and change with each release, and what is sealed must be read alike everywhere: scripts without blanks are
read cluster by cluster.
"""

from __future__ import annotations

import unicodedata

import regex

FORMAT = r"[[\p{Default_Ignorable_Code_Point}\p{WB=Format}]--[\u200b\p{Cn}]]"
"""Nobody sees it, and it parts no word: soft hyphens, joiners, marks of direction. (A blank of no width parts words.)"""

LETTER = rf"[\p{{L}}\p{{M}}\p{{N}}{FORMAT}]"
"""What words are made of, with `regex.V1`: letters, their marks, numbers of any kind."""

KATAKANA = r"[[\p{Script=Katakana}\p{scx=Katakana}]&&[\p{L}\u3099\u309a]]"
ALONE = (
    r"[[\p{Script=Han}\p{Script=Hiragana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{LB=SA}\p{LB=AK}\p{LB=AS}]"
    r"&&[\p{L}\p{M}\p{Nl}]]"
)
"""Letters of scripts without blanks between words; Korean has them, and its particles follow a word without one."""

_STACKER = r"[\p{InSC=Invisible_Stacker}\p{InSC=Virama}]"
_KILLER = r"[\p{InSC=Pure_Killer}\p{InSC=Consonant_Killer}]"
SYLLABLE = (
    rf"\p{{Logical_Order_Exception}}*(?={ALONE})\X(?:(?<={_STACKER})\X)*"
    rf"(?:(?=[[\p{{InSC=Vowel_Dependent}}\p{{M}}]--\p{{Logical_Order_Exception}}])\X|(?={ALONE}\p{{M}}*{_KILLER})\X)*"
)
"""The least part of such a text that is told apart: a grapheme cluster, with the vowels before and behind it and what closes it."""

UNSPACED = rf"(?:{KATAKANA}+|{SYLLABLE})"
"""A word in a script without blanks, as far as that can be told: foreign names in kana are written in one."""

SPACED = rf"[{LETTER}--[{ALONE}{KATAKANA}\p{{Logical_Order_Exception}}]]"
"""A letter of the others, or a mark of one."""

_POINTS = "".join(rf"\p{{ccc={number}}}" for number in range(10, 37))
"""Unicode's combining classes of the vowel points of Hebrew, Arabic and Syriac."""
_DROPPED = regex.compile(
    # Points, accents for reciting, strokes that only lengthen. What stands at U+0656 and behind are vowels of other languages.
    rf"[{_POINTS}\p{{Me}}"
    r"[[\p{Script=Hebrew}\p{Script=Syriac}]&&\p{Mn}][[\p{Script=Arabic}&&\p{Mn}]--[\u0656-\u065f]][\p{Lm}&&\p{JT=C}]]"
    # The stress of a Russian word, for learners.
    r"|[\u0300\u0301](?<=\p{Script=Cyrillic}\p{M}*.)"
    # Joiners shape, but where they make another letter of a ra: the eyelash of Marathi, the ya behind it in Bengali.
    rf"|{FORMAT}(?<!\u0930\u094d\u200d)(?<!\u09b0\u200d(?=\u09cd))",
    regex.V1,
)
_MARKS = regex.compile(rf"[\p{{M}}\p{{Cf}}{FORMAT}[\p{{Lm}}&&\p{{JT=C}}]]", regex.V1)
_SARA_AM = regex.compile(r"\u0e4d([\u0e48-\u0e4b]?)\u0e32|([\u0e48-\u0e4b])\u0e4d\u0e32|\u0ecd([\u0ec8-\u0ecb]?)\u0eb2")
_CHILLU = dict(zip("ണനരലളക", "ൺൻർൽൾൿ", strict=True))
"""Consonants of Malayalam without a vowel: the letters of their own that Unicode 5.1 gave them for a joiner behind a virama."""
_CHILLUS = regex.compile("([ണനരലളക])\u0d4d\u200d")
_NO_CHILLUS = str.maketrans({chillu: plain for plain, chillu in _CHILLU.items()})
TWICE_CODED = frozenset(_CHILLU.values())
"""Letters that may be written as others, as no normal form of Unicode's knows."""

_SHAPES_OF = frozenset(("<wide>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>", "<font>"))


class _Shapes(dict[int, str]):
    """Code point to the letter that it only is another shape of: width, place in a word, type face."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        tag = unicodedata.decomposition(character).partition(" ")[0]
        shape = unicodedata.normalize("NFKC", character) if tag in _SHAPES_OF else character
        self[code] = found = character if " " in shape else shape
        return found


_SHAPES = _Shapes()


def without_points(text: str) -> str:
    """``text`` (in NFC) without what tells no two words apart, and with one writing of what has several: case is left."""
    if text.isascii():
        return text
    return _pointless(unicodedata.normalize("NFC", text.translate(_SHAPES)))


def _pointless(text: str) -> str:
    text = _CHILLUS.sub(lambda found: _CHILLU[found[1]], text)
    if "\u0e4d" in text or "\u0ecd" in text:
        text = _SARA_AM.sub(_sara_am, text)
    kept: str = _DROPPED.sub("", text)
    return unicodedata.normalize("NFC", kept)


def _sara_am(found: regex.Match[str]) -> str:
    lao = found[0][0] == "\u0ecd"
    return (found[1] or found[2] or found[3] or "") + ("\u0eb3" if lao else "\u0e33")


def folded(text: str) -> str:
    """``text`` as words are compared: Unicode's caseless form, composed, without points."""
    if text.isascii():
        return text.lower()
    caseless = unicodedata.normalize("NFD", text.translate(_SHAPES)).casefold()
    return _pointless(unicodedata.normalize("NFC", caseless))


def bare(text: str) -> str:
    """The letters of ``text`` alone, without any marks, caseless: of equal words they are equal, and never the other way round."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    letters: str = _MARKS.sub("", text.translate(_NO_CHILLUS))
    return letters


_BEGINS_UNSPACED = regex.compile(rf"[{ALONE}{KATAKANA}\p{{Logical_Order_Exception}}]", regex.V1)


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script that has no blanks between words."""
    return not word.isascii() and _BEGINS_UNSPACED.match(word) is not None


def script_of(letter: str) -> str:
    """The first word of a letter's name in Unicode, which is its script: LATIN, CJK, HANGUL; "" of none."""
    return unicodedata.name(letter, "").partition(" ")[0]
