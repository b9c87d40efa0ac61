"""Conversations, turn by turn (seed 003, Write Path): what is worth learning is seen at once, buffered, and learned from later."""

from jochi.deprecation import old_names
from jochi.write.observing.observer import Observer, ObserveResult, Turn, flush

__all__ = ["ObserveResult", "Observer", "Turn", "flush"]

__getattr__ = old_names(__name__)
