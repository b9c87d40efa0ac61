// Deletes one chain of migrations, if the lock that guards it is still ours.
// $lock_id: string, the lock that this run holds. $migration_target: string or null.
// Returns deleted: integer, nodes. Writes: removes the nodes and their relationships.
MATCH (lock:__Neo4jMigrationsLock {id: $lock_id})
REMOVE lock._recording
WITH lock
MATCH (m:__Neo4jMigration)
WHERE coalesce(m.migrationTarget, '<default>') = coalesce($migration_target, '<default>')
DETACH DELETE m
RETURN count(m) AS deleted
