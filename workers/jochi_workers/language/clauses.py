"""A sentence without the statements that say something, by the dependency parse (docs/reference/forgetting.md, Clauses).

What may go is what the tree has as a part of its own: a member of a coordination or list, a relative clause, an apposition, an
adverbial clause that is no condition; or all that stands beside one. A rest is believed only if reading it again finds every
statement of the sentence that has none of those words, and no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from jochi_workers.language import english
from jochi_workers.language.english import Piece, Tree, parse
from jochi_workers.language.reading import Span, Statement
from jochi_workers.language.statements import statements

Spots = Callable[[str], Sequence[tuple[int, int]]]
"""Where a text says it, in characters."""

WHOLE = ""
"""A sentence of which nothing else is left."""

_ROUNDS = 20
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
_HELPS = frozenset({"aux", "auxpass", "neg"})
_BESIDE = frozenset({"relcl", "appos", "acl", "advcl", "parataxis"})
_CONDITIONS = frozenset({"if", "unless", "provided", "suppose", "supposing", "lest", "until", "till"})
_TOGETHER = frozenset({"between", "among", "together", "both", "other", "either", "neither", "nor"})
"""Words by which a coordination says one thing: none of its members can be left out."""
_AS_WELL = frozenset({"so", "neither", "nor"})
_RELATIVE = frozenset({"who", "which", "that"})
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_BETWEEN = re.compile(r"(\s*;\s*|\s+[-–—]+\s+|—|,?\s+(?:and|but|so|yet|while|whereas)\s+)")
_PRONOUNS = frozenset({"WP", "WDT", "WRB", "WP$"})
_PRESENT = frozenset({"VBZ", "VBP"})
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "'re": "'s", "'ve": "'s"}
_PLURAL = frozenset({"they", "them", "their", "we", "us", "our", "each", "together"})
_LABEL = re.compile(r"[\w .'’-]{1,60}:\s+")
_COMMA = re.compile(r"(\s*,\s+(?:(?:and|or)\s+)?)")
_LAST = re.compile(r"(\s+(?:and|or)\s+)")
_SPACE = re.compile(r"\s")
_END = re.compile(r"[.!?]*[\"'”’)\]]*\s*$")
_IDENTIFIER = re.compile(r"\S*(?:@|\w[/:_#]\w|[A-Za-z]\d|\d[A-Za-z])\S*\w")
"""A mail address, a path, a code: the model takes it for anything, so it reads a name in its place."""
_SUBJECTLESS = "She "
"""Put before a sentence that begins with its verb while it is read: the small model takes `likes` for a noun there."""


def ready() -> bool:
    """Whether the libraries are here; `JochiError` says what lacks."""
    parse([])
    return True


def remove_clauses(sentence: str, spots: Spots) -> str | None:
    """``sentence`` without the statements that say it: WHOLE where nothing else is stated, None where that isn't sure.

    The end of the sentence (point, quotes, blanks) is kept. `JochiError` without the extra [language].
    """
    end = _END.search(sentence)
    tail = end[0] if end else ""
    body = sentence[: len(sentence) - len(tail)]
    label = _LABEL.match(body)
    if label and not spots(label[0]):
        rest = _listed(body[label.end() :], spots)
        if rest is None:
            rest = remove_clauses(sentence[label.end() :], spots)
            return label[0] + rest if rest else rest
        return label[0] + rest + tail if rest else WHOLE
    parts = _independent(body)
    kept = ""
    for part, join in parts:
        rest = _part_left(part, spots)
        if rest is None:
            return None
        if rest:
            kept += join + rest if kept else rest
    if spots(kept):  # across a seam
        return None
    if body[:1].isupper():
        kept = kept[:1].upper() + kept[1:]
    return kept + tail if kept else WHOLE


def _listed(body: str, spots: Spots) -> str | None:
    """What is left of members behind a label, parted by commas: `chess, tennis, golf`. None where it is no such list: a member
    is a clause, or has digits, as in dates and addresses."""
    *parts, last = _COMMA.split(body)
    parts += _LAST.split(last, 1) if parts else [last]
    items, joins = parts[::2], parts[1::2]
    if len(items) < 2 or any(character.isdigit() for character in body):
        return None
    if not all(items) or any(" " in item and _FINITE & set(_parse(item).tree.tags) for item in items):
        return None
    kept = [at for at, item in enumerate(items) if not spots(item)]
    if len(kept) < 2:
        return items[kept[0]] if kept else WHOLE
    last_join = joins[-1] if len(kept) > 2 else joins[-1].lstrip(",") if joins[-1].strip(", ") else joins[-1]
    return "".join(joins[0] * (n > 0) + items[at] for n, at in enumerate(kept[:-1])) + last_join + items[kept[-1]]


class Clause(NamedTuple):
    """A clause that could stand alone, parsed: where it begins in the sentence; ``tags`` by where a token begins, and the
    statements, all in characters of the clause. None of them where it is a fragment. ``ambiguous``: it may say more
    than is found, or the model may have taken a verb for a noun, as in `drives a Fiat and studies at Yale`."""

    text: str
    start: int
    tags: dict[int, str]
    statements: list[Statement]
    ambiguous: bool


def read_clauses(sentence: str) -> list[Clause]:
    """What `remove_clauses` takes apart, as it reads it. `JochiError` without the extra [language]."""
    body = sentence[: len(sentence) - len(end[0])] if (end := _END.search(sentence)) else sentence
    found, at = [], 0
    for part, join in _independent(body):
        at = body.index(part, at + len(join))
        parsed, shift = _parse(part), 0
        if (with_one := _with_a_subject(parsed)) is not None:
            shift, parsed = len(_SUBJECTLESS), with_one
        tree = parsed.tree
        tags = {start - shift: tag for start, tag in zip(tree.starts, tree.tags, strict=True)}
        statements = [_moved(one, -shift) for one in parsed.statements]
        doubtful = any(_like_a_verb(tree, place) for place in range(len(tree.words))) or (
            len(statements) < 2
            and (not _simple(tree) or _set_apart(tree) or (not statements and not _FINITE.isdisjoint(tree.tags)))
        )
        found.append(Clause(part, at, tags, statements, doubtful))
        at += len(part)
    return found


def _like_a_verb(tree: Tree, place: int) -> bool:
    """Whether a plural behind `and` that nothing stands before is written like a verb, and goes on like one."""
    return (
        tree.tags[place] == "NNS"
        and tree.deps[place] == "conj"
        and tree.left[place] == place
        and english.is_verb(tree.words[place])
        and tree.tags[place + 1 : place + 2] not in ([], ["."], [","], ["CC"])
    )


def _moved(one: Statement, by: int) -> Statement:
    """Without what stands before the text, such as the subject that was put there to read it."""

    def moved(span: Span | None) -> Span | None:
        there = span is not None and span.end + by > 0
        return Span(span.text, max(0, span.start + by), span.end + by) if span is not None and there else None

    clauses = tuple(span for each in one.clauses if (span := moved(each)))
    return one._replace(
        subject=moved(one.subject),
        object=moved(one.object),
        start=max(0, one.start + by),
        end=one.end + by,
        clauses=clauses,
    )


def _independent(body: str) -> list[tuple[str, str]]:
    """Clauses that each have a subject of their own and could stand alone, each with what joins it to those before.

    The small model takes `lives in Lyon and Bob` for one phrase where `sells cars` follows, so they are read one by one.
    """
    parts = _BETWEEN.split(body)
    found = [(parts[0], "")]
    for join, part in zip(parts[1::2], parts[2::2], strict=True):
        before = found[-1][0]
        if ";" in join or (is_clause(part) and is_clause(before) and not _reports(before)):
            found.append((part, join))
        else:
            found[-1] = (before + join + part, found[-1][1])
    return found


def is_clause(text: str) -> bool:
    """Whether a clause begins with its subject and has a finite verb, and nothing is a condition of it."""
    tree = _parse(text).tree
    root = next((place for place, head in enumerate(tree.heads) if head == place), None)
    if root is None or not _finite(tree, root) or _CONDITIONS & set(tree.words):
        return False
    subject = next((child for child in tree.children[root] if tree.deps[child] in _SUBJECTS), None)
    begins = 1 if tree.tags[0] == "RB" or tree.words[0] in ("also", "now", "then", "later") else 0
    return (
        subject is not None
        and subject < root
        and tree.left[subject] <= begins
        and tree.tags[0] not in ("WP", "WDT", "IN")
    )


def _finite(tree: Tree, place: int) -> bool:
    helps = (child for child in tree.children[place] if tree.deps[child] in ("aux", "auxpass"))
    return any(tree.tags[each] in _FINITE for each in (place, *helps))


def _reports(text: str) -> bool:
    parsed = _parse(text)
    return "ccomp" in parsed.tree.deps or any(one.modality in ("asked", "reported") for one in parsed.statements)


def _part_left(body: str, spots: Spots) -> str | None:
    found = spots(body)
    if not found:
        return body
    outside = [letter for place, letter in enumerate(body) if not any(one <= place < two for one, two in found)]
    if not any(letter.isalnum() for letter in outside):
        return WHOLE
    parsed = _parse(body)
    with_one = _with_a_subject(parsed)
    if with_one is not None:
        rest = _less(with_one, body, spots, _SUBJECTLESS)
        # A noun, as in `Tel 0170 1`, may be taken for one.
        return rest if rest is not None or parsed.statements or not _simple(parsed.tree) else _less(parsed, body, spots)
    return _less(parsed, body, spots)


def _less(parsed: _Parse, body: str, spots: Spots, prefix: str = "") -> str | None:
    """``parsed``: of ``body``, with ``prefix`` before it."""
    text = parsed.text
    for _ in range(_ROUNDS):
        found = spots(text)
        if not found:
            break
        rest = _without(parsed if text == parsed.text else _parse(text), found[0])
        if not rest:
            return rest
        text = rest
    if spots(text) or not text.startswith(prefix):
        return None
    kept = text[len(prefix) :]
    return kept[:1].upper() + kept[1:] if body[:1].isupper() else kept


def _with_a_subject(parsed: _Parse) -> _Parse | None:
    """What begins with its verb, as in notes, `likes tea and lives in Lyon`: read with a subject. None where it has one."""
    tree, text = parsed.tree, parsed.text
    if tree.tags[0] in ("PRP", "DT", "PRP$", "NNP", "NNPS", "CD", "EX", "IN") or tree.words[1:2] == [":"]:
        return None
    with_one = _parse(_SUBJECTLESS + text[:1].lower() + text[1:])
    tags, deps = with_one.tree.tags, with_one.tree.deps
    left_out = (
        tags[1] in _FINITE
        and tags[2:3] != ["VBZ"]
        and deps[0] in _SUBJECTS
        and (_ill_read(tree) or not any(dep in _SUBJECTS and tree.left[at] == 0 for at, dep in enumerate(tree.deps)))
    )
    return with_one if left_out else None


def _ill_read(tree: Tree) -> bool:
    """Whether a conjunction joins nothing: then the tree isn't the sentence's."""
    return any(
        dep == "cc" and not any(tree.deps[child] == "conj" for child in tree.children[tree.heads[place]])
        for place, dep in enumerate(tree.deps)
        if place
    )


class _Parse(NamedTuple):
    text: str
    tree: Tree
    statements: list[Statement]


def _parse(text: str) -> _Parse:
    # Spaces that don't break are words to the model.
    plain = _SPACE.sub(" ", _IDENTIFIER.sub(lambda found: "X" + "x" * (len(found[0]) - 1), text))
    [tree] = parse([Piece(plain + ".", [0])])
    tree = _mended(tree)
    return _Parse(text, tree, statements(tree, 0))


def _mended(tree: Tree) -> Tree:
    """A finite verb joined to an infinitive is joined to the verb that leads that: `wants to buy a boat and never eats meat`."""
    heads, deps = list(tree.heads), list(tree.deps)
    for place, head in enumerate(tree.heads):
        if deps[place] == "dep" and tree.words[place - 1] == "," and _finite(tree, place) and _finite(tree, head):
            deps[place] = "conj"
        if tree.deps[place] != "conj" or not (_verb(tree, place) and _verb(tree, head)) or not _finite(tree, place):
            continue
        while (
            not _finite(tree, head)
            and tree.heads[head] != head
            and tree.deps[head] in ("xcomp", "conj", "pcomp", "advcl")
        ):
            head = tree.heads[head]
            heads[place] = head
    children, left, right = english._edges(heads)
    return tree._replace(heads=heads, deps=deps, children=children, left=left, right=right)


def _without(parsed: _Parse, spot: tuple[int, int]) -> str | None:
    """One mention less; None where it isn't sure."""
    text, tree = parsed.text, parsed.tree
    touched = {
        place
        for place in range(len(tree.words))
        if tree.starts[place] < spot[1] and spot[0] < tree.ends[place] and tree.ends[place] <= len(text)
    }
    if not touched or _ill_read(tree):
        return None
    touched |= _tied(tree, touched)
    statements = [one for one in parsed.statements if one.modality != "condition"]
    kept = [one for one in statements if not _touches(tree, one, touched)]
    removed = _removed_words(
        tree, [one for one in parsed.statements if _touches(tree, one, touched)], parsed.statements
    )
    hidden = _hidden(parsed)
    tried = False
    for rest in _rests(parsed, touched):
        tried = True
        if rest is None:
            continue
        all_removed = not parsed.statements or rest.gone & removed == rest.gone & _telling(tree)
        if all_removed and not rest.gone & hidden and _same(kept, rest.text, parsed.statements):
            return rest.text
    compound = tried or _set_apart(tree) or hidden or _half(tree, touched)
    whole = not compound and (_simple(tree) or (not kept and removed == _telling(tree)))
    return WHOLE if whole else None


