// Gives one lock back, by its id: never a lock that somebody else took meanwhile.
// $id: string. Returns released: integer. Writes: removes at most one node.
MATCH (l:__Neo4jMigrationsLock {id: $id})
DELETE l
RETURN count(l) AS released
