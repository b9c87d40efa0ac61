"""Whether a name that was found in a script without blanks ends where it was found to end: 王伟 is in 王伟明, and is somebody else.

No dictionary knows names. It is sure where blanks, marks or another script stand beside it, or a word of grammar with which no name
goes on (`border_words.toml`). Else a person is asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from jochi.text.letters import is_unspaced, script_of
from jochi.toml import beside

_PARTICLES = "HANGUL"
"""The script whose words end at blanks: what stands behind a name in its word must be particles alone."""


class _Lists(NamedTuple):
    behind: re.Pattern[str]
    before: re.Pattern[str]


@cache
def _lists() -> dict[str, _Lists]:
    found = {}
    for script, data in beside(__file__, "border_words.toml").items():
        behind, before = (
            "|".join(sorted(map(re.escape, data[name]), key=len, reverse=True)) for name in ("behind", "before")
        )
        end = rf"(?:{behind})+(?![\uac00-\ud7af])" if script == _PARTICLES else rf"(?:{behind})"
        found[script] = _Lists(re.compile(end), re.compile(rf"(?:{before})$" if before else "(?!)"))
    return found


def may_go_on(text: str, places: Iterable[tuple[int, int]]) -> bool:
    """Whether one of ``places`` in ``text`` (both of the composed text) may be a part of a longer name."""
    text = unicodedata.normalize("NFC", text)
    return any(_goes_on(text, start, stop) for start, stop in places)


def _goes_on(text: str, start: int, stop: int) -> bool:
    behind, before = _lists_between(text, stop), _lists_between(text, start)
    return (behind is not None and not (behind and behind.behind.match(text, stop))) or (
        before is not None and not (before and before.before.search(text, 0, start))
    )


def _lists_between(text: str, at: int) -> _Lists | tuple[()] | None:
    """The lists of the script that goes on here, without any: (); None where it is another one, or has blanks."""
    if not 0 < at < len(text) or not (is_unspaced(text[at]) and is_unspaced(text[at - 1])):
        return None
    one, other = (script_of(text[place]) for place in (at - 1, at))
    return _lists().get(one, ()) if one == other else None
