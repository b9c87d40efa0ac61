"""What a person wrote in an e-mail, without what is quoted and without the signature.

A quotation is told by the shape of what stands before it, and by words that programs put there (`replies.toml`): a block of
labels, a line with a date and a person, a line of dashes. Answers between lines marked with `>` stay, and so does what is sent on.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from jochi.toml import beside

_LONGEST_LINE = 500
_LINES = 5_000
"""Where the head of a quotation that isn't marked is looked for."""
_LONGEST_BLOCK = 12
"""Lines of labels before a quotation, with those that are too long for one line."""
_LINES_OF_HEAD = 4
"""So many a program makes of a line such as "On …, Ann wrote:"."""
_LONGEST_SIGNATURE = 15
# A line before quoted ones that says whose they are, in any language: it ends with a colon, and holds an address or a time.
_WHOSE = re.compile(r"(?=.*(?:@|\b\d{4}\b|\d:\d\d)).*[:：]\s*")
_BROKEN = re.compile(r".{39,}[^.!?:…]")
_ADDRESS = re.compile(r"[<(\[]\s?(?:mailto:)?[^\s<>()\[\]@]+@[^\s<>()\[\]@]+\s?[>)\]]")
_DAY = re.compile(r"(?<!\d)(?:\d{4}(?!\d)|\d{1,2}[./-] ?\d{1,2}[./-] ?\d{2,4}(?!\d))")
_TIME = re.compile(r"\d[:.]\d\d(?!\d)")
_DIGIT = re.compile(r"\d")
_LONGEST_OPENING = 20
_DATED_FIRST = re.compile(r"\D{0,20}\d")
_COLON = re.compile("[:：]")
_DASHES = "-_–—="
_LONGEST_LABEL = 40
_FINNISH = re.compile("lähettäjä|kirjoitti|saatja|kirjutas", re.IGNORECASE)
"""In Finnish and Estonian `VS:` is a reply; in Danish and Norwegian it is sent on."""
_LINK = re.compile(r"<?https?://[^\s<>]*>?")


class _Words(NamedTuple):
    labels: dict[str, frozenset[str]]
    wrote: re.Pattern[str]
    self: frozenset[str]
    original: frozenset[str]
    forwarded: frozenset[str]
    device: re.Pattern[str]
    prefix: re.Pattern[str]
    sent_on: re.Pattern[str]


@cache
def _words() -> _Words:
    data = beside(__file__, "replies.toml")
    labels: dict[str, set[str]] = {}
    for kind, names in data["labels"].items():
        for name in names:
            labels.setdefault(name, set()).add(kind)
    wrote, device, prefixes = data["wrote"], data["device"], data["prefixes"]
    names = rf"(?<!\w)(?:{_any(device['names'])})"
    return _Words(
        {name: frozenset(kinds) for name, kinds in labels.items()},
        re.compile(rf"(?<!\w)(?:{_any(wrote['words'])})(?!\w)|{_any(wrote['parts'])}"),
        frozenset(wrote["self"]),
        frozenset(data["original"]["words"]),
        frozenset(data["forwarded"]["words"]),
        re.compile(rf"(?=.*{names})(?=.*(?:{_any(device['sent'])})).{{1,90}}"),
        re.compile(rf"(?:(?:{_any(prefixes['reply'] + prefixes['sent_on'])})(?:\[\d+\])?\s*[:：]\s*)+", re.IGNORECASE),
        re.compile(rf"(?:{_any(prefixes['sent_on'])})\s*[:：]", re.IGNORECASE),
    )


def _any(words: list[str]) -> str:
    return "|".join(re.escape(each) for each in sorted(words, key=len, reverse=True))


def without_prefix(subject: str) -> str:
    """A subject without `Re:`, `Fwd:` and the like, in any language."""
    return _words().prefix.sub("", subject, count=1)


def is_sent_on(subject: str, text: str) -> bool:
    """Whether an e-mail hands on another one, as its ``subject`` says."""
    if _words().sent_on.match(subject) is None:
        return False
    return subject[:2].casefold() != "vs" or _FINNISH.search(text) is None


