// Removes records from a chain of migrations; repair_link has linked their neighbours anew before.
// $ids: [element id, …], read in this very transaction. Returns removed: integer. Writes: removes nodes and their relationships.
UNWIND $ids AS id
MATCH (m:__Neo4jMigration) WHERE elementId(m) = id
DETACH DELETE m
RETURN count(*) AS removed
