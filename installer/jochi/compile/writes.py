"""Which properties a Cypher text writes, and on what: read from the text itself.

A name that only a value holds (``m[name] = …``, ``m += $map``) can't be read from a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_WORDS = "MATCH|WITH|RETURN|UNWIND|CALL|SET|REMOVE|CREATE|MERGE|FOREACH|DELETE|DETACH|OPTIONAL|UNION|ON|WHERE|ORDER|YIELD|USING"
_CLAUSE = re.compile(rf"\b(?:{_WORDS})\b")
_UNREAD = re.compile(r"'(?:\\.|[^'\\])*'|//[^\n]*")
_IDENTIFIER = re.compile(r"(?<![\w$])[a-z_]\w*\b(?!\s*[(:.])")
ENGINE_LABEL = re.compile(r"(?:Jochi|Curation|__)\w*")
"""Labels of the engine's own nodes begin so."""
_OPENING, _CLOSING = "([{", ")]}"


class Write(NamedTuple):
    """A property that is written (or taken away) on what a variable stands for at that place."""

    variable: str
    name: str
    place: int


def without_comments_and_strings(text: str) -> str:
    """A text of which only what a server does is left: strings are empty, names stand without their quotes."""
    return _UNREAD.sub(lambda found: "''" if found[0][0] == "'" else "", text).replace("`", "")


def writes_on_nodes(text: str) -> set[str]:
    """The names of properties that ``text`` writes on nodes that aren't the engine's own: on memories, or what may be one."""
    text = without_comments_and_strings(text)
    bound = _bindings(text)
    return {write.name for write in _writes(text) if not _is_the_engines(bound, write.variable, write.place)}


def _writes(text: str, *, everything: bool = False) -> Iterator[Write]:
    """``everything``: also on nodes that the text makes with labels of the engine's alone."""
    for clause in re.finditer(r"\b(?:SET|REMOVE)\b", text):
        for start, item in _items(text, clause.end()):
            if one := re.match(r"\s*(\w+)\.(\w+)\s*(?:=(?!~)|$)", item):
                yield Write(one[1], one[2], start)
            elif whole := re.match(r"\s*(\w+)\s*\+?=\s*(?:(\w+)\s*$|(?=[^\w\s]|\w+\W))", item):
                given = item[whole.end() :] if whole[2] is None else _map_called(text[:start], whole[2])
                names = list(_names(given))
                for name in names or (["*"] if everything else []):
                    yield Write(whole[1], name, start)
    for made in re.finditer(r"\b(?:CREATE|MERGE)\b", text):
        for start, item in _items(text, made.end()):
            for node in re.finditer(r"(?<!\w)\((\w*)\s*(?::([\w|:]+))?\s*(?=\{)", item):
                if everything or node[2] is None or not _are_the_engines(node[2]):
                    for name in _names(item[node.end() :]):
                        yield Write(node[1], name, start + node.end())


def _items(text: str, start: int) -> Iterator[tuple[int, str]]:
    """What stands in a clause from ``start`` on, parted by its commas."""
    depth, begin = 0, start
    for at in range(start, len(text) + 1):
        sign = text[at : at + 1]
        if sign in _OPENING and sign:
            depth += 1
        elif sign in _CLOSING and sign:
            depth -= 1
        ends = not sign or depth < 0 or (depth == 0 and (sign == "|" or _CLAUSE.match(text, at)))
        if ends or (depth == 0 and sign == ","):
            yield begin, text[begin:at].rstrip()
            begin = at + 1
        if ends:
            return


def _names(text: str) -> Iterator[str]:
    """The keys of the first map that ``text`` holds, not those of maps in it."""
    depth = 0
    for found in re.finditer(r"[(\[{]\s*(?:(\w+)\s*:(?!:))?|[)\]}]|,\s*(\w+)\s*:(?!:)", text):
        depth += (found[0][0] in _OPENING) - (found[0] in _CLOSING)
        if depth == 0:
            return
        if depth == 1 and (found[1] or found[2]):
            yield found[1] or found[2]


def _end(text: str, start: int) -> int:
    """Where the brace closes that opens before ``start``."""
    depth = 1
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return start + found.start()
    return len(text)


def _map_called(before: str, variable: str) -> str:
    """The map that has been given a name last, from its brace on."""
    ends = [found.start() for found in re.finditer(rf"\}}\s*AS\s+{variable}\b", before)]
    if not ends:
        return ""
    depth = 0
    for at in range(ends[-1], -1, -1):
        depth += (before[at] == "}") - (before[at] == "{")
        if depth == 0:
            return before[at:]
    return ""


class Binding(NamedTuple):
    """Where a variable gets a value, and up to where. ``known``: whether it is the engine's; None: what its ``sources`` are."""

    place: int
    known: bool | None
    until: int
    sources: tuple[str, ...] = ()
    seen: int = 0
    labels: frozenset[str] = frozenset()


Bindings = Mapping[str, list[Binding]]


