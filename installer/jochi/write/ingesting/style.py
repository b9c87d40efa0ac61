"""What a person sees of HTML: style sheets, the styles of elements and what they inherit; what is hidden goes out of the tree.

Known kinds of hiding are in `_is_gone` and `_is_unseen`, those that aren't in docs/reference/ingesting.md. A rule counts where a
window of `_WINDOW` pixels has it; selectors hold elements, classes, ids and attributes, below each other; others are passed over.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from jochi.extras import extra_named

_LONGEST_SHEETS = 1024 * 1024
"""Characters of all style sheets."""
_LONGEST_KEPT = 20_000
"""Characters of style sheets that are kept for the next mail: those of a sender are often the same."""
_LONGEST_VALUE = 300
_MOST_TESTS = 400_000
"""Compounds of selectors that are held against elements."""
_WINDOW = 1_200
_SMALLEST_FONT, _SMALLEST_BOX, _FAR = 2.0, 2.0, 500.0
"""Pixels: smaller letters and boxes can't be seen, and what is farther off isn't on the page."""
_LEAST_OPACITY = 0.05
_LEAST_CONTRAST = 8 / 255
# fmt: off
_NAMES = frozenset((
    "display", "visibility", "font", "font-size", "opacity", "color", "background", "background-color",
    "background-image", "position", "left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top",
    "height", "max-height", "width", "max-width", "overflow", "overflow-x", "overflow-y", "clip", "clip-path",
    "transform", "mso-hide", "content-visibility",
))
_INLINE = frozenset((
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "label", "mark", "q", "s", "small",
    "span", "strike", "strong", "sub", "sup", "tt", "u",
))
_OLD_STYLED = ("a", "body", "font")
"""Elements that have a colour or a size of their own, or by attributes."""
_MOVING = frozenset((
    "hover", "active", "focus", "visited", "before", "after", "placeholder", "selection", "focus-within",
    "focus-visible",
))
# fmt: on
"""In selectors: only while somebody points there, or of what is no text of the mail."""
_SIZE = re.compile(r"(-?[\d.]+)(px|pt|pc|em|rem|ex|ch|in|cm|mm|%|vw|vh)?")
_PIXELS = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "rem": 16.0, "vw": 12.0, "vh": 8.0}
_FONTS = {"1": 10.0, "2": 13.0, "3": 16.0, "4": 18.0, "5": 24.0, "6": 32.0, "7": 48.0}
_FEATURE = re.compile(r"\(\s*(min|max)-(?:device-)?width\s*:\s*([\d.]+)(px|em|rem)\s*\)")
_PARTS_OF_PATH = re.compile(r"inset\(\s*(?:100|5\d|[6-9]\d)(?:\.\d+)?%|circle\(\s*0|polygon\(\s*\)")
_FAR_MOVE = re.compile(
    r"translate(?:x|y|3d)?\([^)]*-\d{3,}(?:\.\d+)?(?:px|%|em|vw|vh)|scale[xy]?\(\s*0(?:\.0+)?\s*[,)]"
)

Rgb = tuple[float, float, float]


class _Compound(NamedTuple):
    """Of a selector what one element must be: its tag, id, classes, attributes `(name, operator, value)`."""

    tag: str | None
    id: str | None
    classes: frozenset[str]
    attributes: tuple[tuple[str, str, str], ...]

    def key(self) -> tuple[str, str]:
        """Where it is looked up."""
        if self.id is not None:
            return "#", self.id
        if self.classes:
            return ".", min(self.classes)
        return ("<", self.tag) if self.tag is not None else ("*", "")

    def weight(self) -> tuple[int, int, int]:
        return int(self.id is not None), len(self.classes) + len(self.attributes), int(self.tag is not None)

    def fits(self, element: Any, classes: frozenset[str]) -> bool:
        return (
            self.tag in (None, element.tag)
            and self.id in (None, element.get("id"))
            and self.classes <= classes
            and all(_has(element.get(name), operator, value) for name, operator, value in self.attributes)
        )


class _Selector(NamedTuple):
    """Compounds from the outermost in; of each whether the next one is a child of it, and not just somewhere below."""

    compounds: tuple[_Compound, ...]
    children: tuple[bool, ...]


class _State(NamedTuple):
    """What an element hands on to those in it. None: it can't be told."""

    size: float
    color: Rgb | None
    is_clear: bool
    background: Rgb | None
    is_visible: bool