def _half(tree: Tree, touched: set[int]) -> bool:
    """Whether of what is joined one member has it and another hasn't: `a jar of honey and olive oil`."""
    for place, dep in enumerate(tree.deps):
        if dep == "conj":
            members = _members(tree, place)
            says = [
                bool(touched & set(range(first, last + 1)))
                for first, last in (_range(tree, members, m) for m in members)
            ]
            if any(says) and not all(says):
                return True
    return False


def _simple(tree: Tree) -> bool:
    """Whether nothing is joined in it or said beside it: one statement, however it is read."""
    finite = [place for place, tag in enumerate(tree.tags) if tag in _FINITE and tree.deps[place] not in _HELPS]
    beside = any(
        dep == "appos"
        and _set_off(tree, place)
        and not _of_a_name(tree, place)
        and not (tree.tags[place] == tree.tags[tree.heads[place]] == "CD")
        for place, dep in enumerate(tree.deps)
    )
    joined = set(tree.deps) & {"conj", "cc", "relcl", "parataxis", "preconj"}
    return not beside and not joined and len(finite) < 2


def _set_off(tree: Tree, place: int) -> bool:
    """Whether a mark stands before it: `our neighbour Tom` is one name."""
    return tree.words[max(0, tree.left[place] - 1)] in (",", "(", "-", "–", "—", ":")


