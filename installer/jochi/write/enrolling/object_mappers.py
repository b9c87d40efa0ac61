"""What one label more means for the object mappers of apps (DESIGN §17).

What is said of neomodel is shown by a test. The others' is from their own pages: Spring Data Neo4j's and Neo4j-OGM's annotations
`DynamicLabels` and `Labels`, and the directive `@node` of the Neo4j GraphQL Library.
"""

from __future__ import annotations

from dataclasses import dataclass

from jochi.toml import beside


@dataclass(frozen=True)
class MapperAdvice:
    """What one mapper does with enrolled nodes, and what to write so that it goes on as before."""

    mapper: str
    effect: str
    remedy: tuple[str, ...]


OBJECT_MAPPERS = tuple(
    MapperAdvice(each["mapper"], each["effect"], tuple(each["remedy"]))
    for each in beside(__file__, "object_mappers.toml")["mapper"]
)

WARNING = (
    "each enrolled node carries one label more, :Curated. neomodel raises NodeClassNotDefined for it unless the node's class has "
    '__optional_labels__ = ["Curated"]'
)
"""The same in one sentence, for whoever enrols without looking at the plan."""
