// Takes the lock of neo4j-migrations; fails on its uniqueness constraint if somebody holds it.
// $id: string, a fresh uuid. $name: string, the lock's name. $now: datetime.
// $holder: map {package, host, user, pid, pidSpace, processStart}; neo4j-migrations reads none of these.
// Returns id: string. Writes one node.
CREATE (l:__Neo4jMigrationsLock {id: $id, name: $name})
SET l += $holder, l.at = datetime({datetime: $now, timezone: 'UTC'})
RETURN l.id AS id
