// Records migrations that have a file and no record, and the root of a chain that has none; repair_link puts them in place.
// $rows: [{version, description, type, repeatable, source, checksum, package, packageVersion}, …], for the root the version
// alone. $migration_target: string or null.
// Returns version: string, id: element id; one row a node. Writes nodes.
UNWIND $rows AS row
CREATE (m:__Neo4jMigration)
SET m = row, m.migrationTarget = $migration_target
RETURN m.version AS version, elementId(m) AS id
