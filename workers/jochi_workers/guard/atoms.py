"""A text's tokens as what grammar makes of them: items that mean something, and the small words that hold them together."""

from __future__ import annotations

import re
from typing import NamedTuple

from jochi_workers.guard import lists
from jochi_workers.guard.inflect import inflected, lemma
from jochi_workers.guard.items import Item
from jochi_workers.guard.lists import Language, grammar
from jochi_workers.guard.moments import moment
from jochi_workers.guard.quantities import quantity
from jochi_workers.guard.scan import Token
from jochi_workers.guard.spelling import written_out


class Atom(NamedTuple):
    """``kind``: item, preposition, article, auxiliary, separator or genitive. ``word`` in folded case."""

    kind: str
    word: str
    item: Item | None = None
    first: bool = False


_NOT = re.compile(r"(is|are|was|were|do|does|did|has|have|had|would|could|should|must|need|might)n'?t")
_SHORT = {"'s": "'s", "'re": "be", "'m": "be", "'ve": "have", "'ll": "will", "'d": "'d"}


def atoms(tokens: list[Token], language: Language) -> list[Atom]:
    """In the order of the text."""
    tokens = _expanded(tokens, language)
    found: list[Atom] = []
    phrases = lists.phrases(language)
    particles = lists.fillers(language, "particle")
    place = 0
    first = True
    while place < len(tokens):
        token = tokens[place]
        value = moment(tokens, place, language) or quantity(tokens, place, language)
        if value:
            found.append(Atom("item", "", value[0], first))
            place += value[1]
            first = False
            continue
        folded = token.text.casefold()
        if token.kind == "word":
            together = phrase(tokens, place, phrases)
            if together:
                found.append(Atom("item", together[0], Item("word", together[0], token.text), first))
                place += together[1]
            else:
                if folded not in particles:
                    found.extend(_word(tokens, place, folded, language, found, first))
                place += 1
            first = False
            continue
        found.extend(unworded(token, first))
        first = (token.kind == "mark" and token.text in (".", "!", "?", ":", "\n", ";")) or (
            first and token.kind == "mark"
        )
        place += 1
    return found


def _expanded(tokens: list[Token], language: Language) -> list[Token]:
    """With contractions written out."""
    if language == "de":
        return written_out(tokens)
    contracted = lists.contracted("en")
    found: list[Token] = []
    for place, token in enumerate(tokens):
        folded = token.text.casefold()
        if token.kind == "genitive" and [t.text.casefold() for t in tokens[place + 1 : place + 2]] == ["got"]:
            found.append(Token("word", "has"))
        elif token.kind == "genitive" and _is(tokens[place + 1 : place + 3]):
            found.append(Token("word", "is"))
        elif token.kind != "word":
            found.append(token)
        elif folded in contracted:
            found += [Token("word", word) for word in contracted[folded]]
        elif short := _NOT.fullmatch(folded):
            found += [Token("word", short[1]), Token("word", "not")]
        elif folded.startswith("non-"):
            found += [Token("word", "not"), Token("word", token.text[4:])]
        elif "'" in folded and folded[folded.rindex("'") :] in _SHORT and folded.rindex("'"):
            cut = folded.rindex("'")
            found += _expanded([Token("word", token.text[:cut])], language)
            found.append(Token("word", _SHORT[folded[cut:]]))
        else:
            found.append(token)
    return found


def _is(following: list[Token]) -> bool:
    """Whether `'s` is a verb: what follows belongs to nobody. `Anna's not moved` may be a perfect."""
    words = [token.text.casefold() for token in following]
    if words[:1] == ["not"]:
        return len(words) > 1 and (words[1].endswith("ing") or words[1] in grammar("en", "article"))
    return bool(words) and words[0] in grammar("en", "article")


