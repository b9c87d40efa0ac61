// In the files of `jochi bundle`: deletes Jochi's chain of migrations. That of an application stays.
// Parameters: $migrations list of maps with version and checksum. Returns one row: deleted integer. Writes: deletes :__Neo4jMigration.
WITH $migrations AS migrations
CALL (migrations) {
  OPTIONAL MATCH (m:__Neo4jMigration) WHERE m.migrationTarget IS NULL AND m.version <> 'BASELINE'
  WITH collect(m {.version, .checksum, .package}) AS plain
  RETURN size(plain) > 0 AND none(m IN plain WHERE m.package = 'jochi'
    OR any(one IN migrations WHERE one.version = m.version AND one.checksum = m.checksum)) AS foreign
}
MATCH (m:__Neo4jMigration) WHERE m.migrationTarget = 'jochi' OR (m.migrationTarget IS NULL AND NOT foreign)
DETACH DELETE m
RETURN count(*) AS deleted