def _within_a_number(tree: Tree, place: int) -> bool:
    """Whether no space stands before it, and a number on either side: `0049-170`."""
    before = place - 1
    return (
        0 < place < len(tree.words) - 1
        and tree.tags[before] == tree.tags[place + 1] == "CD"
        and tree.starts[before] + len(tree.words[before]) == tree.starts[place]
    )


def _top(tree: Tree, place: int) -> int:
    """The highest place whose subtree begins here."""
    while tree.heads[place] != place and tree.left[tree.heads[place]] == place:
        place = tree.heads[place]
    return place


def _of_a_name(tree: Tree, place: int) -> bool:
    """Whether it ends an address or a date: `Lyon, France`."""
    first = tree.left[place]
    last = tree.right[place]
    names = all(tree.tags[each] in ("NNP", "NNPS", "CD") for each in range(first, last + 1) if tree.words[each] != ",")
    behind = tree.words[last + 1 : last + 2]
    return names and first > 1 and tree.tags[first - 2] in ("NNP", "NNPS", "CD") and behind in ([], [","], ["."])


def _set_apart(tree: Tree) -> bool:
    """Whether a comma parts something off that isn't a time or place before the sentence."""
    marks = [
        place
        for place, word in enumerate(tree.words)
        if word in (",", "(", ":", "-", "–", "—") and not _within_a_number(tree, place)
    ]
    commas = [at for at in marks if not (at + 1 < len(tree.words) and _of_a_name(tree, _top(tree, at + 1)))]
    if not commas:
        return False
    root = _roots(tree)[0]
    before = [child for child in tree.children[root] if child < commas[0] and tree.deps[child] not in _SUBJECTS]
    return (
        len(commas) > 1 or any(tree.deps[child] not in ("prep", "npadvmod", "advmod") for child in before) or not before
    )


