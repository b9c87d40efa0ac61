"""What `he` and `she` stand for, only where one person alone can be meant. All else stays open."""

from __future__ import annotations

from collections.abc import Iterator

from jochi.toml import beside
from jochi_workers.language.english import Tree
from jochi_workers.language.reading import Reference, Span

_MOST_SENTENCES = 3
_HE = {"he": "he", "him": "he", "his": "he", "himself": "he"}
_SHE = {"she": "she", "her": "she", "hers": "she", "herself": "she"}
_PRONOUNS = _HE | _SHE
_WORDS = beside(__file__, "english.toml")
_PEOPLE = frozenset(_WORDS["people"].split())
_PEOPLE_END = tuple(_WORDS["people_end"].split())
_OTHER_NAMES = frozenset({"GPE", "LOC", "FAC", "DATE", "TIME", "LANGUAGE", "NORP", "MONEY"})


def references(tree: Tree, offset: int) -> Iterator[Reference]:
    """Those of ``tree``, whose text begins at ``offset`` of the whole.

    Sure means: in this sentence and the two before it one name of a person stands before the pronoun, no other noun may be a
    person, no quotation begins, and the same name isn't `he` at one place and `she` at another.
    """
    if not any(word in _PRONOUNS for word in tree.words):
        return
    people = [entity for entity in tree.entities if entity[0] == "PERSON"]
    if not people:
        return
    found: list[tuple[str, str, Reference]] = []
    for place, word in enumerate(tree.words):
        if word not in _PRONOUNS or not tree.tags[place].startswith("PRP"):
            continue
        antecedent = _only_one(tree, place, people)
        if antecedent is not None:
            start, end = antecedent
            to = Span(tree.text[start:end], offset + start, offset + end)
            own = tree.starts[place], tree.ends[place]
            one = Reference(tree.text[own[0] : own[1]], offset + own[0], offset + own[1], to)
            found.append((to.text.casefold(), _PRONOUNS[word], one))
    for name, gender, one in found:
        if all(other == gender for same, other, _ in found if same == name):
            yield one


def _only_one(tree: Tree, place: int, people: list[tuple[str, int, int]]) -> tuple[int, int] | None:
    first = place
    while first > 0 and tree.sentence[place] - tree.sentence[first - 1] < _MOST_SENTENCES and place - first < 200:
        first -= 1
    start, end = tree.starts[first], tree.starts[place]
    near = [each for each in people if start <= each[1] and each[2] <= end]
    if not near or len({tree.text[s:e].casefold() for _, s, e in near}) > 1:
        return None
    names = [(s, e) for _, s, e in near]
    known = [(s, e) for kind, s, e in tree.entities if kind in _OTHER_NAMES]
    for token in range(first, place):
        if tree.words[token] in ('"', "“", "”", "``", "''"):
            return None
        within = [each for each in names if each[0] <= tree.starts[token] < each[1]]
        if within:
            if any(
                tree.deps[other] == "conj" and tree.heads[other] == token and tree.noun(other)
                for other in tree.children[token]
            ):
                return None
            continue
        if any(s <= tree.starts[token] < e for s, e in known):
            continue
        if tree.tags[token].startswith("NNP") or (tree.noun(token) and _person(tree.words[token])):
            return None
    return names[-1]


def _person(word: str) -> bool:
    bare = word.removesuffix("s")
    return (
        word in _PEOPLE
        or bare in _PEOPLE
        or bare.endswith(_PEOPLE_END)
        or word in ("people", "men", "women", "children")
    )
