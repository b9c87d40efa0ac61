"""Words as dictionaries have them: base forms, and what is no name. By simplemma (extra [workers] or [language]), where it is
installed."""

from __future__ import annotations

from jochi.text.kept import kept

LANGUAGES = frozenset(
    "bg cs da de el en es et fa fi fr hi hu id it lt lv nl pl pt ro ru sk sv sw tr uk".split()  # noqa: SIM905
)
"""Those whose dictionaries are used here."""


@kept(16_384)
def base_form(word: str, *languages: str) -> str:
    """The base form of a word, caseless, by the first of the dictionaries that has it; the word where none does."""
    try:
        import simplemma
    except ImportError:
        return word.casefold()
    known = tuple(each for each in languages if each in LANGUAGES)
    return str(simplemma.lemmatize(word, lang=known)).casefold() if known else word.casefold()


@kept(16_384)
def is_known(word: str, *languages: str) -> bool | None:
    """Whether one of the dictionaries has it as it is written; None where none is installed."""
    try:
        import simplemma
    except ImportError:
        return None
    return any(simplemma.is_known(word, lang=each) for each in languages if each in LANGUAGES)


@kept(16_384)
def is_plain_word(word: str, *languages: str) -> bool | None:
    """Whether one of the dictionaries has it, and neither as a name nor as a German noun: `heute` begins a sentence as a name does.
    None where none is installed."""
    if (known := is_known(word, *languages)) is None:
        return None
    return known and any(
        is_known(word, each) and _capital_base(word, each)[:1].islower() for each in languages if each in LANGUAGES
    )


@kept(16_384)
def _capital_base(word: str, language: str) -> str:
    import simplemma

    return str(simplemma.lemmatize(word.capitalize(), lang=language))
