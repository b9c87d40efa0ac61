"""Sentences with the statements that they hold, written by hand; `python -m tests.language_set` measures the reading on them."""
