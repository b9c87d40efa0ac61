// The constraint that neo4j-migrations puts on its chains, under its name.
// No parameters. Returns nothing. Writes a constraint, unless it is there.
CREATE CONSTRAINT unique_version___Neo4jMigration IF NOT EXISTS
FOR (m:__Neo4jMigration) REQUIRE (m.version, m.migrationTarget) IS UNIQUE