def _telling(tree: Tree) -> set[int]:
    """The tokens that no statement is the same without: nouns, verbs, numbers."""
    return {
        place
        for place, tag in enumerate(tree.tags)
        if tag.startswith(("NN", "VB", "CD", "JJ")) and tree.deps[place] not in _HELPS
    }


def _removed_words(tree: Tree, touched: Sequence[Statement], statements: Sequence[Statement]) -> set[int]:
    """Those of them that are said by statements that go."""
    found: set[int] = set()
    for one in touched:
        inner = (
            one.object
            if one.object and any(_in(each.start, one.object) for each in statements if each is not one)
            else None
        )
        for place in _telling(tree):
            start = tree.starts[place]
            if any(_in(start, span) for span in one.clauses) and not (inner and _in(start, inner)):
                found.add(place)
    return found


def _in(place: int, span: Span) -> bool:
    return span.start <= place < span.end


def _tied(tree: Tree, touched: set[int]) -> set[int]:
    """Verbs that are stated only under a condition in which it is said."""
    found: set[int] = set()
    for place in touched:
        while tree.heads[place] != place:
            if _conditional(tree, place):
                found.add(tree.heads[place])
            place = tree.heads[place]
    return found


def _conditional(tree: Tree, place: int) -> bool:
    return tree.deps[place] == "advcl" and any(
        tree.words[child] in _CONDITIONS for child in tree.children[place] if tree.deps[child] in ("mark", "advmod")
    )


def _marked(tree: Tree, place: int) -> bool:
    """Whether a relative clause has its pronoun: without one it may be the main clause, ill read; and an apposition its comma:
    `my friend Tom` is one name."""
    if tree.deps[place] == "appos":
        return _set_off(tree, place)
    own = (tree.tags[each] for each in _under(tree, place))
    return tree.deps[place] != "relcl" or any(tag in _PRONOUNS for tag in own)


