// In the files of `jochi bundle`: records that these migrations were applied, in the shape of neo4j-migrations and under its lock, which is taken and given
// back in one transaction. Where an application has a chain already, ours is the one named jochi beside it. What is recorded stays as it is.
// Parameters: $lock {id, name}, $migrations list of maps as `migrations/record` takes them, in their order, $clock zoned datetime, $by string.
// Returns one row: recorded integer. Writes: :__Neo4jMigration and MIGRATED_TO.
CREATE (lock:__Neo4jMigrationsLock {id: $lock.id, name: $lock.name})
WITH lock, $migrations AS migrations
CALL (migrations) {
  OPTIONAL MATCH (m:__Neo4jMigration) WHERE m.migrationTarget IS NULL AND m.version <> 'BASELINE'
  WITH collect(m {.version, .checksum, .package}) AS plain
  WITH size(plain) > 0 AND none(m IN plain WHERE m.package = 'jochi'
      OR any(one IN migrations WHERE one.version = m.version AND one.checksum = m.checksum)) AS foreign
  RETURN CASE WHEN foreign OR EXISTS { MATCH (:__Neo4jMigration {migrationTarget: 'jochi'}) } THEN 'jochi' END AS target
}
CALL (target, migrations) {
  OPTIONAL MATCH (m:__Neo4jMigration) WHERE coalesce(m.migrationTarget, '<default>') = coalesce(target, '<default>')
  WITH collect(m) AS nodes
  RETURN [one IN migrations WHERE NOT one.version IN [m IN nodes | m.version]] AS missing,
    coalesce(head([m IN nodes WHERE NOT EXISTS { (m)-[:MIGRATED_TO]->() }]).version, 'BASELINE') AS last, size(nodes) = 0 AS first
}
FOREACH (_ IN CASE WHEN first THEN [1] ELSE [] END | CREATE (b:__Neo4jMigration {version: 'BASELINE'}) SET b.migrationTarget = target)
FOREACH (one IN missing | CREATE (m:__Neo4jMigration) SET m = one, m.migrationTarget = target)
WITH lock, target, missing, last
CALL (target, missing, last) {
  UNWIND range(0, size(missing) - 1) AS i
  MATCH (m:__Neo4jMigration {version: missing[i].version}) WHERE coalesce(m.migrationTarget, '<default>') = coalesce(target, '<default>')
  MATCH (p:__Neo4jMigration {version: CASE WHEN i = 0 THEN last ELSE missing[i - 1].version END})
  WHERE coalesce(p.migrationTarget, '<default>') = coalesce(target, '<default>')
  CREATE (p)-[:MIGRATED_TO {at: $clock, in: duration({milliseconds: 0}), by: $by, connectedAs: $by}]->(m)
  RETURN count(*) AS recorded
}
DELETE lock
RETURN recorded
