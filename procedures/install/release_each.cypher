// In the files of `jochi bundle`: some nodes that are the engine's to release, tombstones first, as `install/release_page` finds them for a client.
// Parameters: $limit integer. Returns a row each: node, an element id. Writes nothing.
CALL () {
  MATCH (t:Tombstone) WHERE t.tombstone = true AND t.tombstone_labels IS NOT NULL
  RETURN t AS m
UNION ALL
  MATCH (m:Curated)
  RETURN m
}
WITH m LIMIT $limit
RETURN elementId(m) AS node