def _leads_in(tree: Tree, place: int) -> bool:
    """Whether it is a clause with a preposition before the sentence: `After graduating from Yale, …`."""
    after = tree.right[place] + 1
    says = any(tree.deps[child] == "pcomp" and _verb(tree, child) for child in tree.children[place])
    return tree.deps[place] == "prep" and says and tree.left[place] == 0 and tree.words[after : after + 1] == [","]


def _touches(tree: Tree, one: Statement, touched: set[int]) -> bool:
    return any(
        span.start < tree.ends[place] and tree.starts[place] < span.end for span in one.clauses for place in touched
    )


# What may be left -----------------------------------------------------------------------------------------------------


class _Rest(NamedTuple):
    """What would be left, and the places of the tokens that wouldn't."""

    text: str
    gone: set[int]


def _rests(parsed: _Parse, touched: set[int]) -> Iterator[_Rest | None]:
    """What could be left, the most first; None where something could be, and isn't told."""
    tree = parsed.tree
    path = _path(tree, touched)
    below: int | None = None
    for place in path:
        members = _members(tree, place)
        if len(members) > 1 and not _one_thing(tree, members):
            out = _shared(tree, members, place, below)
            if 0 < len(out) < len(members):
                rest = _coordinated(parsed, members, out, touched)
                yield rest
                if rest is None:
                    return  # with more around it, too much would go
        if (tree.deps[place] in _BESIDE and not _conditional(tree, place) and _marked(tree, place)) or _leads_in(
            tree, place
        ):
            dropped = _with_commas(tree, tree.left[place], tree.right[place])
            yield _Rest(_joined(parsed, dropped), dropped)
        yield from _promoted(parsed, place, touched)
        below = place


def _path(tree: Tree, touched: set[int]) -> list[int]:
    """From the lowest place that has all of them beneath it up to the root."""
    place = min(touched)
    while not all(tree.left[place] <= each <= tree.right[place] and _above(tree, place, each) for each in touched):
        if tree.heads[place] == place:
            break
        place = tree.heads[place]
    path = [place]
    while tree.heads[place] != place:
        place = tree.heads[place]
        path.append(place)
    return path


def _above(tree: Tree, upper: int, place: int) -> bool:
    while place != upper and tree.heads[place] != place:
        place = tree.heads[place]
    return place == upper


def _members(tree: Tree, place: int) -> list[int]:
    """All members of the coordination that a place is in, in order."""
    first = place
    while tree.deps[first] == "conj" and tree.heads[first] != first:
        first = tree.heads[first]
    found = [first]
    for each in found:
        found += [child for child in tree.children[each] if tree.deps[child] == "conj"]
    return sorted(found)


def _one_thing(tree: Tree, members: list[int]) -> bool:
    """Whether the coordination is a name, or says something of its members together."""
    first, last = tree.starts[members[0]], tree.ends[members[-1]]
    if any(start <= first and last <= end for kind, start, end in tree.entities if kind not in ("PERSON", "GPE")):
        return True
    head = tree.heads[members[0]]
    near = {
        tree.words[each]
        for each in (*tree.children[members[0]], head, *tree.children[head])
        if tree.deps[each] not in ("conj",)
    }
    between = set(tree.words[members[0] : members[-1]])
    return bool(near & _TOGETHER or between & {"&", "between", "both", "either", "neither", "nor"})


def _verb(tree: Tree, place: int) -> bool:
    return tree.tags[place].startswith(("VB", "MD"))


def _own_subject(tree: Tree, place: int) -> bool:
    return any(tree.deps[child] in _SUBJECTS for child in tree.children[place])


def _shared(tree: Tree, members: list[int], place: int, below: int | None) -> list[int]:
    """The members that say what stands at ``below`` beneath ``place``: those that share it, else the one alone."""
    if below is not None and below in members:
        # It came up through the chain of members: the one above says nothing of it.
        return []
    if not _verb(tree, place) or below is None or tree.deps[below] not in _SUBJECTS:
        return [place]
    at = members.index(place)
    dropped = [place]
    for each in members[at + 1 :]:
        if _own_subject(tree, each):
            break
        dropped.append(each)
    return dropped


def _belongs_to_all(tree: Tree, member: int, touched: set[int]) -> bool:
    """Whether what stands behind the last noun may be said of all: `takes Aspirin and Novalgin against the pain`."""
    behind = (c for c in tree.children[member] if c > member and tree.deps[c] == "prep" and tree.words[c] != "of")
    return not _verb(tree, member) and any(not touched & set(_under(tree, child)) for child in behind)


