"""The demonstration where the extra for embeddings isn't installed."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from jochi.demo import embedding
from jochi.localserver.report import Silent
from jochi.policy import load_policy


class Ears(Silent):
    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


class Client:
    """As much of a client as it takes to ask for the policy."""

    policy = load_policy()


def test_without_the_extra_it_says_what_it_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    ears = Ears()
    client: Any = Client()
    assert embedding.handler(client, ears) is None
    (said,) = ears.said
    assert "onnxruntime" in said
    assert "jochi[embeddings]" in said
