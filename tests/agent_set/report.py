"""The figures as tables: the product beside the baselines, by language; what must hold; and the cases that went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.table import Table
from tests.agent_set import score
from tests.agent_set.conversation import LANGUAGES, Conversation
from tests.agent_set.score import Count, Remembered

Figures = Mapping[str, Mapping[str, Count]]
"""Of `all`, of each group of languages, and of each domain: the counts by measure."""


class Column(NamedTuple):
    """One system: its figures, and what stands above them."""

    name: str
    figures: Figures


class MustHold(NamedTuple):
    """``figure`` and ``wanted`` in words; ``holds``: None where it couldn't be measured."""

    what: str
    figure: str
    wanted: str
    holds: bool | None


def figures(
    conversations: Sequence[Conversation], remembered: Sequence[Remembered], count: Callable[[str], int], *, k: int
) -> Figures:
    """The sums of one system; domains as `domain: code`."""
    pairs = list(zip(conversations, remembered, strict=True))
    groups: dict[str, list[tuple[Conversation, Remembered]]] = {
        "all": pairs,
        **{name: [pair for pair in pairs if pair[0].group == name] for name in LANGUAGES},
        **{
            f"domain: {domain}": [pair for pair in pairs if pair[0].domain == domain]
            for domain in sorted({each.domain for each in conversations})
        },
    }
    return {name: score.sums(chosen, count, k=k) for name, chosen in groups.items() if chosen}


def table(columns: Sequence[Column], *, domains: bool = False) -> Table:
    """A row a measure and group: percent, and in brackets how many of how many."""
    grid = Table("measure", "of", *(column.name for column in columns))
    groups = [name for name in columns[0].figures if domains or not name.startswith("domain: ")]
    for measure in score.MEASURES:
        for group in groups:
            cells = [written(measure, column.figures.get(group, {}).get(measure)) for column in columns]
            if any(cells):
                grid.add_row(measure if group == "all" else "", group, *cells, end_section=group == groups[-1])
    return grid


def written(measure: str, count: Count | None) -> str:
    """A figure in words; empty where there was nothing to judge."""
    if count is None or count.share is None:
        return ""
    if measure == score.TOKENS:
        return f"{count.share:.0f}"
    digits = 1 if measure == score.FALSE_REPLACEMENTS else 0
    return f"{100 * count.share:.{digits}f} % ({count.right}/{count.of})"


def must_hold(product: Figures, baselines: Sequence[Column]) -> list[MustHold]:
    """The lines of the issue that this set judges."""

    def share(measure: str, group: str = "all", of: Figures = product) -> float | None:
        return of.get(group, {}).get(measure, Count()).share

    def line(what: str, value: float | None, wanted: float, *, at_most: bool = False, unit: str = " %") -> MustHold:
        words = f"{'at most' if at_most else 'at least'} {100 * wanted:.0f}{unit}"
        if value is None:
            return MustHold(what, "-", words, None)
        exact = round(value, 9)
        holds = exact <= wanted if at_most else exact >= wanted
        return MustHold(what, f"{100 * value:.1f}{unit}", words, holds)

    def apart(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else one - other

    best = max((share(score.ANSWERS, of=column.figures) or 0 for column in baselines), default=None)
    kept_out = share(score.MUST_NOTS)
    return [
        line("answers", share(score.ANSWERS), 0.92),
        line("answers above the best baseline", apart(share(score.ANSWERS), best), 0.05, unit=" points"),
        line("nothing outdated", share(score.CURRENT), 0.88),
        line("facts", share(score.FACTS), 0.90),
        line("kept out", share(score.KEPT_OUT), 0.97),
        line("start: musts", share(score.MUSTS), 0.95),
        line("start: must-nots", None if kept_out is None else 1 - kept_out, 0.05, at_most=True),
        *(
            line(
                f"German below English: {measure}",
                apart(share(measure, "en"), share(measure, "de")),
                0.08,
                at_most=True,
                unit=" points",
            )
            for measure in (score.ANSWERS, score.CURRENT, score.FACTS, score.KEPT_OUT, score.MUSTS, score.MUST_NOTS)
        ),
        line("false replacements", share(score.FALSE_REPLACEMENTS), 0.01, at_most=True),
    ]


def must_hold_table(lines: Sequence[MustHold]) -> Table:
    """With whether each holds."""
    grid = Table("must hold", "figure", "wanted", "")
    for line in lines:
        grid.add_row(
            line.what, line.figure, line.wanted, {True: "holds", False: "FAILS", None: "not measured"}[line.holds]
        )
    return grid


def cases(conversation: Conversation, remembered: Remembered) -> Iterator[str]:
    """What went wrong in one conversation, for reading. An unseen one is a mistake of the caller's."""
    if conversation.unseen:
        raise ValueError("an unseen conversation is shown in sums only")
    wrong = [verdict for verdict in score.judged(conversation, remembered) if not verdict.right]
    yield f"\n=== {conversation.number} {conversation.title} ({conversation.language}, {conversation.domain}): {len(wrong)} wrong"
    for measure in score.MEASURES:
        for verdict in wrong:
            if verdict.measure == measure:
                yield f"{measure}: {verdict.wanted}"
                yield from map(_shown, verdict.seen)


def memory(conversation: Conversation, remembered: Remembered) -> Iterator[str]:
    """All that is remembered of one conversation, for reading."""
    if conversation.unseen:
        raise ValueError("an unseen conversation is shown in sums only")
    parts = {
        "holds": remembered.statements or (),
        "replaced": remembered.replaced,
        "start": remembered.entries,
    }
    for name, texts in parts.items():
        yield f"--- {conversation.number} {name}: {len(texts)}"
        yield from map(_shown, texts)


def _shown(text: str) -> str:
    return f"      | {' '.join(text.split())}"