def remove_quotations(text: str, subject: str = "") -> tuple[str, bool]:
    """``text`` without what it quotes and without the signature, and whether something was quoted. Empty if nothing is left.

    ``subject``: that of the e-mail without `Re:`; a block of labels in a language that isn't known is told by it. A signature
    follows a line `-- ` (RFC 3676); text after it is lost with it, unless it is long.
    """
    lines = [line.replace("\xa0", " ") for line in text.split("\n")]
    own: list[str] = []
    quoted = marked = False
    for at, line in enumerate(lines):
        if _is_marked(line):
            if not marked and not _drop_whose(own) and _is_forwarded(line.lstrip("> ")):
                return _with_sent_on(own, lines[at:]), quoted  # as Apple Mail sends on
            quoted = marked = True
        elif _is_forwarded(line):
            return _with_sent_on(own, lines[at:]), quoted
        elif _is_head(lines, at, subject):
            while own and (not own[-1].strip() or _between_dashes(own[-1]) is not None):
                own.pop()
            quoted = True
            break
        else:
            marked = marked and not line.strip()
            own.append(line)
    return _signed(own), quoted


def _with_sent_on(own: list[str], lines: list[str]) -> str:
    return "\n\n".join(filter(None, [_signed(own), "\n".join(lines).strip()]))


def _drop_whose(own: list[str]) -> bool:
    """Takes off the end of ``own`` what says who is quoted: a line, or one that a program broke into several. Whether it did."""
    end = len(own)
    while end and not own[end - 1].strip():
        end -= 1
    for start in range(end - 1, max(end - _LINES_OF_HEAD, 0) - 1, -1):
        if _says_whose(own[start:end]):
            del own[start:]
            return True
    if end and _says_who(own[end - 1]):
        del own[end - 1 :]
        return True
    start = end - 1
    while start > 0 and end - start < 3 and _BROKEN.fullmatch(own[start - 1]):
        start -= 1
    is_whose = end > 0 and _WHOSE.fullmatch(" ".join(own[start:end])[-_LONGEST_LINE:]) is not None
    if is_whose:
        del own[start:]
    return is_whose


def _is_head(lines: list[str], at: int, subject: str) -> bool:
    """Whether what follows is quoted and not marked, as this line says, or this and the next ones."""
    if at >= _LINES or not lines[at].strip() or len(lines[at]) > _LONGEST_LINE:
        return False
    words = _between_dashes(lines[at])
    if words is not None:
        return words in _words().original or _says_whose([f"{words}:"])
    return _is_block(lines, at, subject) or _is_whose(lines, at)


def _is_forwarded(line: str) -> bool:
    words = _between_dashes(line)
    if words is None and line.rstrip().endswith((":", "：")):
        words = line.rstrip()[:-1].strip().casefold()
    return words in _words().forwarded


def _between_dashes(line: str) -> str | None:
    """The words in small letters between three dashes and more; empty where there are only dashes, None where there are none."""
    line = line[:_LONGEST_LINE].strip(" \t*")
    inner = line.lstrip(_DASHES)
    if len(line) - len(inner) < 3:
        return None
    words = inner.rstrip(_DASHES)
    return words.strip().casefold() if not words or len(inner) - len(words) >= 3 else None


def _label(line: str) -> tuple[str, str] | None:
    """The label in small letters and the value of a line such as `*From:* Ann`."""
    found = _COLON.search(line, 0, _LONGEST_LABEL)
    label = " ".join(line[: found.start()].casefold().strip(" \t*").split()) if found else ""
    return (label, line[found.end() : _LONGEST_LINE].strip(" \t*")) if found and label[:1].isalpha() else None


