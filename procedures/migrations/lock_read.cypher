// Who holds the lock of neo4j-migrations.
// $name: string, the lock's name. Returns at most one row, lock: map of its properties. Writes nothing.
MATCH (l:__Neo4jMigrationsLock {name: $name})
WITH properties(l) AS lock
// A lock that is given back between finding and reading it has lost its properties: it is free.
WHERE lock.id IS NOT NULL AND lock.name IS NOT NULL
RETURN lock
