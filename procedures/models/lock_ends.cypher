// Locks both ends of a relationship that an app is about to write, in the order of their keys, and queues them.
// Parameters: $now zoned datetime, $keys [string, string] in order (the same key once).
// Returns: key of each end that is live, one row each. Writes: next_due (what hangs on a memory decides over it).
UNWIND $keys AS key
MATCH (m:Curated {key: key})
REMOVE m.curation_lock
WITH m WHERE m:Curated AND m.tombstone IS NULL
SET m.next_due = CASE WHEN m.next_due <= $now THEN m.next_due ELSE $now END
RETURN m.key AS key;
