// The index that neo4j-migrations puts on repetitions, under its name.
// No parameters. Returns nothing. Writes an index, unless it is there.
CREATE INDEX repeated_at__Neo4jMigration IF NOT EXISTS FOR ()-[r:REPEATED]-() ON (r.at)
