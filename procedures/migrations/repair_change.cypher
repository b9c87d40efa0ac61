// Gives records the checksum, name and kind that their files have now.
// $rows: [{id: element id, read in this very transaction, properties: map, once: boolean}, …]; once: the file is not
// repeatable, so what was recorded of repetitions goes.
// Returns changed: integer. Writes: properties of the nodes, and removes REPEATED relationships.
UNWIND $rows AS row
MATCH (m:__Neo4jMigration) WHERE elementId(m) = row.id
SET m += row.properties
WITH row, m
OPTIONAL MATCH (m)-[r:REPEATED]->(m) WHERE row.once
DELETE r
RETURN count(DISTINCT m) AS changed
