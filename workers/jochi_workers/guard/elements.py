"""What a text says, as a row of items, phrases that a preposition opens, and separators."""

from __future__ import annotations

import re

from jochi_workers.guard.atoms import Atom
from jochi_workers.guard.items import DURATIONS, MOMENTS, PERIODS, WHEN, Element, Item, Phrase, Separator
from jochi_workers.guard.lists import Language, grammar
from jochi_workers.guard.scope import tied

GENITIVE = Item("function", "'s", "'s")
_PASSIVE = Item("voice", "passive", "")
_STATE = Item("voice", "state", "")
_PERFECT = Item("voice", "perfect", "")
_ENDS_PHRASE = frozenset({"quantity", "identifier", "quoted", "version", "date", "month", "weekday", "time"})
_A_PERIOD = frozenset({"in", "per", "pro"})
_EACH = frozenset({"every", "each", "alle"})
_WHICH_DAY = {
    **dict.fromkeys(("every", "each"), "every"),
    **{word: word for word in ("next", "last", "this", "jeder")},
}
_AFTER_TWO_WAY = {
    **dict.fromkeys(("die", "das", "eine", "einen"), "where to"),
    **dict.fromkeys(("der", "dem", "einer", "einem"), "where"),
}
_PARTICIPLE = re.compile(
    r"(?:\w*ge\w{2,}(?:t|en)|(?:be|ver|er|ent|emp|zer|miss|über|unter|wider|hinter)\w{2,}(?:t|en)|\w+iert)"
)


_EVERY = Item("function", "every", "every")


def _each(element: Element) -> bool:
    return isinstance(element, Item) and element.kind == "function" and element.key in _EACH


def _alone() -> frozenset[str]:
    return grammar("en", "when_alone") | grammar("en", "how_often")


def _denies(element: Element) -> bool:
    return isinstance(element, Item) and element.kind == "negation"


def elements(atoms: list[Atom], language: Language) -> list[Element]:
    """In the order of the text, with auxiliaries read and possessives written in one way."""
    atoms = _german_verbs(atoms) if language == "de" else _english_verbs(_gerunds(_got(atoms)))
    row = _Builder(_who_is_who(atoms, language), language).build()
    if tied(row, language, listed=False) and not any(isinstance(one, Item) and one.key == "something" for one in row):
        return row
    return _plain_order(_given(row)) if language == "en" else _clause_first(_subject_first(row))


def _given(row: list[Element]) -> list[Element]:
    """`Anna gave the keys to Ben` as `Anna gave Ben the keys`: verbs that allow both, in texts of one clause."""
    end = len(row)
    while end and isinstance(row[end - 1], Separator):
        end -= 1
    if any(isinstance(element, Separator) or element == _PASSIVE for element in row[:end]):
        return row
    verb = next((at for at, one in enumerate(row[:end]) if isinstance(one, Item) and _gives(one)), end)
    to = next((at for at in range(verb, end) if isinstance(row[at], Phrase)), end)
    phrase = row[to] if verb + 1 < to < end else None
    if not isinstance(phrase, Phrase) or phrase.marker != "to" or [item.kind for item in phrase.items] != ["name"]:
        return row
    last = row[to - 1]
    if isinstance(last, Item) and (last.form in _VERB_FORMS or last.key in grammar("en", "before_to")):
        return row  # "sold the house next to Ben"
    return [*row[: verb + 1], phrase.items[0], *row[verb + 1 : to], *row[to + 1 :]]


def _who_is_who(atoms: list[Atom], language: Language) -> list[Atom]:
    """`The head is Anna` as `Anna is the head`: two that are one, each a name or a known thing, in one order."""
    end = len(atoms)
    while end and atoms[end - 1].kind == "separator":
        end -= 1
    verbs = [at for at, atom in enumerate(atoms[:end]) if atom.item and (atom.kind, atom.item.key) == ("item", "be")]
    if len(verbs) != 1:
        return atoms
    sides = [[a for a in part if a.kind != "break"] for part in (atoms[: verbs[0]], atoms[verbs[0] + 1 : end])]
    if not all(_known(side, language) for side in sides):
        return atoms
    first, second = sorted(sides, key=lambda side: [(atom.kind, atom.word) for atom in side])
    return [*first, Atom("break", ""), atoms[verbs[0]], *second, *atoms[end:]]


