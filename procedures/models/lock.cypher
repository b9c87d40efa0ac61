// Takes a memory for an agent: the engine changes nothing of it that a rail holds, and no other agent gets it, until it is given back or
// the policy's time is over.
// Parameters: $now zoned datetime, $expired zoned datetime (a lock that was taken by then is over), $key string (scope/id), $labels
//   [string, …] that it must have, $agent string.
// Returns one row: outcome 'locked' (also where this agent had it already: its time begins anew) | 'held' | 'pruned' | 'gone'; memory (the node
//   or null), held_by, held_since (of the other's lock), deleted_at (of the tombstone, or null).
// Writes: locked_by and locked_at. No revision: who loaded it before can still save it, and is told by the revision of the first who does.
OPTIONAL MATCH (m:Curated {key: $key}) WHERE all(label IN $labels WHERE label IN labels(m))
// Two who ask at once: the second waits here and reads what the first has written.
REMOVE m.curation_lock
WITH m
OPTIONAL MATCH (dead:Tombstone {key: $key})
WITH m, max(dead.deleted_at) AS deleted_at, count(dead) AS tombstones
WITH m, coalesce(m.deleted_at, deleted_at) AS deleted_at, CASE
    WHEN m IS NULL AND tombstones > 0 OR m.tombstone IS NOT NULL THEN 'pruned'
    WHEN m IS NULL THEN 'gone'
    // What the rails can't read they honour (a lock without a time, an owner that is no text), and so does this.
    WHEN m.locked_by IS NOT NULL AND NOT coalesce(m.locked_by = $agent, false)
      AND NOT coalesce(m.locked_by IS :: STRING AND m.locked_at IS :: ZONED DATETIME AND m.locked_at <= $expired, false) THEN 'held'
    ELSE 'locked'
  END AS outcome, m.locked_by AS held_by, m.locked_at AS held_since
FOREACH (_ IN CASE outcome WHEN 'locked' THEN [1] ELSE [] END | SET m.locked_by = $agent, m.locked_at = $now)
RETURN outcome, m AS memory, toStringOrNull(held_by) AS held_by, CASE WHEN held_since IS :: ZONED DATETIME THEN held_since END AS held_since, deleted_at;
