"""`jochi report`: what any database has on record of a span of days, as one HTML page (docs/reference/report.md)."""

from __future__ import annotations

from jochi.operate.report.figures import Report, read_report
from jochi.operate.report.page import require_matplotlib, require_writable, write_page
from jochi.operate.report.span import Span, parse_span

__all__ = ["Report", "Span", "parse_span", "read_report", "require_matplotlib", "require_writable", "write_page"]