def _known(side: list[Atom], language: Language) -> bool:
    """Whether this names one thing alone: `Anna`, `the head of Anna's team`, `my boss`."""
    if not side or any(
        atom.kind not in ("article", "item", "genitive") and atom.word not in ("of", "von") for atom in side
    ):
        return False
    items = [atom.item for atom in side if atom.item]
    if not items or any(item.kind not in ("word", "name", "function") for item in items):
        return False
    named = len(side) == 1 and (items[0].kind == "name" or (language == "de" and items[0].text[:1].isupper()))
    owned = len(items) > 1 and (side[1].kind == "genitive" or side[0].word in grammar(language, "possessive"))
    return named or owned or side[0].word in grammar(language, "definite")


_VERB_FORMS = frozenset({"ing", "ed", "irregular"})


def _gives(item: Item) -> bool:
    return item.kind == "word" and item.key in grammar("en", "dative")


def _subject_first(row: list[Element]) -> list[Element]:
    """`Den Plan billigte Anna im Mai` as `Anna billigte den Plan im Mai`, in texts of one clause; its subject is one word."""
    end = len(row)
    while end and isinstance(row[end - 1], Separator):
        end -= 1
    if end < len(("case", "object", "verb", "subject")) or any(isinstance(element, Separator) for element in row[:end]):
        return row
    case, object_, verb, subject = row[:4]
    if not (isinstance(case, Item) and (case.kind, case.key) == ("case", "accusative")):
        return row
    if not (_is_subject(object_) and isinstance(verb, Item) and _is_subject(subject)):
        return row
    if verb.kind not in ("word", "function", "voice") or verb.text[:1].isupper() or verb == _PASSIVE:
        return row
    return [subject, verb, case, object_, *row[4:]]


_GERMAN_CLAUSES = frozenset(
    Separator(word) for word in ("wenn", "weil", "falls", "obwohl", "sobald", "solange", "nachdem", "bevor", "während")
)


def _clause_first(row: list[Element]) -> list[Element]:
    """`Anna liest, wenn es regnet` as `Wenn es regnet, liest Anna`; the subject is one word, in texts of two clauses."""
    end = len(row)
    while end and isinstance(row[end - 1], Separator):
        end -= 1
    marks = [place for place, element in enumerate(row[:end]) if isinstance(element, Separator)]
    if len(marks) != 2 or row[marks[0]] != Separator(",") or marks[1] != marks[0] + 1:
        return row
    main, clause = row[: marks[0]], row[marks[1] : end]
    if clause[0] not in _GERMAN_CLAUSES or len(main) < 2:
        return row
    subject, verb = main[:2]
    if not (_is_subject(subject) and isinstance(verb, Item) and verb.kind in ("word", "voice")):
        return row
    return [*clause, Separator(","), verb, subject, *main[2:], *row[end:]]


def _is_subject(element: Element) -> bool:
    return isinstance(element, Item) and (element.kind == "name" or element.text[:1].isupper())


_CLAUSES = frozenset(
    Separator(word) for word in ("when", "whenever", "if", "because", "unless", "although", "while", "once")
)


def _plain_order(row: list[Element]) -> list[Element]:
    """`When it rains, Anna reads` as `Anna reads when it rains`, `Tea is something Anna likes` as `Anna likes tea`.

    The first in texts of two clauses, the second in texts of one.
    """
    end = len(row)
    while end and isinstance(row[end - 1], Separator):
        end -= 1
    marks = [place for place, element in enumerate(row[:end]) if isinstance(element, Separator)]
    if len(marks) == 2 and row[0] in _CLAUSES and row[marks[1]] == Separator(",") and 1 < marks[1] < end - 1:
        return [*row[marks[1] + 1 : end], *row[: marks[1]], *row[end:]]
    if any(isinstance(element, Separator) for element in row[:end]):
        return row
    for place in range(1, end - 3):
        copula, something = row[place], row[place + 1]
        if isinstance(copula, Item) and isinstance(something, Item) and something.key == "something":
            rest = row[place + 2 : end]
            if (copula.key, copula.form) != ("be", "present") or isinstance(rest[0], Phrase):
                return row
            tail = len(rest)
            while isinstance(rest[tail - 1], Phrase):
                tail -= 1
            return [*rest[:tail], *row[:place], *rest[tail:], *row[end:]]
    return row


def _item(atom: Atom) -> Item | None:
    return atom.item if atom.kind == "item" else None


