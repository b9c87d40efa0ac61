"""A memory as an application states it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Link(BaseModel):
    """A relationship of a memory. ``to`` is an id in the memory's scope, ``to_key`` is `scope/id`: give one of them.

    ``type`` has letters, digits and `_`; ``direction`` `in` leads from the other memory to this one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: str
    to: str | None = None
    to_key: str | None = None
    properties: dict[str, Any] = Field(default_factory=dict)
    direction: Literal["out", "in"] = "out"


class Memory(BaseModel):
    """A memory to remember. Only ``kind`` must be given; ``properties`` are the application's own.

    ``embedding`` needs ``embedding_model``, and both must be the policy's (`[embedding]`). What is absent here is filled
    in: the id, the content's hash, its tokens, `created_at`. The database checks the rest, as it does for every driver.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: str
    content: str | None = None
    id: str | None = None
    scope: str | None = None
    content_hash: str | None = None
    token_count: int | None = None
    token_counter: str | None = None
    embedding: list[float] | None = None
    embedding_model: str | None = None
    properties: dict[str, Any] = Field(default_factory=dict)
    relationships: list[Link] = Field(default_factory=list)
