// One memory as it is now, or what became of it.
// Parameters: $key string (scope/id), $labels [string, …] that it must have.
// Returns one row: outcome 'live' | 'pruned' | 'gone'; memory (the node or null), deleted_at (of the tombstone, or null).
// Writes nothing.
OPTIONAL MATCH (m:Curated {key: $key}) WHERE all(label IN $labels WHERE label IN labels(m))
OPTIONAL MATCH (dead:Tombstone {key: $key})
WITH m, max(dead.deleted_at) AS deleted_at, count(dead) AS tombstones
RETURN CASE WHEN m IS NOT NULL THEN 'live' WHEN tombstones > 0 THEN 'pruned' ELSE 'gone' END AS outcome, m AS memory, deleted_at;
