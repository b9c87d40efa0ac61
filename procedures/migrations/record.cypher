// Records one applied migration at the end of its chain, in the shape of neo4j-migrations (BASELINE, MIGRATED_TO).
// $lock_id: string, the lock that this run holds; if somebody took it away nothing is recorded.
// $previous: string, the version before it ('BASELINE' for the first). $migration_target: string or null.
// $migration: map {version, description, type, repeatable, source, checksum, package, packageVersion}.
// $now: datetime. $milliseconds: integer. $by: string, user of the operating system. $connected_as: string, database user.
// Returns recorded: 1, or 0 if the lock is gone or the version stands in the chain already. Writes at most two nodes and
// one relationship.
MATCH (lock:__Neo4jMigrationsLock {id: $lock_id})
// Takes the write lock on the node, so that nobody removes it before this is committed; leaves nothing.
REMOVE lock._recording
WITH lock
WHERE NOT EXISTS {
  MATCH (x:__Neo4jMigration {version: $migration.version})
  WHERE coalesce(x.migrationTarget, '<default>') = coalesce($migration_target, '<default>')
}
OPTIONAL MATCH (found:__Neo4jMigration {version: $previous})
WHERE coalesce(found.migrationTarget, '<default>') = coalesce($migration_target, '<default>')
WITH lock, head(collect(found)) AS found
FOREACH (ignored IN CASE WHEN found IS NULL AND $previous = 'BASELINE' THEN [1] ELSE [] END |
  CREATE (b:__Neo4jMigration {version: 'BASELINE'})
  SET b.migrationTarget = $migration_target)
WITH lock
MATCH (p:__Neo4jMigration {version: $previous})
WHERE coalesce(p.migrationTarget, '<default>') = coalesce($migration_target, '<default>')
  AND NOT EXISTS { (p)-[:MIGRATED_TO]->() }
CREATE (p)-[:MIGRATED_TO {
  at: datetime({datetime: $now, timezone: 'UTC'}), in: duration({milliseconds: $milliseconds}),
  by: $by, connectedAs: $connected_as
}]->(m:__Neo4jMigration)
SET m = $migration, m.migrationTarget = $migration_target
RETURN count(m) AS recorded
