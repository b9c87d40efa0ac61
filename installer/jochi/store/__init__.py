"""A store of items for agents: values under a namespace and a key, kept as memories (docs/reference/langgraph.md)."""

from jochi.store.items import Item, Items, MemoryStore

__all__ = ["Item", "Items", "MemoryStore"]
