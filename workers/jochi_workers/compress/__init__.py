"""Long memories of the archive get a shorter content: providers of summaries, and the checks that each must pass."""

from __future__ import annotations

from jochi_workers.compress.checks import faults
from jochi_workers.compress.choose import PROVIDERS, provider
from jochi_workers.compress.handler import Compress
from jochi_workers.compress.protocol import Provider, Rejected, Summary

__all__ = ["PROVIDERS", "Compress", "Provider", "Rejected", "Summary", "faults", "provider"]
