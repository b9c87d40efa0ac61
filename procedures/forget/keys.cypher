// Keys of memories, live and dead, in their order. Parameters: $after string ('': from the first), $limit integer.
// Returns one row: keys, a list of strings, each once. Writes nothing.
CALL () {
  CALL () {
    MATCH (m:Curated)
    USING INDEX SEEK m:Curated(key)
    WHERE m.key > $after
    RETURN m.key AS key ORDER BY m.key LIMIT $limit
    UNION
    MATCH (m:Tombstone)
    USING INDEX SEEK m:Tombstone(key)
    WHERE m.key > $after
    WITH DISTINCT m.key AS key
    RETURN key ORDER BY key LIMIT $limit
  }
  RETURN key ORDER BY key LIMIT $limit
}
RETURN collect(key) AS keys;