def _bindings(text: str) -> Bindings:
    found: dict[str, list[Binding]] = {}
    # What such a subquery binds nobody outside of it sees.
    closed = [(each.end(), _end(text, each.end())) for each in re.finditer(r"\b(?:EXISTS|COUNT|COLLECT)\s*\{", text)]
    for each in re.finditer(
        r"(?<=-)\[(\w+)\s*[:*\]{]|\((\w+)\s*:([\w|:]+)|\bFOREACH\s*\(\s*(\w+)\s+IN\s|\bAS\s+(\w+)", text
    ):
        relationship, node, labels, item, alias = each.groups()
        until = min((end for begin, end in closed if begin <= each.start() < end), default=len(text))
        if relationship:
            found.setdefault(relationship, []).append(Binding(each.start(), True, until))
        elif node:
            named = frozenset(filter(ENGINE_LABEL.fullmatch, re.split("[|:]", labels)))
            found.setdefault(node, []).append(Binding(each.start(), _are_the_engines(labels), until, labels=named))
        else:
            begin = max(0, *(text.rfind(sign, 0, each.start()) for sign in ",\n"))
            source = next(_items(text, each.end()))[1] if item else text[begin : each.start()]
            branches = " ".join(re.findall(r"\b(?:THEN|ELSE)\s+(\S+)", source)) or source
            collected = re.search(r"\bRETURN\s+(\w+)\s*\}\s*$", source)
            sources = tuple(
                re.findall(r"\[(\w+)\]", source) or _IDENTIFIER.findall(collected[1] if collected else branches)
            )
            seen = each.start() - len(source) + collected.start() if collected else each.start()
            found.setdefault(item or alias, []).append(Binding(each.start(), None, until, sources, seen))
    return found


def _are_the_engines(labels: str) -> bool:
    return all(ENGINE_LABEL.fullmatch(label) for label in re.split("[|:]", labels))


def _is_the_engines(bound: Bindings, variable: str, place: int, deep: int = 0) -> bool:
    """Whether ``variable`` stands for a relationship or for a node of the engine's, by where it got its value last."""
    before = [each for each in bound.get(variable, ()) if each.place <= place < each.until]
    if not before or deep > 6:
        return False
    last = before[-1]
    if last.known is not None:
        return last.known
    sources = [
        name for name in last.sources if name != variable and any(b.place < last.seen for b in bound.get(name, ()))
    ]
    return bool(sources) and all(_is_the_engines(bound, name, last.seen - 1, deep + 1) for name in sources)


OTHERS = ""
"""In the place of a label: nodes that aren't the engine's, such as memories."""


@dataclass
class LabelWrites:
    """What a text does to the nodes of one label. ``properties``: those it sets; `*`: by a map, any."""

    creates: bool = False
    deletes: bool = False
    is_set: bool = False
    """The label is put on nodes that exist."""
    beside: set[str] = field(default_factory=set)
    """Other labels that the same node has."""
    properties: set[str] = field(default_factory=set)

    def add(self, other: LabelWrites) -> None:
        """Does that as well."""
        self.creates |= other.creates
        self.deletes |= other.deletes
        self.is_set |= other.is_set
        self.properties |= other.properties
        self.beside |= other.beside


def writes_by_label(text: str) -> dict[str, LabelWrites]:
    """What ``text`` does to nodes, by the labels that it names: those of the engine's, and whatever it creates or sets. Where a
    variable stands for one or another thing, to both. `OTHERS`: what it does to nodes that aren't the engine's, or may be none.
    A label that only a value holds (`SET n:$(label)`) can't be read from a text."""
    text = without_comments_and_strings(text)
    bound = _bindings(text)
    found: dict[str, LabelWrites] = {}

    def of(variable: str, place: int) -> list[LabelWrites]:
        labels = set(_engine_labels(bound, variable, place))
        if not _is_the_engines(bound, variable, place):
            labels.add(OTHERS)
        return [found.setdefault(label, LabelWrites()) for label in labels]

    for write in _writes(text, everything=True):
        for each in of(write.variable, write.place):
            each.properties.add(write.name)
    for made in re.finditer(r"\b(?:CREATE|MERGE)\b(?!\s+(?:CONSTRAINT|INDEX|\w+\s+INDEX))", text):
        for _, item in _items(text, made.end()):
            for node in re.finditer(r"(?<!\w)\(\w*\s*:([\w|:]+)\s*(?=[{)])", item):
                labels = re.split("[|:]", node[1])
                for label in labels:
                    writes = found.setdefault(label, LabelWrites())
                    writes.creates = True
                    writes.beside |= {*labels} - {label}
                    if item[node.end() :].startswith("{"):
                        writes.properties |= set(_names(item[node.end() :]))
    for deleted in re.finditer(r"\bDELETE\b", text):
        for start, item in _items(text, deleted.end()):
            for each in of(item.strip(), start):
                each.deletes = True
    for clause in re.finditer(r"\bSET\b", text):
        for start, item in _items(text, clause.end()):
            if labelled := re.fullmatch(r"\s*(\w+):([\w:]+)\s*", item):
                for label in labelled[2].split(":"):
                    writes = found.setdefault(label, LabelWrites())
                    writes.is_set = True
                    writes.beside |= _engine_labels(bound, labelled[1], start)
    return found


def _engine_labels(bound: Bindings, variable: str, place: int, deep: int = 0) -> frozenset[str]:
    """The engine's labels of what ``variable`` may stand for, by where it got its value last."""
    before = [each for each in bound.get(variable, ()) if each.place <= place < each.until]
    if not before or deep > 6:
        return frozenset()
    last = before[-1]
    if last.known is not None:
        return last.labels
    found = frozenset().union(
        *(_engine_labels(bound, name, last.seen - 1, deep + 1) for name in last.sources if name != variable)
    )
    # What has gone through maps and lists of them comes out under the name that it went in with.
    return found or frozenset().union(*(each.labels for each in before))
