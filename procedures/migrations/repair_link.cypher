// Makes each of these records follow its right predecessor, keeping what is known of its application. The root follows none.
// $links: [{id: element id, previous: element id or null}, …], read or made in this very transaction.
// $now: datetime, $by: string, user of the operating system, $connected_as: string, database user: for records without any.
// Returns linked: integer. Writes: removes and makes MIGRATED_TO relationships.
UNWIND $links AS link
MATCH (m:__Neo4jMigration) WHERE elementId(m) = link.id
OPTIONAL MATCH (:__Neo4jMigration)-[old:MIGRATED_TO]->(m)
// Of several the oldest: that is when it was applied. neo4j-migrations can't read one without at and in.
WITH link, m, old ORDER BY old.at
WITH link, m, collect(old) AS olds
WITH link, m, olds, properties(head(olds)) AS known
FOREACH (old IN olds | DELETE old)
WITH link, m, known
MATCH (p:__Neo4jMigration) WHERE elementId(p) = link.previous
CREATE (p)-[t:MIGRATED_TO {
  at: datetime({datetime: $now, timezone: 'UTC'}), in: duration({milliseconds: 0}), by: $by, connectedAs: $connected_as
}]->(m)
SET t += coalesce(known, {})
RETURN count(t) AS linked
