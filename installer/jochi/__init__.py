"""Jochi: memory curation inside Neo4j."""

from __future__ import annotations

__version__ = "0.1.0"
