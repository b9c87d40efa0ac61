// In the files of `jochi bundle`: fails while memories, or nodes of the engine, are left: the file works on a page of them a run.
// Parameters: none. Returns one row: left integer. Writes nothing.
CALL () {
  MATCH (m:Curated)
  RETURN count(m) AS curated
}
CALL () {
  OPTIONAL MATCH (t:Tombstone) WHERE t.tombstone = true AND t.tombstone_labels IS NOT NULL
  RETURN count(t) AS tombstones
}
WITH curated + tombstones AS left
RETURN CASE WHEN left = 0 THEN 0 ELSE date(toString(left) + ' memories are left. Run this file again') END AS left
