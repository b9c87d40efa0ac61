// One stretch of the tombstones, oldest first, and which of them were enrolled nodes with a label.
// Parameters: $label, $skip integer, $chunk integer. Returns one row: seen integer, ours (element ids), purging integer (their
// purge has begun: they can't come back whole).
MATCH (t:Tombstone)
WITH t ORDER BY t SKIP $skip LIMIT $chunk
WITH t, coalesce(t.tombstone = true AND t.enrolled_run IS NOT NULL AND $label IN t.tombstone_labels, false) AS mine
RETURN count(*) AS seen,
       collect(CASE WHEN mine AND t.purge_started_at IS NULL THEN elementId(t) END) AS ours,
       count(CASE WHEN mine AND t.purge_started_at IS NOT NULL THEN 1 END) AS purging