def _is_block(lines: list[str], at: int, subject: str) -> bool:
    """Whether labels such as From, Sent, To and Subject stand here, in a language that is known, or with the own ``subject``."""
    kinds: set[str] = set()
    values: list[str] = []
    is_dated = is_addressed = False
    for line in lines[at : at + _LONGEST_BLOCK]:
        found = _label(line)
        of = _words().labels.get(found[0], frozenset()) if found else frozenset()
        if (
            (found is None or (kinds and not of))
            and values
            and line.strip()
            and (line.startswith((" ", "\t")) or values[-1].endswith((";", ",")))
        ):
            continue  # more recipients than a line holds
        if found is None:
            break
        if not values and not of and not (subject and "@" in found[1]):
            return False
        kinds |= of
        values.append(found[1])
        if not of or "sent" in of:
            is_dated = is_dated or (_DAY.search(found[1]) is not None and _TIME.search(found[1]) is not None)
        if not of or "from" in of or "to" in of:
            is_addressed = is_addressed or "@" in found[1]
    if {"from", "subject"} <= kinds and kinds & {"sent", "to"} and (is_addressed or ("sent" in kinds and is_dated)):
        return True
    same = subject.casefold().strip()
    return bool(same) and is_addressed and is_dated and any(value.casefold().endswith(same) for value in values[1:])


def _is_whose(lines: list[str], at: int) -> bool:
    """Whether a line such as "On …, Ann wrote:" stands here, over one line or more, before text that isn't marked."""
    for count in range(1, _LINES_OF_HEAD + 1):
        some = lines[at : at + count]
        if len(some) < count or not some[-1].strip():
            return False
        if _says_whose(some) or (count == 1 and _says_who(some[0])):
            if any(_says_whose(some[start:]) for start in range(1, count)):
                return False  # it begins on the next line
            after = at + count
            while after < len(lines) and not lines[after].strip():
                after += 1
            return after < len(lines) and not _is_marked(lines[after])
    return False


def _says_whose(lines: list[str]) -> bool:
    """Whether these lines are one that ends with a colon and names a day and a person, as programs say whose words follow."""
    if not lines or not lines[-1].rstrip().endswith((":", "：")):
        return False
    line = " ".join(each.strip() for each in lines)
    if len(line) > _LONGEST_LINE:
        return False
    if _DAY.search(line) is None:
        return False
    address = _ADDRESS.search(line)
    wrote = _words().wrote.search(line.casefold())
    if wrote is None:
        return (
            address is not None
            and _DATED_FIRST.match(line) is not None
            and line[-2] in ">)]"
            and _TIME.search(line) is not None
        )
    starts = [found.start() for found in (_DIGIT.search(line), address, wrote) if found is not None]
    if not _is_opening(line[: min(starts)]):
        return False
    # In small letters a line may be longer, by a letter or two.
    is_last = wrote.end() >= len(line.casefold()) - 1 and _DATED_FIRST.match(line) is not None
    return address is not None or _TIME.search(line) is not None or is_last


def _is_opening(text: str) -> bool:
    """Whether it may stand before the date or the verb: a few letters such as "On Friday, ", or a name, and no sentence."""
    words = re.findall(r"[^\W\d_]+", text)
    if "I" in words or (words and words[0].casefold() in _words().self):
        return False
    return len(text) <= _LONGEST_OPENING or not any(word[0].islower() and len(word) > 3 for word in words)


def _says_who(line: str) -> bool:
    """Whether it is "Ann <ann@reed.example> wrote:" and nothing more."""
    line = line.strip()[:_LONGEST_LINE]
    found = _ADDRESS.search(line) if line.endswith(":") else None
    if found is None or _DAY.search(line) is not None or not line[: found.start()].strip():
        return False
    return _words().wrote.fullmatch(line[found.end() : -1].strip().casefold()) is not None


def _is_marked(line: str) -> bool:
    return line.startswith(">") and line.rstrip() != ">:"  # which is an address and a colon, broken by a program


def _signed(lines: list[str]) -> str:
    lines = "\n".join(lines).rstrip().split("\n")
    for at, line in enumerate(lines):
        if line.rstrip() == "--" and len(lines) - at - 1 <= _LONGEST_SIGNATURE:
            lines = "\n".join(lines[:at]).rstrip().split("\n")
            break
    if len(lines) > 1 and _words().device.fullmatch(_LINK.sub("", lines[-1].casefold()[:_LONGEST_LINE]).strip()):
        lines.pop()
    return re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", "\n".join(lines)).strip()
