// Keeps the lock of neo4j-migrations from being taken away until this transaction ends, if it is still ours.
// $lock_id: string, the lock that this run holds. Returns one row, id: string, or none if it is gone. Writes nothing new.
MATCH (l:__Neo4jMigrationsLock {id: $lock_id})
SET l.id = l.id
RETURN l.id AS id
