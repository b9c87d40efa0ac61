"""Reads what an OpenAI-compatible endpoint answers to a request for embeddings."""

from __future__ import annotations

import base64
import binascii
import math
import struct

from pydantic import BaseModel, ConfigDict, ValidationError


class BadResponse(Exception):
    """The answer isn't one vector for each text. The message holds nothing of the answer's own text."""


class _Item(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    embedding: list[float | None] | str
    index: int | None = None


class _Response(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    data: list[_Item]


def vectors_of(body: bytes, count: int) -> list[list[float]]:
    """``count`` vectors, in the order of the texts: by each item's `index`, whatever order they came in.

    Numbers or base64 of little-endian 32-bit floats. A value that is null or no number in JSON's sense (NaN) becomes a NaN, for
    the caller to refuse that one text. `BadResponse` for anything else.
    """
    try:
        items = _Response.model_validate_json(body).data
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadResponse("broken JSON" if first["type"] == "json_invalid" else f"{place}: {first['type']}") from None
    if len(items) != count:
        raise BadResponse(f"{len(items)} vectors for {count} texts")
    places = [item.index for item in items]
    if all(place is None for place in places):
        return [_numbers(item.embedding) for item in items]
    if sorted(-1 if place is None else place for place in places) != list(range(count)):
        raise BadResponse("the vectors' indexes are not those of the texts")
    ordered = sorted(items, key=lambda item: item.index or 0)
    return [_numbers(item.embedding) for item in ordered]


def _numbers(value: list[float | None] | str) -> list[float]:
    if not isinstance(value, str):
        return [math.nan if number is None else number for number in value]
    try:
        packed = base64.b64decode(value, validate=True)
        return [number for (number,) in struct.iter_unpack("<f", packed)]
    except (binascii.Error, ValueError, struct.error) as error:
        raise BadResponse("a vector that is neither numbers nor base64") from error