def _coordinated(parsed: _Parse, members: list[int], dropped: list[int], touched: set[int]) -> _Rest | None:
    """The sentence without some members of a coordination."""
    tree = parsed.tree
    ranges = [_range(tree, members, each) for each in members]
    if any(first > last for first, last in ranges):
        return None
    for (_, one), (two, _) in pairwise(ranges):
        between = range(one + 1, two)
        if two <= one or not all(_separates(tree, each) for each in between):
            return None
    if any(_may_be_a_verb(parsed, first) for first, _ in ranges[1:] if not _verb(tree, members[0])):
        return None
    kept = [at for at, each in enumerate(members) if each not in dropped]
    drop: set[int] = set()
    for at, each in enumerate(members):
        if each in dropped:
            drop |= set(range(ranges[at][0], ranges[at][1] + 1))
    joins = [list(range(one + 1, two)) for (_, one), (two, _) in pairwise(ranges)]
    plain = all(all(tree.words[each] in ",;" for each in join) for join in joins[:-1]) and len(joins) > 1
    replace: dict[int, str] = {}
    for join in joins:
        drop |= set(join)
    # What joins the members that stay: of a list always the last ones, of clauses each its own.
    for number, (_, after) in enumerate(pairwise(kept)):
        join = joins[len(joins) - len(kept) + 1 + number] if plain else joins[after - 1]
        words = parsed.text[tree.ends[join[0] - 1] : tree.starts[join[-1] + 1]] if join else " "
        if plain and len(kept) == 2 and not _verb(tree, members[0]):
            words = re.sub(r"^\s*,(?=\s*\w)", "", words)
        replace[ranges[after][0]] = words
    listed = any(
        tree.words[each] == "," and _verb(tree, tree.heads[each]) for each in range(ranges[0][0], ranges[-2][1] + 1)
    )
    above = members[0]
    while tree.deps[above] in ("pobj", "prep", "pcomp"):
        above = tree.heads[above]
    listed = listed or tree.words[tree.left[above] - 1 : tree.left[above]] == [","]
    if listed and members[-1] in dropped and not plain and any(tree.deps[each] == "cc" for each in joins[-1]):
        return None  # a longer list than the tree has
    if tree.deps[members[0]] in ("nmod", "compound", "amod") and tree.deps[tree.heads[members[0]]] == "conj":
        return None  # read as `(tennis and table) football`: may be two members of the list around it
    if members[-1] in dropped and len(kept) and _belongs_to_all(tree, members[-1], touched):
        return None
    first = members[0]
    if first in dropped and not _verb(tree, first) and ranges[0][0] and tree.noun(ranges[0][0] - 1):
        return None  # the name of what stands before it: `my wife Elena and our sons`
    if first in dropped:
        lead, shared = _lead(tree, first, members[kept[0]])
        drop = (drop | lead) - shared
    changed = _agreeing(tree, members, kept)
    if changed is None:
        return None
    return _Rest(_joined(parsed, drop, replace, changed), drop)


def _may_be_a_verb(parsed: _Parse, first: int) -> bool:
    """Whether what is read as a noun begins a clause without subject: `is allergic to nuts and lives in Lyon`."""
    tree = parsed.tree
    if tree.tags[first].startswith("VB"):
        return True
    if tree.tags[first] not in ("NNS", "NN", "JJ"):
        return False
    many = tree.words[0] in ("i", "you", "we", "they")
    other = _parse(("They " if many else _SUBJECTLESS) + parsed.text[tree.starts[first] :]).tree
    behind = [child for child in other.children[1] if child > 1 and other.deps[child] not in ("punct", "cc", "conj")]
    return other.tags[1] in (("VBP", "VBD") if many else ("VBZ", "VBD")) and other.heads[1] == 1 and bool(behind)


def _hidden(parsed: _Parse) -> set[int]:
    """Members of coordinations that are read as nouns and may begin a clause."""
    tree = parsed.tree
    joined = (place for place, dep in enumerate(tree.deps) if dep == "conj" and not _verb(tree, place))
    return {place for place in joined if _may_be_a_verb(parsed, _range(tree, _members(tree, place), place)[0])}


def _separates(tree: Tree, place: int) -> bool:
    return tree.deps[place] in ("cc", "preconj") or tree.words[place] in (",", ";")


def _range(tree: Tree, members: list[int], member: int) -> tuple[int, int]:
    """The tokens of a member: for a first verb those from its first help on, for a first noun what is its own."""
    later = [each for each in members if each > member]
    last = tree.right[member]
    inner = [each for each in later if _above(tree, member, each)]
    if inner:
        last = min(tree.left[min(inner)], min(inner)) - 1
    while last > member and (_separates(tree, last) or tree.words[last] == "."):
        last -= 1
    if member == members[0] and _verb(tree, member):
        first = member
        for child in reversed(tree.children[member]):
            if child < member and tree.deps[child] in _SUBJECTS:
                break
            if child < member and tree.left[child] <= first:
                first = tree.left[child]
        subjects = [child for child in tree.children[member] if child < member and tree.deps[child] in _SUBJECTS]
        begins = tree.right[subjects[-1]] + 1 if subjects else first
        if any(tree.noun(each) for each in range(begins, member)):
            return member, member - 1  # a name that belongs to the subject: `our neighbour Tom`
        return begins, last
    first = tree.left[member]
    while first < member and _separates(tree, first):
        first += 1
    return first, last