def _got(atoms: list[Atom]) -> list[Atom]:
    """`has got` as `has`; not "had got", nor "has got to go"."""
    found: list[Atom] = []
    for place, atom in enumerate(atoms):
        has = found[-1] if found else Atom("", "")
        thing = place + 1 < len(atoms) and (
            atoms[place + 1].kind == "article"
            or ((item := atoms[place + 1].item) is not None and item.kind in ("number", "name", "quantity", "function"))
        )
        if atom.word == "got" and has.word == "have" and has.item and has.item.form != "past" and thing:
            found[-1] = has._replace(kind="item", item=has.item._replace(form="present"))
        else:
            found.append(atom)
    return found


def _gerunds(atoms: list[Atom]) -> list[Atom]:
    """`likes to swim` as `likes swimming`, of verbs to which both say the same; not "would like to swim"."""
    found: list[Atom] = []
    place = 0
    while place < len(atoms):
        atom = atoms[place]
        found.append(atom)
        place += 1
        following = atoms[place : place + 2]
        if (
            atom.kind == "item"
            and atom.item
            and atom.item.key in grammar("en", "either_form")
            and atom.item.form != "verb"
            and len(following) > 1
            and following[0].word == "to"
            and (verb := following[1].item)
            and verb.kind == "word"
            and verb.form == "verb"
            and verb.text.islower()
        ):
            found.append(following[1]._replace(item=verb._replace(form="ing")))
            place += 2
    return found


def _english_verbs(atoms: list[Atom]) -> list[Atom]:
    """Without auxiliaries; a verb's form says its tense instead, and a mark its voice."""
    found: list[Atom] = []
    place = 0
    while place < len(atoms):
        atom = atoms[place]
        if atom.kind != "auxiliary":
            found.append(atom)
            place += 1
            continue
        group: list[Atom] = []
        between: list[Atom] = []
        end = place
        while end < len(atoms) and len(group) + len(between) < 8:
            now = atoms[end]
            if now.kind == "auxiliary":
                group.append(now)
            elif (
                now.kind == "item"
                and now.item
                and (now.item.kind in ("negation", "function") or now.word.endswith("ly"))
            ):
                if now.item.kind == "function" and group[-1].word == "have":
                    break
                between.append(now)
            else:
                break
            end += 1
        verb = atoms[end].item if end < len(atoms) and atoms[end].kind == "item" else None
        rest, form, voice = _group(group, verb, bool([a for a in between if a.item and a.item.kind == "negation"]))
        found += [Atom("break", ""), *rest, *between, *voice]
        if verb is not None and form is not None:
            found.append(atoms[end]._replace(item=verb._replace(form=form)))
            end += 1
        place = end
    return found


def _group(group: list[Atom], verb: Item | None, negated: bool) -> tuple[list[Atom], str | None, list[Atom]]:
    """What stays of a group of auxiliaries, the verb's new form, and a mark for the passive."""
    names = [atom.word for atom in group]
    past = bool(group[0].item and group[0].item.form == "past")
    kept = [Atom("item", atom.word, atom.item._replace(form=_tense(atom))) for atom in group if atom.item]
    if verb is None or verb.kind not in ("word", "name"):
        return kept, None, []
    if names[0] == "do" and len(names) == 1:
        base = verb.form in ("", "verb", "present", "ed")
        if not base or not (negated or verb.form == ""):
            return kept, None, []
        return [], "ed" if past else "present", []
    perfect = names[0] == "have"
    last = names[-1]
    if last == "be" and verb.form == "ing":
        # What goes on now isn't what somebody always does.
        return [], f"{'perfect ' * perfect}{'was' if past else 'is'} going on", []
    if last == "be" and verb.form == "ed":
        form = ("had" if past else "perfect") if perfect else ("ed" if past else "present")
        return [], form, [Atom("item", "passive", _PASSIVE)]
    if names == ["have"] and verb.form == "ed":
        return [], "had" if past else "perfect", []
    return kept, None, []


def _tense(atom: Atom) -> str:
    return "past" if atom.item and atom.item.form == "past" else "present"


def _german_verbs(atoms: list[Atom]) -> list[Atom]:
    """Without auxiliaries that belong to a participle in the same clause; the participle's form says the tense."""
    found = list(atoms)
    for place, atom in enumerate(atoms):
        if atom.kind != "auxiliary" or not atom.item:
            continue
        end = place + 1
        while end < len(atoms) and atoms[end].kind != "separator":
            end += 1
        last = next((at for at in range(end - 1, place, -1) if _is_participle(atoms[at])), None)
        past = atom.item.form == "past"
        if last is None or (atom.word == "have" and past):
            found[place] = Atom("item", atom.word, atom.item._replace(form="past" if past else "present"))
            continue
        participle = found[last].item
        if participle is None:
            continue
        form = "past" if past or atom.word == "have" else "present"
        found[last] = found[last]._replace(item=participle._replace(form=form))
        voice = {"have": _PERFECT, "become": _PASSIVE, "be": _STATE}[atom.word]
        found[place] = Atom("item", "voice", voice)
    return found


