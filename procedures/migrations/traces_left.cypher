// What is left of migrations in this database, of any chain and any tool.
// No parameters. Returns one row: chain_nodes, locks (integers). Writes nothing.
OPTIONAL MATCH (m:__Neo4jMigration)
WITH count(m) AS chain_nodes
OPTIONAL MATCH (l:__Neo4jMigrationsLock)
RETURN chain_nodes, count(l) AS locks