def phrase(
    tokens: list[Token], place: int, phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
) -> tuple[str, int] | None:
    """The key of the phrase of several words that begins here, and how many they are."""
    for words, key in phrases.get(tokens[place].text.casefold(), ()):
        part = tokens[place : place + len(words)]
        if len(part) == len(words) and all(
            token.kind == "word" and token.text.casefold() == word for token, word in zip(part, words, strict=True)
        ):
            return key, len(words)
    return None


def unworded(token: Token, first: bool) -> list[Atom]:
    """A token that is no word, as it is."""
    kind, text = token
    if kind == "genitive":
        return [Atom("genitive", "'s")]
    if kind == "mark":
        if text == "?":
            return [Atom("item", "?", Item("question", "?", text))]
        return [] if text == "-" else [Atom("separator", text)]
    if kind == "ordinal":
        return [Atom("item", "", Item("ordinal", text[:-2], text), first)]
    if kind == "version":
        return [Atom("item", "", Item("version", text.lstrip("vV").casefold(), text), first)]
    if kind in ("identifier", "quoted"):
        return [Atom("item", "", Item(kind, text, text), first)]
    if kind == "clock":
        return [Atom("item", "", Item("time", f"written {text}", text), first)]
    if kind == "number":
        return [Atom("item", "", Item("number", text, text), first)]
    return [Atom("item", "", Item("symbol", text, text), first)]


def _word(
    tokens: list[Token], place: int, folded: str, language: Language, before: list[Atom], first: bool
) -> list[Atom]:
    text = tokens[place].text
    following = tokens[place + 1] if place + 1 < len(tokens) else Token("", "")

    def is_(group: str) -> bool:
        return folded in grammar(language, group)

    if language == "de" and folded in lists.contracted("de"):
        article = "das" if is_("into") else "dem"
        return [Atom("preposition", lists.contracted("de")[folded][0]), Atom("article", article)]
    if is_("not"):
        if answers(tokens, place):
            return [Atom("item", folded, Item("negation", "no,", text), first)]
        key = "not this" if folded == "nicht" and _denied_alone(following) else "not"
        return [Atom("item", "not", Item("negation", key, text), first)]
    if is_("never"):
        return [Atom("item", "never", Item("negation", "never", text), first)]
    if is_("article"):
        return [Atom("article", folded)]
    for group in ("be", "have", "do", "become"):
        if is_(group) and not (language == "de" and folded in ("sein",) and following.text[:1].isupper()):
            return [Atom("auxiliary", group, Item("word", group, text, "past" if is_("past") else ""))]
    if is_("and") or is_("or"):
        return [Atom("separator", "and" if is_("and") else "or")]
    if is_("expletive") and (_verbs(following) or (before and before[-1].kind == "auxiliary")):
        return []
    if folded == "like" and before and before[-1].word in ("not", "do", "will", "to", "i", "you", "we", "they", "also"):
        return [Atom("item", "like", Item("word", "like", text, _base_form(before)))]
    if is_("preposition") or is_("by") or is_("of") or is_("to"):
        return [Atom("preposition", folded)]
    if is_("subordinator") and not is_("pronoun"):
        return [Atom("separator", folded)]
    if is_("pronoun") or is_("possessive") or is_("quantifier") or is_("modal") or is_("future"):
        key = lists.pairs(language, "synonyms").get(folded, folded)
        if is_("quantifier") and language == "de" and folded.startswith("jede"):
            key = "jeder"
        return [Atom("item", "will" if is_("future") else folded, Item("function", key, text), first)]
    if folded == "'s":
        return [Atom("genitive", "'s")]
    return [_content(text, folded, language, before, first)]


def _verbs(token: Token) -> bool:
    """Whether an auxiliary or a modal stands here: "there is", "there may be"; not "Anna works there"."""
    return any(token.text.casefold() in grammar("en", group) for group in ("be", "have", "modal", "future", "do"))


_BEHIND_AN_ANSWER = frozenset({",", ".", "!", ";", ":", "–", "…"})


