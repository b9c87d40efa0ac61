// Uninstall: some nodes that are the engine's to release, tombstones first.
// Parameters: $limit integer. Returns one row: nodes, a list of element ids. Writes nothing.
CALL () {
  MATCH (t:Tombstone) WHERE t.tombstone = true AND t.tombstone_labels IS NOT NULL
  RETURN t AS m
UNION ALL
  MATCH (m:Curated)
  RETURN m
}
WITH m LIMIT $limit
RETURN collect(elementId(m)) AS nodes