def _lead(tree: Tree, first: int, heir: int) -> tuple[set[int], set[int]]:
    """Of what stands before a first verb that goes: what goes with it besides, and what its heir needs of it."""
    before = [child for child in tree.children[first] if child < first]
    dropped: set[int] = set()
    shared: set[int] = set()
    if not _verb(tree, first):
        return dropped, shared
    if _own_subject(tree, heir):
        dropped |= {each for child in before if tree.deps[child] in _SUBJECTS for each in _under(tree, child)}
        if any(tree.deps[child] == "mark" for child in tree.children[heir]):
            dropped |= {child for child in before if tree.deps[child] == "mark"}
    elif tree.tags[heir] == tree.tags[first] and not any(tree.deps[child] in _HELPS for child in tree.children[heir]):
        passive = not any(tree.deps[child] == "dobj" for child in tree.children[heir])
        helps = [c for c in before if tree.deps[c] in _HELPS and (passive or tree.deps[c] != "auxpass")]
        shared |= {each for child in helps for each in _under(tree, child)}
    return dropped, shared


def _under(tree: Tree, place: int) -> range:
    return range(tree.left[place], tree.right[place] + 1)


def _agreeing(tree: Tree, members: list[int], kept: list[int]) -> dict[int, str] | None:
    """The verb's form where one subject alone is left of several; None where it can't be told."""
    first = members[0]
    if tree.deps[first] not in ("nsubj", "nsubjpass") or len(kept) > 1:
        return {}
    left, head = members[kept[0]], tree.heads[first]
    if tree.tags[left] in ("NNS", "NNPS") or tree.words[left] in ("i", "you", "we", "they"):
        return {} if tree.words[left] != "i" else None
    helps = [child for child in tree.children[head] if tree.deps[child] in ("aux", "auxpass")]
    finite = helps[0] if helps else head
    attributes = (tree.tags[child] for child in tree.children[head] if tree.deps[child] == "attr")
    if _PLURAL & set(tree.words[head:]) or "NNS" in attributes:
        return None  # it stands for all of them: `are friends`
    changed = {}
    others = [each for each in _members(tree, head) if each > head and not _own_subject(tree, each)]
    for verb in [finite, *(others if not helps else ())]:
        word = tree.words[verb]
        if word in _SINGULAR:
            changed[verb] = _SINGULAR[word]
        elif tree.tags[verb] == "VBP" or (tree.tags[verb] == "VB" and not helps):
            ending = "es" if re.search(r"(?:s|x|z|ch|sh|o)$", word) else "s"
            changed[verb] = (word[:-1] + "ies") if re.search(r"[^aeiou]y$", word) else word + ending
    return changed


def _with_commas(tree: Tree, first: int, last: int) -> set[int]:
    """The tokens from first to last with the marks that set them apart."""
    dropped = set(range(first, last + 1))
    if first > 0 and tree.words[first - 1] in (",", "(", "-", "–", "—"):
        dropped.add(first - 1)
        after = last + 1
        if after < len(tree.words) and tree.words[after] in (",", ")", "-", "–", "—"):
            dropped.add(after)
    elif last + 1 < len(tree.words) and tree.words[last + 1] == ",":
        dropped.add(last + 1)
    return dropped


def _promoted(parsed: _Parse, place: int, touched: set[int]) -> Iterator[_Rest]:
    """What stands beside a clause that goes, as a sentence of its own: `Ann, who paints, is ill.`: Ann paints."""
    tree = parsed.tree
    if tree.heads[place] != place:
        return
    others = set(range(len(tree.words)))
    for beside in range(len(tree.words)):
        if tree.deps[beside] not in _BESIDE or _conditional(tree, beside):
            continue
        own = _under(tree, beside)
        if touched & set(own):
            continue
        head = tree.heads[beside]
        lead = _bare_phrase(tree, head)
        rest = {*lead, *own}
        if tree.deps[beside] == "advcl":
            if _own_subject(tree, beside):
                marks = {c for c in tree.children[beside] if tree.deps[c] == "mark" or tree.tags[c] == "WRB"}
                yield _Rest(_words(parsed, [each for each in own if each not in marks]), others - set(own))
        elif touched & set(lead):
            continue
        elif tree.deps[beside] == "relcl":
            subject = next((child for child in tree.children[beside] if tree.deps[child] in _SUBJECTS), None)
            if subject is not None and tree.words[subject] in _RELATIVE:
                statements = _words(parsed, [each for each in own if each != subject], begins=False)
                yield _Rest(f"{_words(parsed, lead)} {statements}", others - rest)
        elif (
            tree.deps[beside] == "appos"
            and _set_off(tree, beside)
            and any(
                tree.tags[each] in _PRESENT
                for each in (place, *tree.children[place])
                if each == place or tree.deps[each] == "aux"
            )
        ):
            yield _Rest(f"{_words(parsed, lead)} is {_words(parsed, own, begins=False)}", others - rest)


