"""Long memories of the archive get a shorter content: providers of summaries, and the checks that each must pass."""

from __future__ import annotations

from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.choose import PROVIDERS, language_model, provider
from jochi_workers.derive.compress.handler import Compress
from jochi_workers.derive.compress.protocol import Provider, Rejected, Summary

__all__ = ["PROVIDERS", "Compress", "Provider", "Rejected", "Summary", "faults", "language_model", "provider"]
