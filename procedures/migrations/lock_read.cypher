// Who holds the lock of neo4j-migrations.
// $name: string, the lock's name. Returns at most one row, lock: map of its properties. Writes nothing.
MATCH (l:__Neo4jMigrationsLock {name: $name})
RETURN properties(l) AS lock
