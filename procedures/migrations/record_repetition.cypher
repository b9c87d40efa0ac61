// Records that a repeatable migration (R….cypher) ran again with other content, as neo4j-migrations does.
// $lock_id: string, the lock that this run holds. $version: string. $checksum: string. $migration_target: string or null.
// $now: datetime. $milliseconds: integer. $by: string, user of the operating system. $connected_as: string, database user.
// Returns recorded: 1, or 0 if the lock or the version is gone. Writes one relationship.
MATCH (lock:__Neo4jMigrationsLock {id: $lock_id})
REMOVE lock._recording
WITH lock
MATCH (m:__Neo4jMigration {version: $version})
WHERE coalesce(m.migrationTarget, '<default>') = coalesce($migration_target, '<default>')
CREATE (m)-[r:REPEATED {
  checksum: $checksum, at: datetime({datetime: $now, timezone: 'UTC'}), in: duration({milliseconds: $milliseconds}),
  by: $by, connectedAs: $connected_as
}]->(m)
RETURN count(r) AS recorded
