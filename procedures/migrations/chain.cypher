// Every node of one chain of migrations, with what points to it and the newest repetition. Walking them in order is the
// reader's work: so a broken chain (a fork, two roots, a loop) is seen instead of followed.
// $migration_target: string or null; null is the chain that neo4j-migrations keeps when it runs with its defaults.
// Returns one row a node: id (of this reading only), previous (ids of the nodes that point to it), node (its properties),
// application (properties of MIGRATED_TO or null), repetition (properties of the newest REPEATED or null). Writes nothing.
MATCH (m:__Neo4jMigration)
WHERE coalesce(m.migrationTarget, '<default>') = coalesce($migration_target, '<default>')
OPTIONAL MATCH (p:__Neo4jMigration)-[t:MIGRATED_TO]->(m)
WITH m, collect(elementId(p)) AS previous, collect(properties(t))[0] AS application
OPTIONAL MATCH (m)-[r:REPEATED]->(m)
WITH m, previous, application, r ORDER BY r.at DESC
RETURN elementId(m) AS id, previous, properties(m) AS node, application, collect(properties(r))[0] AS repetition
