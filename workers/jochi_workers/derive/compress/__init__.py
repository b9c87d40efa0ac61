"""Long memories of the archive get a shorter content: providers of summaries, and the checks that each must pass."""

from __future__ import annotations

from jochi.deprecation import old_names
from jochi_workers.derive.compress.checks import faults
from jochi_workers.derive.compress.handler import CompressHandler
from jochi_workers.derive.compress.protocol import Provider, Rejected, Summary
from jochi_workers.derive.compress.providers import PROVIDERS, language_model, provider

__all__ = ["PROVIDERS", "CompressHandler", "Provider", "Rejected", "Summary", "faults", "language_model", "provider"]

__getattr__ = old_names(__name__)
