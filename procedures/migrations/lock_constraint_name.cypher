// The second of the two constraints that make the lock of neo4j-migrations a lock, under its name.
// No parameters. Returns nothing. Writes a constraint, unless it is there.
CREATE CONSTRAINT __Neo4jMigrationsLock__has_unique_name IF NOT EXISTS
FOR (l:__Neo4jMigrationsLock) REQUIRE l.name IS UNIQUE
