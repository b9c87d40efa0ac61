"""The page of a report in a real browser: a phone and a desk, light and dark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser import Browser, Tab, open_browser
from tests.made_report import made_report

from jochi.operate.report.page import write_page
from jochi.operate.report.sections import page_of

pytestmark = pytest.mark.slow

LONG = "AKindWhoseNameIsSoLongThatNoColumnCouldEverHoldItOnAnyScreen"

CONTRAST = """
(() => {
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = colour => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const clear = colour => colour === 'transparent' || /, 0\\)$/.test(colour);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!clear(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), e = walker.currentNode.parentElement;
    if (!text || e.closest('style')) continue;
    const style = getComputedStyle(e);
    const both = [light(e.closest('svg') ? style.fill : style.color), light(behind(e))].sort((x, y) => y - x);
    found.push([(both[0] + 0.05) / (both[1] + 0.05), text.slice(0, 30), e.tagName]);
  }
  return found.sort((a, b) => a[0] - b[0]).slice(0, 5).concat([[found.length, 'texts', '']]);
})()
"""
"""The texts with the least contrast to what is behind them, and how many there are (WCAG 2, relative luminance)."""

OVERLAPS = """
(() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const name = svg.getAttribute('aria-label'), frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
    boxes.forEach(([text, a], i) => {
      if (a.right > frame.right + 2 || a.left < frame.left - 2) found.push([name, text, 'outside']);
      for (const [other, b] of boxes.slice(i + 1)) {
        const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (width > 2 && height > 3) found.push([name, text, other, width, height]);
      }
    });
  }
  return found;
})()
"""
"""Labels of plots that cover each other, or stand outside."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report") / "report.html"
    kinds = (
        "MemoryEntry",
        "Notification",
        "Task",
        LONG,
        "<script>document.title = 'broken'</script>",
        "Belief",
        "Fact",
        "Note",
        "Trace",
    )
    write_page(page_of(made_report(kinds=kinds)), made)
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_is_quiet_and_can_be_read(browser: Browser, page: Path, width: int, scheme: str) -> None:
    tab = Tab(browser, page, width=width, scheme=scheme)
    assert tab.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")
    assert tab.evaluate("document.title").startswith("Jochi: report of")
    assert tab.evaluate("document.querySelectorAll('figure svg').length") == 6
    if folder := os.environ.get("JOCHI_TEST_SCREENSHOTS"):
        tab.screenshot(Path(folder) / f"report-{width}-{scheme}.png")
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert tab.evaluate(overflow) == 0, "the body scrolls sideways"
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.evaluate(overflow) == 0, "the body scrolls sideways where tables are open"
    assert tab.evaluate("document.querySelector('.wide table').getBoundingClientRect().width") > 0
    *worst, (texts, *_) = tab.evaluate(CONTRAST)
    assert texts > 300
    assert worst[0][0] >= 4.5, f"contrast: {worst}"
    assert tab.evaluate(OVERLAPS) == []
    assert tab.complaints == []
    assert [address for address in tab.requests if not address.startswith("file:")] == []
    assert len(tab.requests) == 1
    tab.close()


def test_plots_and_tables_are_reached_and_opened_by_keys(browser: Browser, page: Path) -> None:
    tab = Tab(browser, page, width=390, scheme="light")
    everything = tab.evaluate("document.querySelectorAll('[tabindex=\"0\"], summary').length")
    seen: list[str] = []
    opened = 0
    for _ in range(3 * everything):
        tab.press("Tab", 9)
        seen.append(tab.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.tagName"))
        if seen[-1] == "SUMMARY":
            tab.press("Enter", 13)
            opened += 1
        if seen[-1] == "BODY":
            break
    assert opened == tab.evaluate("document.querySelectorAll('details[open]').length") == 6
    labels = tab.evaluate("[...document.querySelectorAll('.wide')].map(each => each.getAttribute('aria-label'))")
    assert set(labels) <= set(seen)
    tab.close()
