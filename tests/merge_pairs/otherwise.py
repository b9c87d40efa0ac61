"""Pairs that say the same and are only written otherwise, in the languages that the guard reads, and as near ones that don't.

Made before the rules that they judge. The method, so that it can be checked:

- `otherwise/*.txt` has blocks. `= text` is what is said; `class = text` says the same, written otherwise in that class;
  `class ! text` says another thing. Places: `{a}`, `{b}`, `{c}` three names; `{p}`, `{q}` two cities; `{d}`, `{e}` two days of
  the week; `{n}`, `{m}` two numbers, `{n:w}` and `{m:w}` in words.
- A block is filled `DRAWS` times with seeds that are texts. Each two texts that say the same are a pair, and so is each text that
  says the same with each that doesn't: what must not merge is written otherwise, too.
- Three copies of the first text say the same whatever the language: without the mark at the end (`short`), in full width, and with
  other blanks, apostrophes and composed letters (`width`).
- **A third is unseen** until the rules are done, by the hash of the block's first text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.merge_pairs.pair import Language, Pair, make

LANGUAGES: tuple[Language, ...] = ("en", "de", "fr", "es", "it", "pt", "nl")
CLASSES_OTHERWISE = ("sign", "hyphen", "accent", "contraction", "numeral", "order", "voice", "short", "width")
DRAWS = 3
_FOLDER = Path(__file__).with_name("otherwise")
_NAMES = ("Anna", "Peter", "Laura", "David", "Emma", "Simon", "Julia", "Martin", "Nora", "Oscar", "Clara", "Tom")
_CITIES = ("Berlin", "Madrid", "Oslo", "Boston", "Lima", "Toronto", "Chicago", "Helsinki", "Nairobi", "Sydney")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


class Block(NamedTuple):
    """``same`` begins with what is said; each text with its class."""

    source: str
    same: tuple[tuple[str, str], ...]
    other: tuple[tuple[str, str], ...]


@lru_cache
def read(path: Path) -> tuple[tuple[Block, ...], dict[str, tuple[str, ...]]]:
    """The blocks of a file, and its lists."""
    blocks: list[Block] = []
    lists: dict[str, tuple[str, ...]] = {}
    for part in path.read_text(encoding="utf-8").strip().split("\n\n"):
        same: list[tuple[str, str]] = []
        other: list[tuple[str, str]] = []
        for line in part.split("\n"):
            if line.startswith("% "):
                name, _, words = line[2:].partition(" = ")
                lists[name] = tuple(words.split(", "))
            elif not line.startswith("#"):
                kind, mark, text = re.fullmatch(r"(?:(\w+) )?([=!]) (.+)", line).groups()  # type: ignore[union-attr]
                (same if mark == "=" else other).append((kind or "", text))
        if same:
            blocks.append(Block(f"{path.parent.name}/{path.stem}/{same[0][1]}", tuple(same), tuple(other)))
    return tuple(blocks), lists


Filled = Callable[[Block, Language, dict[str, tuple[str, ...]], Random], Iterator[Pair]]
"""Makes the pairs of a block whose places are filled by chance."""


def otherwise(*languages: Language) -> Iterator[Pair]:
    """All pairs of these languages; of all where none is named. No two have the same texts."""
    yield from drawn(_FOLDER, languages or LANGUAGES, _of)


def drawn(folder: Path, languages: Iterable[Language], filled: Filled) -> Iterator[Pair]:
    """All pairs of the blocks in a folder, each filled `DRAWS` times; no two have the same texts."""
    made: dict[frozenset[str], Pair] = {}
    for language in languages:
        blocks, lists = read(folder / f"{language}.txt")
        for block in blocks:
            for number in range(DRAWS):
                for pair in filled(block, language, lists, Random(f"{block.source}/{number}")):
                    made.setdefault(frozenset((pair.left, pair.right)), pair)
    yield from made.values()


def _of(block: Block, language: Language, lists: dict[str, tuple[str, ...]], dice: Random) -> Iterator[Pair]:
    values = dict(zip("abc", dice.sample(_NAMES, 3), strict=True))
    values.update(zip("pq", dice.sample(_CITIES, 2), strict=True))
    values.update(zip("de", dice.sample(lists["days"], 2), strict=True))
    for place, word in zip("nm", dice.sample(lists["words"], 2), strict=True):
        values[place], _, values[f"{place}:w"] = word.partition(" ")

    def filled(text: str) -> str:
        return re.sub(r"\{([a-z](?::w)?)\}", lambda found: values[found[1]], text)

    same = [(kind, filled(text)) for kind, text in block.same]
    said = same[0][1]
    copies = [("short", said.rstrip(".")), ("width", said.translate(_FULL_WIDTH)), ("width", _copied(said))]
    other = [(kind, filled(text)) for kind, text in block.other]
    for (_, one), (kind, two) in (*combinations(same, 2), *((same[0], copy) for copy in copies)):
        if one != two:
            yield make(kind, language, (one, two), "same", block.source)
    for _, one in (*same, *copies):
        for kind, two in other:
            yield make(kind, language, (one, two), "different", block.source)


def _copied(text: str) -> str:
    """As it comes out of a web page or a document."""
    return unicodedata.normalize("NFD", text).replace(" ", "\u00a0").replace("'", "\u2019")
