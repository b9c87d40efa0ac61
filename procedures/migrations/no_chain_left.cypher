// In the files of `jochi bundle`: fails where a chain of migrations or a lock is left: then the bookkeeping's constraints are in use.
// Parameters: none. Returns one row: left integer. Writes nothing.
OPTIONAL MATCH (m:__Neo4jMigration|__Neo4jMigrationsLock)
WITH count(m) AS left
RETURN CASE WHEN left = 0 THEN 0 ELSE date('A chain of migrations of somebody else is here: leave this file out') END AS left