def _is_participle(atom: Atom) -> bool:
    item = _item(atom)
    return bool(item and item.kind == "word" and item.text.islower() and _PARTICIPLE.fullmatch(atom.word))


class _Builder:
    def __init__(self, atoms: list[Atom], language: Language) -> None:
        self.atoms, self.language = atoms, language
        self.found: list[Element] = []
        self.marker: str | None = None
        self.inside: list[Item] = []
        self.article = False
        self.start = 0  # where the noun phrase at hand begins, in `found` or in `inside`

    def build(self) -> list[Element]:
        place = 0
        while place < len(self.atoms):
            atom = self.atoms[place]
            following = self.atoms[place + 1] if place + 1 < len(self.atoms) else Atom("separator", ".")
            if atom.kind == "separator":
                self._close()
                self.found.append(Separator(atom.word))
                self._phrase_begins()
            elif atom.kind == "article":
                self._article(atom)
            elif atom.kind == "break":
                self._close()
                self._phrase_begins()
            elif atom.kind == "genitive":
                (self.found if self.marker is None else self.inside).append(GENITIVE)
            elif atom.kind == "preposition":
                place += self._preposition(place, atom, following)
            elif atom.item is not None:
                self._add(atom.item, following)
            place += 1
        self._close()
        return self._when(self.found)

    def _phrase_begins(self) -> None:
        self.article = False
        self.start = len(self.found) if self.marker is None else len(self.inside)

    def _close(self) -> None:
        if self.marker is not None:
            marker, items = self.marker, tuple(self.inside)
            self.marker, self.inside = None, []
            if items:
                plain = marker.partition(" + ")[0]
                if len(items) == 1 and (
                    (items[0].kind in MOMENTS and plain in grammar(self.language, "moment_preposition"))
                    or (items[0].key in PERIODS and plain in _A_PERIOD)
                ):
                    marker = WHEN
                self.found.append(Phrase(marker, items))
            else:
                self.found.append(Item("word", marker, marker))
            self._phrase_begins()

    def _article(self, atom: Atom) -> None:
        if self.marker is not None and self.inside:
            self._close()
        self._phrase_begins()
        self.article = True
        if self.language == "en":
            return
        if self.marker is None:
            case = next((case for case in ("accusative", "dative") if atom.word in grammar("de", case)), "")
            if case:
                self.found.append(Item("case", case, ""))
                self.start = len(self.found)
        elif self.marker in grammar("de", "two_way"):
            self.marker += f" + {_AFTER_TWO_WAY.get(atom.word, atom.word)}"

    def _preposition(self, place: int, atom: Atom, following: Atom) -> int:
        """Opens a phrase; for `of` what it governs goes before its head. Returns how many atoms more were used."""
        if following.kind in ("preposition", "separator", "auxiliary", "break") or (
            following.item is not None and following.item.kind in ("negation", "voice")
        ):
            self._add(Item("word", atom.word, atom.word), following)  # a particle: "came out in", "steht auf"
            return 0
        if self.language == "en" and atom.word == "to" and self._infinitive(place + 1):
            self._close()
            self.found.append(Item("function", "to", "to"))
            return 0
        if self.language == "en" and atom.word == "of" and (self.found or self.inside):
            owner, used = self._owner(place + 1)
            place_in = self.found if self.marker is None else self.inside
            at = self.start if self.article else max(self.start, len(place_in) - 1)
            if owner and at < len(place_in):
                place_in[at:at] = [*owner, GENITIVE]
                return used
        self._close()
        self.marker, self.inside = atom.word, []
        self._phrase_begins()
        return 0

    def _infinitive(self, place: int) -> bool:
        """Whether a verb stands here: a small word that an object or an article follows."""
        verb = self.atoms[place].item if place < len(self.atoms) else None
        object_ = self.atoms[place + 1] if place + 1 < len(self.atoms) else None
        return (
            verb is not None
            and verb.kind == "word"
            and verb.text[:1].islower()
            and object_ is not None
            and object_.kind in ("item", "article")
        )

    def _owner(self, place: int) -> tuple[list[Item], int]:
        owner: list[Item] = []
        start = place
        while place < len(self.atoms):
            atom = self.atoms[place]
            if atom.kind == "article" and not owner:
                place += 1
                continue
            if atom.kind == "genitive" and owner:
                owner.append(GENITIVE)
            elif (
                atom.item is None
                or atom.kind != "item"
                or atom.item.kind in ("negation", "voice", "question")
                or (owner and atom.item.kind == "function")
            ):
                break
            else:
                owner.append(atom.item)
                ends = atom.item.kind in _ENDS_PHRASE or (atom.item.kind == "name" and not self._named(place + 1))
                if ends and self.atoms[start].kind != "article" and not self._genitive(place + 1):
                    place += 1
                    break
            place += 1
        return owner, place - start

    def _named(self, place: int) -> bool:
        item = self.atoms[place].item if place < len(self.atoms) else None
        return bool(item and item.kind == "name")

    def _genitive(self, place: int) -> bool:
        return place < len(self.atoms) and self.atoms[place].kind == "genitive"

    def _add(self, item: Item, following: Atom) -> None:
        if self.marker is None:
            self.found.append(item)
            return
        auxiliary = item.key in ("be", "have", "do", "become") and item.form in ("past", "present")
        if item.kind in ("negation", "voice", "question") or auxiliary or (item.kind == "function" and self.inside):
            self._close()
            self.found.append(item)
            return
        self.inside.append(item)
        next_ = following.item if following.kind == "item" else None
        if following.kind == "genitive":
            return
        if item.kind in _ENDS_PHRASE:
            self._close()
        elif self.language == "en":
            joined = next_ is not None and next_.kind in ("name", "version", "number")
            if item.kind == "name" and not self.article and not joined:
                self._close()
        elif item.text[:1].isupper() and not (
            next_
            and (
                (item.kind == "name" and next_.kind in ("word", "name") and next_.text[:1].isupper())
                or next_.kind in ("version", "number", "identifier", "quoted")
            )
        ):
            self._close()

    def _tells_when(self, row: list[Element], at: int) -> bool:
        """`every morning`, `last year`, `yesterday`; `often`, if nothing is denied. Not `last year's`, nor `every morning show`."""
        element, before = row[at], row[at - 1] if at else None
        behind = row[at + 1] if at + 1 < len(row) else None
        if not isinstance(element, Item) or element.kind not in ("word", "name") or behind == GENITIVE:
            return False
        folded = element.text.casefold()
        if folded in grammar("en", "how_often"):
            graded = isinstance(before, Item) and before.kind == "function"
            return not graded and not any(_denies(one) for one in row)
        noun = isinstance(behind, Item) and behind.kind == "word" and behind.form in ("", "s")
        if folded in grammar("en", "when_alone"):
            return not noun
        whole = folded in PERIODS or folded in grammar("en", "day_part")
        return whole and not noun and isinstance(before, Item) and before.key in _WHICH_DAY

    def _when(self, row: list[Element]) -> list[Element]:
        """Moments that stand without a preposition say when, together with `every`, `next` or `last` before them."""
        found: list[Element] = []
        for at, element in enumerate(row):
            if isinstance(element, Item) and element.kind in MOMENTS:
                which = found[-1] if found else None
                always = (
                    isinstance(which, Item) and element.kind == "weekday" and which.key in ("every", "each", "jeder")
                )
                if always and "s" not in element.key and not any(_denies(one) for one in row):
                    found[-1] = Phrase(WHEN, (element._replace(key=element.key + "s"),))
                elif isinstance(which, Item) and which.key in _WHICH_DAY:
                    found.pop()
                    found.append(Phrase(WHEN, (which._replace(key=_WHICH_DAY[which.key], form=""), element)))
                else:
                    found.append(Phrase(WHEN, (element,)))
            elif isinstance(element, Item) and self.language == "en" and self._tells_when(row, at):
                which = found.pop() if element.text.casefold() not in _alone() else None
                which = which._replace(key=_WHICH_DAY[which.key], form="") if isinstance(which, Item) else None
                found.append(Phrase(WHEN, (which, element) if which else (element,)))
            elif isinstance(element, Item) and element.readings & DURATIONS and found and _each(found[-1]):
                found[-1] = Phrase(WHEN, (_EVERY, element))
            else:
                found.append(element)
        return found
