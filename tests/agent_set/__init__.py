"""Conversations of people with an assistant, each with what a good listener would know afterwards (docs/reference/agent-set.md)."""
