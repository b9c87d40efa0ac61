"""What a person wrote in an e-mail, without what is quoted and without the signature."""

from __future__ import annotations

import re

from jochi.extras import extra_named

_LONGEST_LINE = 500
_LINES = 400
"""Where the head of an unmarked quotation is looked for. quotequail takes long over long lines and over many."""
_LONGEST_SIGNATURE = 15
# A line before quoted ones that says whose they are, in any language: it ends with a colon, and holds an address or a time.
_WHOSE = re.compile(r"(?=.*(?:@|\b\d{4}\b|\d:\d\d)).*[:：]\s*")
_BROKEN = re.compile(r".{39,}[^.!?:…]")
_SENT_FROM = re.compile(
    r"(?:Sent from (?:my|Mail for)|Get Outlook for|Von meinem .{1,40} gesendet|Gesendet (?:von|mit)|Envoyé d(?:e mon|epuis)|"
    r"Enviado desde mi|Enviado do meu|Inviato da|Verzonden vanaf|Skickat från min|Sendt fra min|Wysłane z)\b.{0,80}"
)


def remove_quotations(text: str) -> str:
    """``text`` without lines that begin with `>`, without what follows the head of a quotation, without the signature.

    A signature follows a line `-- ` (RFC 3676); text after it is lost with it, unless it is long. Empty if nothing is left.
    """
    lines = text.split("\n")
    result = _marked(lines)
    return _signed(_unmarked(result, marked=len(result) < len(lines)))


def _marked(lines: list[str]) -> list[str]:
    result: list[str] = []
    quoted = False
    for line in lines:
        if line.startswith(">"):
            if not quoted:
                _drop_whose(result)
            quoted = True
        else:
            quoted = quoted and not line.strip()
            result.append(line)
    return result


def _drop_whose(result: list[str]) -> None:
    """Takes off the end of ``result`` what says who is quoted: a line, or one that a mail program broke into two or three."""
    end = len(result)
    while end and not result[end - 1].strip():
        end -= 1
    start = end - 1
    while start > 0 and end - start < 3 and _BROKEN.fullmatch(result[start - 1]):
        start -= 1
    if end and _WHOSE.fullmatch(" ".join(result[start:end])[-_LONGEST_LINE:]):
        del result[start:]


def _unmarked(lines: list[str], *, marked: bool) -> str:
    """The lines before a quotation of which only the head tells. Where others are ``marked``, "… wrote:" is no such head: answers
    may stand behind it. A head holds a date or an address."""
    with extra_named():
        from quotequail import unwrap

    # Long lines are no heads of quotations; a mark stands for each, which comes back as it was.
    shortened = [line if len(line) <= _LONGEST_LINE else f"\0{at}\0" for at, line in enumerate(lines[:_LINES])]
    found = unwrap("\n".join(shortened)) or {}
    headline = f"{found.get('date', '')} {found.get('from', '')}"
    is_head = "from" in found if found.get("type") == "forward" else found.get("type") == "reply" and not marked
    if not is_head or re.search(r"[\d@]", headline) is None:
        return "\n".join(lines)
    return re.sub(r"\0(\d+)\0", lambda mark: lines[int(mark[1])], found.get("text_top", ""))


def _signed(text: str) -> str:
    lines = text.rstrip().split("\n")
    for at, line in enumerate(lines):
        if line.rstrip() == "--" and len(lines) - at - 1 <= _LONGEST_SIGNATURE:
            lines = "\n".join(lines[:at]).rstrip().split("\n")
            break
    if lines and _SENT_FROM.fullmatch(lines[-1].strip()):
        lines.pop()
    return re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", "\n".join(lines)).strip()
