"""Jochi: memory curation inside Neo4j."""

from __future__ import annotations

__version__ = "0.1.0"

from jochi.client import Jochi
from jochi.errors import JochiError

__all__ = ["Jochi", "JochiError", "__version__"]
