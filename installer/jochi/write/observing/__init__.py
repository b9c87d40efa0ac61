"""Conversations, turn by turn (seed 003, Write Path): what is worth learning is seen at once, buffered, and learned from later."""

from jochi.write.observing.observing import Observed, Observer, Turn, flush

__all__ = ["Observed", "Observer", "Turn", "flush"]
