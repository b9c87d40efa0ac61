"""The figures as tables: on the terminal, and as Markdown between the marks of a page of the docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from tests.merge_pairs import measure
from tests.merge_pairs.judges import Vectors
from tests.merge_pairs.measure import Ruled, Share
from tests.merge_pairs.pair import CLASSES_OF_DIFFERENCE, CLASSES_OF_SAMENESS, READ_LANGUAGES, Pair

_JUDGED = {"en": "English", "de": "German", "zh": "Chinese", "ja": "Japanese"}
_READ_BY_WORDS = {"fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch"}
_LANGUAGES = {**_JUDGED, **_READ_BY_WORDS, "pl": "Polish", "sv": "Swedish", "ru": "Russian"}


@dataclass(frozen=True)
class Grid:
    """A table."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def rich(self) -> Table:
        """For the terminal."""
        table = Table(*self.head, title=self.title, title_justify="left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """For the docs."""
        return "\n".join(f"| {' | '.join(row)} |" for row in (self.head, ["---"] * len(self.head), *self.rows))


def counts(pairs: Sequence[Pair]) -> Grid:
    """Pairs by class and language; in brackets the unseen ones."""
    number = Counter((pair.label, pair.kind, pair.language, pair.unseen) for pair in pairs)
    rows: list[list[str]] = []
    for label, kinds in (("different", CLASSES_OF_DIFFERENCE), ("same", CLASSES_OF_SAMENESS)):
        for kind in (*kinds, ""):
            cells = []
            for language in _JUDGED:
                mine = [
                    (n, key[3]) for key, n in number.items() if key[::2] == (label, language) and kind in (key[1], "")
                ]
                total, unseen = sum(n for n, _ in mine), sum(n for n, hidden in mine if hidden)
                cells.append(f"{total:,} ({unseen:,})" if total else "–")
            rows.append([label, kind or "all of them", *cells])
    return Grid("pairs (of them unseen)", ("label", "class", *_JUDGED.values()), rows)


def overall(ruled: Mapping[str, Sequence[Ruled]]) -> Grid:
    """A row a judge."""
    rows = []
    for name, all_ in ruled.items():
        read = measure.of_languages(all_, *READ_LANGUAGES)
        foreign = measure.wrong(measure.of_languages(all_, "zh", "ja"))
        merged = measure.precision(read)
        rows.append(
            [
                name,
                f"{merged.part:,}",
                f"{merged.whole - merged.part:,}",
                with_bound(merged),
                percent(measure.recall(read)),
                *(with_bound(measure.precision(measure.of_languages(all_, language))) for language in READ_LANGUAGES),
                f"{foreign.part:,} of {foreign.whole:,}",
                with_bound(measure.precision(all_)),
            ]
        )
    head = (
        *(
            "judge",
            "right merges",
            "wrong merges",
            "precision (≥)",
            "recall",
            "precision English (≥)",
            "precision German (≥)",
        ),
        *("Chinese and Japanese merged", "precision, all four (≥)"),
    )
    return Grid("English and German; a merge of Chinese or Japanese is always wrong", head, rows)


def thresholds(ruled: Mapping[float, Sequence[Ruled]], vectors: Vectors) -> Grid:
    """A row a merge threshold, of the languages that are read: what the guard is asked about, and what it merges of that."""
    rows = []
    for least, all_ in ruled.items():
        read = measure.of_languages(all_, *READ_LANGUAGES)
        asked = sum(vectors.cosine(one.pair.left, one.pair.right) >= least for one in read)
        merged = measure.precision(read)
        paraphrases = measure.recall(measure.of_class(all_, "paraphrase"))
        recalls = (
            measure.recall(read),
            *(measure.recall(measure.of_languages(all_, language)) for language in READ_LANGUAGES),
        )
        rows.append(
            [
                f"{least:.2f}",
                f"{asked:,} of {len(read):,}",
                f"{merged.part:,}",
                f"{merged.whole - merged.part:,}",
                with_bound(merged),
                *map(percent, (*recalls, paraphrases)),
            ]
        )
    head = (
        *("merge threshold", "pairs asked about", "right merges", "wrong merges", "precision (≥)", "recall"),
        *("recall English", "recall German", "recall of paraphrases"),
    )
    return Grid("the guard by merge threshold, English and German", head, rows)


def differences(ruled: Mapping[str, Sequence[Ruled]]) -> Grid:
    """A row a class of must-not-merge pairs: how many were merged, and the precision if there were no other class."""
    rows = []
    for kind in CLASSES_OF_DIFFERENCE:
        cells = []
        for all_ in ruled.values():
            merged = measure.wrong(measure.of_class(all_, kind))
            cells.append(f"{merged.part:,}; {with_bound(measure.precision_of_class(all_, kind))}")
        rows.append([kind, f"{measure.wrong(measure.of_class(next(iter(ruled.values())), kind)).whole:,}", *cells])
    return Grid("must not merge: wrongly merged; precision (≥)", ("class", "pairs", *ruled), rows)


def sameness(ruled: Mapping[str, Sequence[Ruled]]) -> Grid:
    """A row a class of true duplicates: recall."""
    rows = []
    for kind in CLASSES_OF_SAMENESS:
        mine = {name: measure.recall(measure.of_class(all_, kind)) for name, all_ in ruled.items()}
        rows.append([kind, f"{next(iter(mine.values())).whole:,}", *(percent(share) for share in mine.values())])
    return Grid("true duplicates: recall", ("class", "pairs", *ruled), rows)


def by_language(title: str, ruled: Sequence[Ruled], classes: Sequence[str]) -> Grid:
    """A row a language, of sets that say themselves what is the same; then the right merges of each class of sameness."""
    rows = []
    for language in dict.fromkeys(one.pair.language for one in ruled):
        mine = measure.of_languages(ruled, language)
        wrong = _merged(one for one in mine if one.pair.label == "different")
        same = [one for one in mine if one.pair.label == "same"]
        right = _merged(same)
        kinds = [_merged(one for one in same if one.pair.kind == kind) for kind in classes]
        rows.append(
            [
                _LANGUAGES[language],
                f"{wrong.whole:,}",
                f"{wrong.part:,}",
                with_bound(Share(right.part, right.part + wrong.part)),
                percent(right),
                *(f"{share.part:,} of {share.whole:,}" if share.whole else "–" for share in (right, *kinds)),
            ]
        )
    head = ("language", "must not merge", "wrong merges", "precision (≥)", "recall", "right merges", *classes)
    return Grid(title, head, rows)


def _merged(ruled: Iterable[Ruled]) -> Share:
    verdicts = [one.verdict for one in ruled]
    return Share(verdicts.count("merge"), len(verdicts))


def readable(pairs: Sequence[Pair], vectors: Vectors) -> Grid:
    """How many texts of each language the embedding model can't read, or not all of."""
    rows = []
    for language, name in _JUDGED.items():
        texts = {text for pair in pairs if pair.language == language for text in (pair.left, pair.right)}
        shares = [vectors.unknown_share(text) for text in texts]
        some, half = sum(share > 0 for share in shares), sum(share >= 0.5 for share in shares)
        same = sum(
            vectors.cosine(p.left, p.right) >= 0.999 for p in pairs if p.language == language and p.label == "different"
        )
        rows.append([name, f"{len(texts):,}", f"{some:,}", f"{half:,}", f"{same:,}"])
    head = ("language", "texts", "with unknown tokens", "half of them unknown", "different pairs at cosine ≥ 0.999")
    return Grid("what the model can't read", head, rows)


def percent(share: Share) -> str:
    """`12.3 %`."""
    return "–" if share.value is None else f"{share.value:.1%}".replace("%", " %")


def with_bound(share: Share) -> str:
    """`99.1 % (98.7)`."""
    return "–" if share.value is None else f"{percent(share)} ({share.bound:.1%})".replace("%)", ")")


def write(file: Path, parts: Mapping[str, Sequence[Grid]]) -> None:
    """Replaces what stands between the page's marks."""
    text = file.read_text(encoding="utf-8")
    for name, grids in parts.items():
        head, _, rest = text.partition(f"<!-- {name} -->\n")
        _, found, tail = rest.partition(f"<!-- end {name} -->")
        if not found:
            raise ValueError(f"{file} has no place for {name}")
        written = "\n\n".join(f"{grid.title[0].upper()}{grid.title[1:]}:\n\n{grid.markdown()}" for grid in grids)
        text = f"{head}<!-- {name} -->\n{written}\n<!-- end {name} -->{tail}"
    file.write_text(text, encoding="utf-8")