_Styles = dict[str, str]
_START = _State(16.0, (0.0, 0.0, 0.0), False, (1.0, 1.0, 1.0), True)


def drop_hidden(tree: Any) -> tuple[bool, bool]:
    """Takes what is hidden off ``tree`` (lxml).

    Whether there was any, and whether all style sheets were read: what only the others hide stays.
    """
    import lxml.etree

    sheets = _sheets(tree)
    matcher = _Matcher(sheets.rules)
    states: list[_State] = [_START._replace(color=None if sheets.paints or not sheets.is_whole else _START.color)]
    gone: list[Any] = []
    unseen: list[Any] = []
    inside: Any = None  # an element that is gone, while its own elements pass
    for event, element in lxml.etree.iterwalk(tree, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        if event == "end":
            if inside is element:
                inside = None
            elif inside is None:
                states.pop()
                matcher.leave()
            continue
        if inside is not None:
            continue
        styles = matcher.enter(element)
        if _is_gone(element, styles, states[-1]):
            gone.append(element)
            inside = element
            matcher.leave()
            continue
        states.append(_handed_on(element, styles, states[-1]))
        if _is_unseen(states[-1], compares=states[0].color is not None and not matcher.is_spent):
            unseen.append(element)
    hides = False
    for element in unseen:
        hides = hides or any(text and text.strip() for text in (element.text, *(child.tail for child in element)))
        element.text = " "
        for child in element:
            child.tail = " "
    for element in gone:
        hides = hides or (element.tag not in ("style", "script") and any(text.strip() for text in element.itertext()))
        tail = element.tail
        element.clear()
        element.tag, element.tail = "span", tail
    return hides, sheets.is_whole and not matcher.is_spent


def _is_gone(element: Any, styles: _Styles, above: _State) -> bool:
    """Whether nothing of the element is seen, whatever stands in it."""
    if element.tag == "template":
        return True
    if not styles and "hidden" not in element.attrib:
        return False
    display = styles.get("display", "none" if "hidden" in element.attrib else "")
    if display == "none" or styles.get("mso-hide") == "all" or styles.get("content-visibility") == "hidden":
        return True
    opacity = _SIZE.fullmatch(styles.get("opacity", ""))
    if opacity and _number(opacity[1]) / (100 if opacity[2] == "%" else 1) < _LEAST_OPACITY:
        return True
    is_placed = styles.get("position", "static") in ("absolute", "fixed")
    is_box = element.tag not in _INLINE or is_placed or display not in ("", "inline")

    def pixels(name: str) -> float | None:
        return _pixels(styles.get(name, ""), above.size)

    overflow = " ".join(styles.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    if is_box and re.search("hidden|clip", overflow):
        for name in ("height", "max-height", "width", "max-width"):
            size = pixels(name)
            if size is not None and size < _SMALLEST_BOX:
                return True
    if styles.get("position", "static") not in ("static", "sticky") and any(
        (offset := pixels(name)) is not None and offset <= -_FAR for name in ("left", "top", "right", "bottom")
    ):
        return True
    if any(
        (offset := pixels(name)) is not None and offset <= -_FAR
        for name in ("text-indent", "margin-left", "margin-top")
    ):
        return True
    corners = re.findall(r"-?[\d.]+", styles.get("clip", "")) if is_placed else []
    if len(corners) == 4 and len({float(_number(each)) for each in corners}) == 1:
        return True
    return bool(_PARTS_OF_PATH.search(styles.get("clip-path", "")) or _FAR_MOVE.search(styles.get("transform", "")))


def _is_unseen(state: _State, *, compares: bool) -> bool:
    """Whether text right in an element isn't seen; what stands in other elements in it may be. ``compares``: colours are known."""
    if not state.is_visible or state.size < _SMALLEST_FONT or state.is_clear:
        return True
    if not compares or state.color is None or state.background is None:
        return False
    return max(abs(one - other) for one, other in zip(state.color, state.background, strict=True)) <= _LEAST_CONTRAST


def _handed_on(element: Any, styles: _Styles, above: _State) -> _State:
    if (
        not styles
        and element.tag not in _OLD_STYLED
        and "bgcolor" not in element.attrib
        and "background" not in element.attrib
    ):
        return above
    size = above.size
    if "font-size" in styles:
        size = _font_size(styles["font-size"], above.size)
    elif element.tag == "font" and element.get("size", "") in _FONTS:
        size = _FONTS[element.get("size")]
    color, is_clear = above.color, above.is_clear
    said = styles.get("color") or (element.get("color") if element.tag == "font" else None)
    said = said or (element.get("text") if element.tag == "body" else None)
    if said is not None and said not in ("inherit", "currentcolor"):
        color, is_clear = _color(said)
    elif said is None and element.tag == "a" and "href" in element.attrib:
        color, is_clear = (0.0, 0.0, 0.93), False
    background = above.background
    if (
        "url(" in styles.get("background-image", "")
        or "gradient(" in styles.get("background-image", "")
        or element.get("background")
    ):
        background = None
    else:
        painted = styles.get("background-color") or element.get("bgcolor")
        if painted is not None and painted not in ("inherit", "initial", "none", "unset"):
            found, is_through = _color(painted)
            background = background if is_through else found
    visibility = styles.get("visibility")
    is_visible = above.is_visible if visibility in (None, "inherit") else visibility not in ("hidden", "collapse")
    return _State(size, color, is_clear, background, is_visible)


def _font_size(said: str, above: float) -> float:
    found = _SIZE.fullmatch(said)
    if found is None or (found[2] is None and _number(found[1]) != 0):
        return above if said in ("inherit", "unset") else 16.0
    if found[2] == "%":
        return above * _number(found[1]) / 100
    size = _pixels(said, above)
    return above if size is None else size


def _pixels(said: str, font: float) -> float | None:
    """A length in pixels; None where it is none, or a part of something."""
    found = _SIZE.fullmatch(said)
    if found is None or found[2] == "%":
        return None
    return _number(found[1]) * (
        _PIXELS.get(found[2], font / 2 if found[2] in ("ex", "ch") else font) if found[2] else 1.0
    )


def _number(digits: str) -> float:
    try:
        return float(digits)
    except ValueError:
        return 1.0


@lru_cache(1_000)
def _color(said: str) -> tuple[Rgb | None, bool]:
    """Red, green and blue from 0 to 1, None where that can't be told; and whether one sees through it."""
    from tinycss2 import color4
    from tinycss2.color3 import parse_color

    value = said.strip().lower()
    if re.fullmatch(r"#(?:[0-9a-f]{4}|[0-9a-f]{8})", value):
        alpha = value[-(len(value) // 4) :]
        if int(alpha, 16) == 0:
            return None, True
        value = value[: -len(alpha)]
    found = parse_color(value) or (parse_color(f"#{value}") if re.fullmatch("[0-9a-f]{6}", value) else None)
    if found is None and isinstance(newer := color4.parse_color(value), color4.Color):
        # As `rgb(0 0 0 / 0%)`; other spaces than that of screens are told by their alpha alone.
        told = tuple(newer) if newer.space == "srgb" else ()
        rgb = (float(told[0]), float(told[1]), float(told[2])) if len(told) > 2 and None not in told[:3] else None
        return rgb, newer.alpha < _LEAST_OPACITY
    if found is None or isinstance(found, str):
        return None, False
    return (found.red, found.green, found.blue), found.alpha < _LEAST_OPACITY


class _Sheets(NamedTuple):
    """The rules of all style sheets that could hide something or show it again, in their order.

    ``is_whole``: these are all. ``paints``: one that isn't understood gives colours, so nobody knows which are seen.
    """

    rules: list[tuple[list[_Selector], _Declared]]
    is_whole: bool
    paints: bool


def _sheets(tree: Any) -> _Sheets:
    texts = [sheet.text or "" for sheet in tree.iter("style") if _is_seen(sheet.get("media", ""))]
    ends = list(itertools.accumulate(map(len, texts)))
    count = bisect.bisect_right(ends, _LONGEST_SHEETS)
    found = (
        _read(tuple(texts[:count]))
        if count and ends[count - 1] < _LONGEST_KEPT
        else _read.__wrapped__(tuple(texts[:count]))
    )
    return found._replace(is_whole=count == len(texts))


@lru_cache(32)
def _read(texts: tuple[str, ...]) -> _Sheets:
    with extra_named():
        import tinycss2

    found: list[tuple[list[_Selector], _Declared]] = []
    paints = False
    for text in texts:
        for prelude, content in _qualified(tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)):
            if declared := _declared(content):
                selectors, is_understood = _selectors(prelude)
                found.append((selectors, declared))
                is_paint = any("color" in name or "background" in name for name, _, _ in declared)
                paints = paints or (is_paint and not is_understood)
    return _Sheets(found, True, paints)


def _qualified(rules: list[Any], depth: int = 0) -> Iterator[tuple[list[Any], list[Any]]]:
    import tinycss2

    for rule in rules:
        if rule.type == "qualified-rule":
            yield rule.prelude, rule.content
        elif rule.type != "at-rule" or rule.lower_at_keyword != "media" or rule.content is None or depth > 3:
            continue
        elif _is_seen(tinycss2.serialize(rule.prelude)):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            yield from _qualified(inner, depth + 1)


def _is_seen(media: str) -> bool:
    """Whether one of some media queries holds in a window on a screen."""
    queries = media.strip()[:_LONGEST_VALUE].lower().split(",")
    return queries == [""] or any(_holds(query.strip()) for query in queries)


def _holds(query: str) -> bool:
    rest = _FEATURE.sub("", query)
    if set(re.findall(r"[^\s]+", rest)) - {"only", "screen", "all", "and"}:
        return False
    limits = [(each, _number(digits) * (1 if unit == "px" else 16)) for each, digits, unit in _FEATURE.findall(query)]
    return all(width <= _WINDOW if each == "min" else width >= _WINDOW for each, width in limits)


_Declared = list[tuple[str, str, bool]]
"""Property, value in small letters, whether it is important."""


def _declared(content: Any) -> _Declared:
    import tinycss2

    found: _Declared = []
    for each in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        if each.type != "declaration" or each.lower_name not in _NAMES:
            continue
        value = tinycss2.serialize(each.value).strip()[:_LONGEST_VALUE].lower()
        if each.lower_name == "font":
            value = next((part for part in re.split(r"[\s/]+", value) if _is_font_size(part)), "")
            found += [("font-size", value, each.important)] if value else []
        elif each.lower_name == "background":
            is_picture = "url(" in value or "gradient(" in value
            found.append(("background-image", value if is_picture else "none", each.important))
            parts = re.findall(r"[^\s(]+(?:\([^)]*\))?", value)
            color = next((part for part in parts if _color(part) != (None, False)), "initial")
            found.append(("background-color", color, each.important))
        else:
            found.append((each.lower_name, value, each.important))
    return found


def _is_font_size(part: str) -> bool:
    found = _SIZE.fullmatch(part)
    return found is not None and (found[2] is not None or _number(found[1]) == 0)


def _selectors(prelude: list[Any]) -> tuple[list[_Selector], bool]:
    """The selectors of a list that hold only elements, classes, ids and attributes; whether others may fit what stands still."""
    found: list[_Selector] = []
    is_understood = True
    some: list[Any] = []
    for token in [*prelude, None]:
        if token is None or (token.type == "literal" and token.value == ","):
            selector = _selector(some)
            if selector is not None:
                found.append(selector)
            elif not any(token.type == "ident" and token.lower_value in _MOVING for token in some):
                is_understood = False
            some = []
        else:
            some.append(token)
    return found, is_understood


def _selector(tokens: list[Any]) -> _Selector | None:
    compounds: list[_Compound] = []
    children: list[bool] = []
    tag: str | None = None
    id: str | None = None
    classes: set[str] = set()
    attributes: list[tuple[str, str, str]] = []
    is_begun = is_class = is_child = False

    def end() -> None:
        nonlocal tag, id, is_begun, is_child
        if is_begun:
            compounds.append(_Compound(tag, id, frozenset(classes), tuple(attributes)))
            children.append(is_child)
            tag, id, is_begun, is_child = None, None, False, False
            classes.clear()
            attributes.clear()

    for token in tokens:
        if token.type == "whitespace":
            end()
        elif token.type == "literal" and token.value == ">":
            end()
            is_child = True
        elif token.type == "literal" and token.value == "." and not is_class:
            is_class = True
            continue
        elif token.type == "literal" and token.value == "*":
            is_begun = True
        elif token.type == "ident" and is_class:
            classes.add(token.value)
            is_begun, is_class = True, False
        elif token.type == "ident" and not is_begun:
            tag, is_begun = token.lower_value, True
        elif token.type == "hash":
            id, is_begun = token.value, True
        elif token.type == "[] block" and (attribute := _attribute(token.content)) is not None:
            attributes.append(attribute)
            is_begun = True
        else:
            return None
        if is_class:
            return None
    end()
    return _Selector(tuple(compounds), tuple(children)) if compounds and not is_child and not is_class else None


def _attribute(content: list[Any]) -> tuple[str, str, str] | None:
    parts = [each for each in content if each.type != "whitespace"]
    if not parts or parts[0].type != "ident":
        return None
    if len(parts) == 1:
        return parts[0].lower_value, "", ""
    operator = "".join(each.value for each in parts[1:-1] if each.type == "literal")
    if len(operator.strip("~|^$*=")) or not operator.endswith("=") or parts[-1].type not in ("ident", "string"):
        return None
    return parts[0].lower_value, operator, parts[-1].value


def _has(value: str | None, operator: str, wanted: str) -> bool:
    if value is None or not operator:
        return value is not None
    if operator == "=":
        return value == wanted
    if operator == "~=":
        return wanted in value.split()
    if operator == "|=":
        return value == wanted or value.startswith(f"{wanted}-")
    if not wanted:
        return False
    if operator == "*=":
        return wanted in value
    return value.startswith(wanted) if operator == "^=" else operator == "$=" and value.endswith(wanted)


class _Matcher:
    """Which rules an element has, while a tree is walked; in a time that grows with its elements and what could fit them.

    A selector is followed down the tree: which of its compounds stand above an element is known when it comes.
    """

    def __init__(self, rules: list[tuple[list[_Selector], _Declared]]) -> None:
        self.is_spent = False
        self._tests = 0
        self._own: dict[str, _Declared] = {}
        self._declared = [declared for _, declared in rules]
        self._selectors: list[tuple[_Selector, int, tuple[int, int, int]]] = []
        self._by_key: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        self._above: list[set[tuple[int, int]]] = []
        self._inside: dict[tuple[int, int], int] = defaultdict(int)
        for order, (selectors, _) in enumerate(rules):
            for selector in selectors:
                weights = zip(*(each.weight() for each in selector.compounds), strict=True)
                ids, classes, tags = (sum(each) for each in weights)
                for at, compound in enumerate(selector.compounds):
                    self._by_key[compound.key()].append((len(self._selectors), at))
                self._selectors.append((selector, order, (ids, classes, tags)))

    def enter(self, element: Any) -> _Styles:
        """The styles of an element that is in those that were entered and not left."""
        best: dict[str, tuple[tuple[Any, ...], str]] = {}

        def take(declared: _Declared, *rank: Any) -> None:
            for name, value, is_important in declared:
                if name not in best or (is_important, *rank) >= best[name][0]:
                    best[name] = (is_important, *rank), value

        for order, weight in self._matched(element):
            take(self._declared[order], False, weight, order)
        if style := element.get("style"):
            if style not in self._own:
                self._own[style] = _declared(style)
            take(self._own[style], True, (0, 0, 0), 0)
        return {name: value for name, (_, value) in best.items()}

    def _matched(self, element: Any) -> Iterator[tuple[int, tuple[int, int, int]]]:
        classes = frozenset((element.get("class") or "").split())
        keys = [("*", ""), ("<", element.tag), *((".", each) for each in classes), ("#", element.get("id") or "")]
        parent = self._above[-1] if self._above else frozenset()
        here: set[tuple[int, int]] = set()
        for key in keys:
            for number, at in self._by_key.get(key, ()) if not self.is_spent else ():
                self._tests += 1
                if self._tests > _MOST_TESTS:
                    self.is_spent = True
                    break
                selector, order, weight = self._selectors[number]
                if at and not (
                    (number, at - 1) in parent if selector.children[at] else self._inside.get((number, at - 1))
                ):
                    continue
                if selector.compounds[at].fits(element, classes):
                    if at == len(selector.compounds) - 1:
                        yield order, weight
                    else:
                        here.add((number, at))
        self._above.append(here)
        for each in here:
            self._inside[each] += 1

    def leave(self) -> None:
        """Out of the element that was entered last."""
        for each in self._above.pop():
            self._inside[each] -= 1
