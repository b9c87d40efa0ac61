"""What one label more means for the object mappers of apps (DESIGN §17).

What is said of neomodel is shown by a test. The others' is from their own pages: Spring Data Neo4j's and Neo4j-OGM's annotations
`DynamicLabels` and `Labels`, and the directive `@node` of the Neo4j GraphQL Library.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MapperAdvice:
    """What one mapper does with enrolled nodes, and what to write so that it goes on as before."""

    mapper: str
    effect: str
    remedy: tuple[str, ...]


OBJECT_MAPPERS = (
    MapperAdvice(
        "neomodel",
        "it raises NodeClassNotDefined wherever it makes an object of an enrolled node (get, all, relationships, resolve_objects).",
        (
            "Before you enrol, give the node's class this line; subclasses inherit it:",
            '    __optional_labels__ = ["Curated"]',
            "Where a query names no label of the node, define a class for what is pruned, too:",
            "    class Tombstone(StructuredNode): pass",
        ),
    ),
    MapperAdvice(
        "Spring Data Neo4j",
        "a label that no class has matters to fields with @DynamicLabels: they load it, and a save removes what they lack.",
        ("Keep Curated in such a field.",),
    ),
    MapperAdvice(
        "Neo4j-OGM",
        "a field with @Labels controls which labels its node has.",
        ("Keep Curated in such a field, and try your queries on a copy first.",),
    ),
    MapperAdvice(
        "Neo4j GraphQL Library",
        "it matches nodes by the labels that @node names: it finds enrolled nodes as before, and pruned ones no more.",
        (),
    ),
)

WARNING = (
    "each enrolled node carries one label more, :Curated. neomodel raises NodeClassNotDefined for it unless the node's class has "
    '__optional_labels__ = ["Curated"]'
)
"""The same in one sentence, for whoever enrols without looking at the plan."""
