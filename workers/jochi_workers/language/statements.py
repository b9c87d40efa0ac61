"""Statements out of a parsed piece: subject, verb, object, and whether and how it is stated.

Coordination, relative clauses and verbs of wanting are resolved; what the tree leaves open stays out. Every loop is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jochi.toml import beside
from jochi_workers.language.english import Tree, verb
from jochi_workers.language.reading import Modality, Span, Statement

MOST = 2_000
"""Statements of one piece."""
_MOST_JOINED = 50

_WORDS = beside(__file__, "english.toml")


def _by_word(name: str) -> dict[str, Modality]:
    return {word: modality for modality, words in _WORDS[name].items() for word in words.split()}


_MODALS, _LEADING = _by_word("modals"), _by_word("leading")
_WOULD_FIRST, _CONDITIONS, _TRUE_SAID, _SAYING = (
    frozenset(_WORDS[name].split()) for name in ("would_first", "conditions", "true", "saying")
)
_OF_TIME = frozenset({"since", "until", "till", "during", "before", "after"})  # what stands behind is no object
_PAIRS = frozenset({"neither", "either", "both"})
_NEVER = frozenset({"never", "not", "n't", "hardly", "no", "neither", "nor", "seldom", "barely"})
_NONE = frozenset({"nobody", "nothing", "none", "no-one", "neither"})
_RELATIVE = frozenset({"who", "whom", "which", "that", "whose"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
_CLAUSES = frozenset(
    {"ROOT", "conj", "relcl", "acl", "advcl", "ccomp", "xcomp", "pcomp", "parataxis", "csubj", "csubjpass", "dep"}
)
_OBJECTS = frozenset({"dobj", "attr", "acomp", "oprd", "dative", "obj"})
_OUTSIDE = frozenset({"relcl", "appos", "conj", "cc", "punct", "advcl", "preconj", "parataxis", "mark", "intj"})
_TOGETHER = frozenset({"meet", "marry", "divorce", "collide", "agree", "differ"})


class _Verb(NamedTuple):
    """What is known of a predicate, for those that lean on it."""

    subjects: tuple[int, ...]
    passive: bool
    negated: bool
    modality: Modality | None
    modal: bool  # an auxiliary of its own says the modality
    skipped: bool  # it only leads another verb


def statements(tree: Tree, offset: int) -> list[Statement]:
    """Those of ``tree``, whose text begins at ``offset`` of the whole; in the order of their verbs."""
    return _Statements(tree, offset).all()


class _Statements:
    def __init__(self, tree: Tree, offset: int) -> None:
        self._tree, self._offset = tree, offset
        self._known: dict[int, _Verb] = {}
        self._asked = {number for number, word in zip(tree.sentence, tree.words, strict=True) if word == "?"}

    def all(self) -> list[Statement]:
        tree = self._tree
        found: list[tuple[int, Statement]] = []
        # Heads before what hangs on them, so that each can lean on what is known.
        order = [place for place, head in enumerate(tree.heads) if head == place]
        for place in order:
            order.extend(tree.children[place])
            if len(found) < MOST:
                if self._predicate(place):
                    found += [(place, one) for one in self._of(place)]
                elif tree.deps[place] == "appos":
                    found += [(place, one) for one in self._apposition(place)]
        return [one for _, one in sorted(found, key=lambda each: each[0])][:MOST]

    def _predicate(self, place: int) -> bool:
        tree = self._tree
        dep = tree.deps[place]
        if not tree.tags[place].startswith(("VB", "MD")) or dep not in _CLAUSES:
            return False
        if dep == "conj":
            return tree.heads[place] in self._known or bool(self._own(place, _SUBJECTS))
        return dep != "acl" or tree.noun(tree.heads[place])

    def _own(self, place: int, deps: Iterable[str]) -> list[int]:
        return [child for child in self._tree.children[place] if self._tree.deps[child] in deps]

    def _of(self, place: int) -> Iterator[Statement]:
        tree = self._tree
        known = self._known[place] = self._read(place)
        if known.skipped:
            return
        objects, fixed, used = self._objects(place, known)
        subjects: list[int | None] = [*known.subjects] or [None]
        lemma = self._lemma(place)
        if known.passive:
            agents = [by for agent in self._own(place, {"agent"}) for by in self._joined(self._complement(agent))]
            objects, subjects = subjects, [*agents] or [None]
            used = {*used, *self._own(place, {"agent"})}
        elif lemma in _TOGETHER and len(subjects) > 1 and objects == [None]:
            subjects = subjects[:1]
            fixed = True
        adjuncts = [
            child
            for child in tree.children[place]
            if child not in used
            and tree.deps[child] in ("prep", "npadvmod", "agent", "dative")
            and child not in objects
        ]
        for subject in subjects:
            for object_ in objects:
                if subject is not None and subject == object_:
                    continue
                yield self._statement(place, subject, object_, adjuncts, known, lemma, whole=fixed)

    def _read(self, place: int) -> _Verb:
        tree = self._tree
        dep, head = tree.deps[place], tree.heads[place]
        above = self._known.get(head) if head != place else None
        children = tree.children[place]
        own = self._own(place, _SUBJECTS)
        auxiliaries = self._own(place, {"aux", "auxpass"})
        shared = above if dep == "conj" and not own else None
        passive = any(tree.deps[child] in ("auxpass", "nsubjpass", "csubjpass") for child in children)
        if not passive and tree.tags[place] == "VBN" and not any(tree.deps[a] == "aux" for a in auxiliaries):
            passive = (dep == "acl") or (shared is not None and shared.passive)
        negated = any(
            tree.deps[child] == "neg"
            or (tree.deps[child] in ("advmod", "preconj", "cc") and child < place and tree.words[child] in _NEVER)
            for child in children
        ) or any(tree.deps[child] == "neg" for each in auxiliaries for child in tree.children[each])
        negated |= any(tree.words[child] == "longer" and self._says_no(child) for child in children)
        for subject in own:
            negated |= tree.words[subject] in _NONE or self._says_no(subject)
        modality, modal = self._modality(place, auxiliaries, own, shared, above)
        if shared is not None:
            same = tree.tags[place] == tree.tags[head] or not auxiliaries
            linked = self._link(head, place)
            if (same and shared.negated and linked in ("or", "nor")) or linked == "nor":
                negated = True
        if dep == "xcomp" and above is not None and above.skipped:
            negated ^= above.negated
        is_complement = dep == "xcomp" and tree.tags[head].startswith("VB") and self._leads(head) is None
        skipped = self._leads(place) is not None or (is_complement and not self._own(head, {"dobj", "dative"}))
        subjects = self._subjects(place, own, above)
        return _Verb(tuple(subjects), passive, negated, modality, modal, skipped)

    def _modality(
        self, place: int, auxiliaries: list[int], own: list[int], shared: _Verb | None, above: _Verb | None
    ) -> tuple[Modality | None, bool]:
        tree = self._tree
        dep, tag, head = tree.deps[place], tree.tags[place], tree.heads[place]
        marks = {tree.words[child] for child in self._own(place, {"mark", "advmod"})}
        modals = [_MODALS[tree.words[a]] for a in auxiliaries if tree.tags[a] == "MD" and tree.words[a] in _MODALS]
        question = tree.sentence[place] in self._asked and dep in ("ROOT", "conj", "xcomp")
        if question or (dep == "ccomp" and marks & {"whether", "if"}):
            return "asked", False
        if dep == "advcl" and marks & _CONDITIONS:
            return "condition", False
        if modals:
            return modals[0], True
        if dep == "xcomp":
            return self._behind(place, above), True
        bare = tag in ("VB", "VBN") and not auxiliaries
        if shared is not None and shared.modality is not None and (bare or not shared.modal):
            return shared.modality, shared.modal
        is_imperative = tag == "VB" and not own and not self._to(place) and dep in ("ROOT", "conj") and shared is None
        if is_imperative and all(tree.words[a] in ("do", "please") for a in auxiliaries):
            return "command", False
        if dep in ("advcl", "acl", "relcl") and self._to(place):
            return "wanted", False
        if dep == "ccomp":
            lemma = self._lemma(head) if tree.tags[head].startswith("VB") else tree.words[head]
            if above is not None and (above.modality is not None or above.negated):
                return "reported", False
            plain = lemma in _TRUE_SAID or (place < head and lemma not in _SAYING)
            return (None if plain else "reported"), False
        return None, False

    def _behind(self, place: int, above: _Verb | None) -> Modality | None:
        """How the infinitive at ``place`` is meant, by what stands before it: `has to sign`, `may want to sign`, `able to sign`."""
        head = self._tree.heads[place]
        if above is None:
            return _LEADING.get(self._tree.words[head], "possible") if self._to(place) else None
        leading = self._leads(head)
        if leading is None:
            return "wanted" if self._to(place) else above.modality
        return above.modality if above.modal and above.modality not in (None, "hypothetical") else leading

    def _to(self, place: int) -> bool:
        return any(
            self._tree.words[child] == "to" and self._tree.deps[child] == "aux" for child in self._tree.children[place]
        )

    def _leads(self, place: int) -> Modality | None:
        """How the infinitive behind it is meant; None where the verb at ``place`` says something itself."""
        tree = self._tree
        word, tag = self._lemma(place), tree.tags[place]
        if word == "be":
            for complement in self._own(place, {"acomp"}):
                if tree.words[complement] in _LEADING and self._own(complement, {"xcomp"}):
                    return _LEADING[tree.words[complement]]
            return None
        behind = any(self._to(child) and child > place for child in self._own(place, {"xcomp"}))
        would = any(tree.tags[a] == "MD" for a in self._own(place, {"aux"}))
        itself = (
            (word == "go" and tag != "VBG")
            or (word == "get" and tag not in ("VBG", "VBN", "VBD"))
            or (word in _WOULD_FIRST and not would)
        )
        if not behind or itself or self._own(place, {"dobj"}):
            return None
        return _LEADING.get(word)

    def _link(self, head: int, place: int) -> str:
        """The conjunction that joins ``place`` to ``head``; of a list, the last one."""
        tree = self._tree
        for child in (*tree.children[place], *tree.children[head]):
            if tree.deps[child] == "cc" and (child < place or tree.heads[child] == head):
                return tree.words[child]
        later = [child for child in tree.children[place] if tree.deps[child] == "conj"]
        return self._link(place, later[0]) if later and later[0] - place < _MOST_JOINED else ""

    def _subjects(self, place: int, own: list[int], above: _Verb | None) -> list[int]:
        tree = self._tree
        dep, head = tree.deps[place], tree.heads[place]
        if own:
            subject = own[0]
            if tree.words[subject] in _RELATIVE and tree.tags[subject].startswith("W") and dep == "relcl":
                return [head]
            return self._joined(subject)
        if self._own(place, {"expl"}):
            return []
        if dep == "acl":
            return [head]
        if dep == "xcomp" and above is not None:
            objects = [one for each in self._own(head, {"dobj", "dative"}) for one in self._joined(each)]
            return objects or list(above.subjects)
        if dep == "xcomp":
            upper = self._known.get(tree.heads[head])
            return list(upper.subjects) if upper else []
        if dep in ("conj", "advcl") and above is not None:
            return list(above.subjects)
        return []

    def _objects(self, place: int, known: _Verb) -> tuple[list[int | None], bool, set[int]]:
        """The objects; whether they are read whole, with all that is joined to them; the children that they take up."""
        tree = self._tree
        dep, head = tree.deps[place], tree.heads[place]
        if known.passive:
            complement = self._own(place, {"oprd"})
            return [None], bool(complement), set()
        own = [
            child
            for child in self._own(place, _OBJECTS)
            if tree.words[child] not in _RELATIVE or not tree.tags[child].startswith("W")
        ]
        direct = [child for child in own if tree.deps[child] != "dative"] or own
        if direct:
            joined = self._joined(direct[0])
            return [*joined], False, {direct[0]}
        whole = [child for child in self._own(place, {"xcomp", "ccomp"}) if child > place]
        if whole:
            return [whole[0]], True, {whole[0]}
        gap = dep == "relcl" and head not in known.subjects
        preps = self._own(place, {"prep"})
        where = any(tree.tags[child] == "WRB" for child in tree.children[place])
        if gap and not where and all(self._complement(prep) for prep in preps):
            return [head], False, set()
        for prep in preps:
            parts = self._joined(self._complement(prep))
            if parts and (prep > place or dep == "relcl") and tree.words[prep] not in _OF_TIME:
                return [*parts], False, {prep}
        if existing := self._own(place, {"advmod"}):
            behind = [
                child
                for child in existing
                if child > place and tree.words[child] in ("here", "there", "abroad", "home", "away")
            ]
            if behind:
                return [behind[0]], False, {behind[0]}
        return [None], False, set()

    def _complement(self, prep: int) -> int | None:
        return next(iter(self._own(prep, {"pobj", "pcomp"})), None)

    def _joined(self, first: int | None) -> list[int]:
        """It and what is joined to it by `and`, `or`, commas."""
        if first is None:
            return []
        found = [first]
        for place in found:
            if len(found) < _MOST_JOINED:
                found += [child for child in self._own(place, {"conj"}) if not self._tree.tags[child].startswith("VB")]
        return found

    def _says_no(self, place: int) -> bool:
        return any(self._tree.words[child] in ("no", "neither") for child in self._tree.children[place])

    def _lemma(self, place: int) -> str:
        tree = self._tree
        word = verb(tree.words[place], tree.tags[place])
        particles = self._own(place, {"prt"})
        return f"{word} {tree.words[particles[0]]}" if particles else word

    def _outside(self, child: int) -> bool:
        """Whether it says something beside the phrase that it hangs on."""
        tree = self._tree
        if tree.deps[child] == "acl":
            return tree.tags[child] in ("VBN", "VBG", "VBD")
        return tree.deps[child] in _OUTSIDE and tree.words[child] != "-"

    def _range(self, place: int, *, whole: bool = False) -> tuple[int, int]:
        """The tokens of a phrase: without what is joined or said beside it, unless it is read whole."""
        tree = self._tree
        first, last = tree.left[place], tree.right[place]
        if not whole:
            first = last = place
            for child in tree.children[place]:
                if child > place:
                    if self._outside(child):
                        break
                    last = tree.right[child]
            for child in reversed(tree.children[place]):
                if child < place:
                    if self._outside(child) and tree.deps[child] != "punct":
                        break
                    first = tree.left[child]
        while first < last and (
            tree.words[first] in ("no", "to", "that")
            and tree.deps[first] in ("det", "mark", "aux")
            and tree.words[first + 1] != "one"
        ):
            first += 1
        while first < last and (
            tree.deps[first] in ("punct", "cc", "preconj") or tree.words[first] in _PAIRS or tree.words[first].isspace()
        ):
            first += 1
        while last > first and (tree.deps[last] in ("punct", "cc") or tree.words[last].isspace()):
            last -= 1
        return first, last

    def _span(self, first: int, last: int) -> Span:
        start, end = self._tree.starts[first], self._tree.ends[last]
        return Span(self._tree.text[start:end], self._offset + start, self._offset + end)

    def _statement(
        self,
        place: int,
        subject: int | None,
        object_: int | None,
        adjuncts: list[int],
        known: _Verb,
        lemma: str,
        *,
        whole: bool,
    ) -> Statement:
        tree = self._tree
        parts = [(place, place)]
        leading = place  # `wants` of `wants to go`: without it the clause would say another thing
        while True:
            parts += [(child, child) for child in self._own(leading, {"aux", "auxpass", "neg", "prt"})]
            head = tree.heads[leading]
            if tree.deps[leading] != "xcomp" or self._leads(head) is None:
                break
            leading = head
            parts.append((leading, leading))
        said = negated = None
        if object_ is not None:
            said = self._range(object_, whole=whole)
            parts.append(said)
            negated = self._says_no(object_) or tree.words[object_] in _NONE
            first = object_
            while tree.deps[first] == "conj" and first != tree.heads[first]:
                first = tree.heads[first]
            prep = tree.heads[first]
            if tree.deps[first] == "pobj" and tree.heads[prep] == place:
                lemma = f"{lemma} {tree.words[prep]}"
                parts.append((prep, prep))
        places = [self._range(each, whole=True) for each in adjuncts]
        own = sorted(parts + places)
        if subject is not None:
            parts.append(self._range(subject))
        clauses = tuple(self._span(*each) for each in _merged(parts + places))
        return Statement(
            self._span(*self._range(subject)) if subject is not None else None,
            lemma,
            self._span(*said) if said else None,
            known.negated != bool(negated),
            known.modality,
            self._span(*own[0]).start,
            max(self._span(*each).end for each in own),
            tuple(self._span(*each) for each in places),
            clauses,
        )

    def _apposition(self, place: int) -> Iterator[Statement]:
        """`Ann, my sister`: one is the other, where both are nouns and one is a name."""
        tree = self._tree
        head = tree.heads[place]
        if (
            not (tree.noun(place) and tree.noun(head))
            or "NNP" not in (tree.tags[place], tree.tags[head])
            or place < head
        ):
            return
        name, role = (head, place) if tree.tags[head] == "NNP" else (place, head)
        first, second = self._span(*self._range(name)), self._span(*self._range(role))
        if tree.tags[name] == tree.tags[role] and not any(tree.deps[c] == "det" for c in tree.children[role]):
            return
        clauses = tuple(sorted((first, second), key=lambda span: span.start))
        yield Statement(first, "be", second, False, None, clauses[0].start, clauses[-1].end, (), clauses)


def _merged(parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