def answers(tokens: list[Token], place: int) -> bool:
    """Whether `no` is an answer: a comma or full stop stands behind it, and the text goes on. `No. He lives in Rome.`"""
    behind = tokens[place + 1 : place + 3]
    return bool(behind) and behind[0].text in _BEHIND_AN_ANSWER and (len(behind) > 1 or behind[0].text == ",")


def _denied_alone(following: Token) -> bool:
    """Whether `nicht` denies what stands behind it, and not the sentence: `nicht alle`, `nicht am Montag`, `nicht Anna`."""
    folded = following.text.casefold()
    classes = ("preposition", "pronoun", "possessive", "quantifier", "article", "by")
    return following.kind == "word" and (
        following.text[:1].isupper()
        or folded in lists.contracted("de")
        or any(folded in grammar("de", name) for name in classes)
    )


def _content(text: str, folded: str, language: Language, before: list[Atom], first: bool) -> Atom:
    synonyms = lists.pairs(language, "synonyms")
    ordinals = lists.numbers(language, "ordinals")
    if language == "en" and folded in ordinals:
        return Atom("item", folded, Item("ordinal", str(ordinals[folded]), text), first)
    if language == "de" and text.islower():
        for ending in ("e", "er", "es", "en", "em"):
            if folded.endswith(ending) and folded[: -len(ending)] in ordinals:
                return Atom("item", folded, Item("ordinal", str(ordinals[folded[: -len(ending)]]), text), first)
    capital = text[:1].isupper()
    if folded in synonyms:
        key, form = synonyms[folded], ""
    elif capital and not first and language == "en":
        key, form = folded, ""
    else:
        key, form = inflected(text, language)
        if capital and form == "irregular":
            key, form = folded, ""  # a name at the beginning of a sentence rather than a verb
        key = synonyms.get(key, key)
    if form == "irregular":
        form = "ed"
    if language == "en" and form == "" and not capital:
        form = _base_form(before)
    if language == "de" and not capital:
        form = "" if folded in synonyms else _german_form(folded, key)
    name = capital and _named(folded, text, language, first)
    return Atom("item", folded, Item("name" if name else "word", key.replace("ß", "ss"), text, form), first)


def _named(folded: str, text: str, language: Language, first: bool) -> bool:
    """Whether a word with a capital is a name: in the dictionary as one, or not in it."""
    english = lemma(folded, "en")
    proper = english is not None and english[:1].isupper()
    if language == "en":
        return not first or english is None or proper
    return proper or lemma(text, "de") is None


def _base_form(before: list[Atom]) -> str:
    """What the base form of a verb stands for behind `do`, `to` and modals; '' where nothing says that it is one."""
    for atom in reversed(before[-3:]):
        if atom.kind == "auxiliary" and atom.word == "do":
            return "ed" if atom.item and atom.item.form == "past" else "present"
        if atom.kind == "item" and atom.item and atom.item.kind == "negation":
            continue
        if atom.kind == "preposition" and atom.word == "to":
            return "verb"
        if atom.kind == "item" and (atom.word == "will" or atom.word in grammar("en", "modal")):
            return "verb"
        return ""
    return ""


_VOWELS = (("e", "i"), ("e", "ie"), ("a", "ä"), ("au", "äu"), ("o", "ö"))


def _german_form(folded: str, base: str) -> str:
    """`present` for the third person, `past` for a weak preterite; else the word itself."""
    if folded == base or not base.endswith("n"):
        return folded
    stem = base.removesuffix("n").removesuffix("e")
    present = {stem + "t", stem + "et"}
    for plain, changed in _VOWELS:
        head, found, tail = stem.rpartition(plain)
        if found:
            present |= {head + changed + tail + "t", head + changed + tail}
    if folded in present:
        return "present"
    return "past" if folded in (stem + "te", stem + "ete", stem + "ten", stem + "eten") else folded
