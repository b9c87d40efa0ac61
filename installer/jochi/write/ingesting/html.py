"""HTML of e-mails as text."""

from __future__ import annotations

from typing import Any, NamedTuple

from jochi.extras import extra_named
from jochi.text.visible import visible
from jochi.write.ingesting.style import drop_hidden

LONGEST = 4 * 1024 * 1024
"""Characters of HTML."""
_TOO_DEEP = "Its HTML is nested too deep."
_SIGNATURES = "//*[contains(@class, 'gmail_signature') or contains(@class, 'moz-signature')]"
_QUOTED = (
    "//blockquote[@type='cite' or contains(@class, 'gmail_quote') or contains(@class, 'protonmail_quote') or"
    " contains(@class, 'tutanota_quote') or contains(@class, 'zmail_extra')]|//*[contains(@class, 'yahoo_quoted')]"
)
"""What mail programs put around what they quote. What they put around quotations and answers together is left alone."""


class Seen(NamedTuple):
    """What HTML shows. ``own``: without signatures, a line `>` for each quotation (`remove_quotations` takes that).

    ``hides``: text in it is hidden from the reader. ``is_whole``: no style sheet was too long; what it hides may be in the text.
    """

    text: str
    own: str
    hides: bool = False
    is_whole: bool = True


def text_of(html: str) -> Seen:
    """What a person sees of HTML. ValueError for HTML that is too long or nested too deep to be read whole."""
    if len(html) > LONGEST:
        raise ValueError(f"Its HTML is longer than {LONGEST // 1024**2} MB.")
    with extra_named():
        import lxml.etree
        import lxml.html
        from inscriptis import Inscriptis
        from inscriptis.css_profiles import CSS_PROFILES
        from inscriptis.model.config import ParserConfig

    # As UTF-8, so that a charset named in the HTML itself is not asked.
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        tree = lxml.html.document_fromstring(visible(html).encode(), parser=parser)
    except lxml.etree.ParserError:  # nothing in it
        return Seen("", "")
    if any("depth" in entry.message for entry in parser.error_log):
        raise ValueError(_TOO_DEEP)
    try:
        hides, is_whole = drop_hidden(tree)
    except RecursionError:  # brackets within brackets of a style sheet
        raise ValueError(_TOO_DEEP) from None
    for each in tree.iter("table", "tbody", "thead", "tfoot", "tr", "td", "th"):
        # The columns of a table would be padded to one width: kilobytes of HTML could become gigabytes of blanks.
        if each.tag in ("td", "th"):
            each.tag, each.tail = "span", " " + (each.tail or "")
        else:
            each.tag = "div"
    for each in tree.iter(lxml.etree.Element):
        each.attrib.pop("style", None)
    try:
        config = ParserConfig(css=CSS_PROFILES["strict"])
        text = Inscriptis(tree, config).get_text()
        signatures, quotations = tree.xpath(_SIGNATURES), tree.xpath(_QUOTED)
        if not signatures and not quotations:
            return Seen(text, text, hides, is_whole)
        _drop(tree, signatures)
        for each in quotations:
            mark = lxml.html.Element("div")
            mark.text, mark.tail = ">", each.tail
            if each.getparent() is not None:
                each.getparent().replace(each, mark)
        return Seen(text, Inscriptis(tree, config).get_text(), hides, is_whole)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _drop(tree: Any, elements: list[Any]) -> None:
    for each in elements:
        if each is not tree and each.getparent() is not None:
            each.drop_tree()