def _bare_phrase(tree: Tree, head: int) -> list[int]:
    """A noun phrase without what is said beside it."""
    first, last = tree.left[head], head
    for child in tree.children[head]:
        if child > head:
            if tree.deps[child] in (*_BESIDE, "conj", "cc", "punct"):
                break
            last = tree.right[child]
    return list(range(first, last + 1))


# Texts ----------------------------------------------------------------------------------------------------------------


def _words(parsed: _Parse, places: Sequence[int], *, begins: bool = True) -> str:
    return _joined(parsed, set(range(len(parsed.tree.words))) - set(places), begins=begins)


def _joined(
    parsed: _Parse,
    drop: set[int],
    replace: dict[int, str] | None = None,
    changed: dict[int, str] | None = None,
    *,
    begins: bool = True,
) -> str:
    """The tokens that aren't dropped, with the blanks that stood before them. ``replace``: what joins a token to those before."""
    tree, text = parsed.tree, ""
    drop = drop | {two if one in drop else one for one, two in _brackets(tree) if (one in drop) != (two in drop)}
    for place in range(len(tree.words)):
        if place in drop or tree.starts[place] >= len(parsed.text):
            continue
        before = parsed.text[tree.ends[place - 1] if place else 0 : tree.starts[place]]
        if replace and place in replace:
            before = replace[place]
        elif place - 1 in drop and not before and text and tree.deps[place] != "punct":
            before = " "
        word = (changed or {}).get(place, parsed.text[tree.starts[place] : tree.ends[place]])
        text += (before if text else "") + word
    text = re.sub(r"\s+([,;])", r"\1", text.strip())
    text = re.sub(r"^[,;\s]+|[,;\s]+$", "", text)
    return text[:1].upper() + text[1:] if begins and parsed.text[:1].isupper() else text


def _brackets(tree: Tree) -> Iterator[tuple[int, int]]:
    """The places of what opens and of what closes."""
    open_: list[int] = []
    for place, word in enumerate(tree.words):
        if word in ("(", "["):
            open_.append(place)
        elif word in (")", "]") and open_:
            yield open_.pop(), place


# Whether a rest says what it should -------------------------------------------------------------------------------------


def _same(kept: list[Statement], rest: str, before: list[Statement]) -> bool:
    """Whether the rest, read by itself, says all that is kept, and nothing that wasn't said."""
    tree, after = _parse(rest)[1:]
    if (not after and kept) or (before and not any(_verb(tree, place) for place in _roots(tree))) or _is_torn(tree):
        return False
    return all(any(_says(new, old) for new in after) for old in kept) and all(
        any(_says(new, old) for old in before) for new in after
    )


def _says(new: Statement, old: Statement) -> bool:
    """Whether one of the rest is one of before: the same, or less of it."""
    return (
        (new.verb, new.negated) == (old.verb, old.negated)
        and new.modality in (old.modality, "reported")
        and _within(new.subject, old.subject)
        and _within(new.object, old.object)
    )


def _within(part: Span | None, whole: Span | None) -> bool:
    if part is None or whole is None:
        return part is whole
    words = iter(whole.text.casefold().split())
    return all(word in words for word in part.text.casefold().split())


def _is_torn(tree: Tree) -> bool:
    """Whether it ends in what joins, or a list has lost the word before its last member."""
    last = max(place for place, word in enumerate(tree.words) if word != ".")
    while last and tree.tags[last] == "RB" and tree.tags[last - 1] == "CC":
        last -= 1
    if tree.words[0] in _AS_WELL and tree.tags[1:2] and (tree.tags[1] in _FINITE):
        return True  # `so does Omar`: what, is gone
    if any(dep == "dep" and tag in _FINITE for dep, tag in zip(tree.deps, tree.tags, strict=True)):
        return True  # a verb that belongs to nothing
    loose = "CC" not in tree.tags and not _PRONOUNS & set(tree.tags)
    return tree.tags[last] == "CC" or (loose and any(_before_a_verb(tree, each) for each in range(1, last)))


def _before_a_verb(tree: Tree, comma: int) -> bool:
    if tree.words[comma] != ",":
        return False
    after = next((tag for tag in tree.tags[comma + 1 :] if tag != "RB"), "")
    return after.startswith("VB") or after == "MD"


def _roots(tree: Tree) -> list[int]:
    return [place for place, head in enumerate(tree.heads) if head == place]
