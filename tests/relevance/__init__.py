"""Sentences of conversations with what they are, and the linear model that is fitted to them (`jochi_workers.language.relevance`).

Authors who knew neither the rules nor the conversations of `tests/agent_set` wrote and labelled them.
"""
