// Memories, live and dead, of a content. Parameters: $hash content hash, $scope string or null (all).
// Returns one row: keys list of strings. Writes nothing.
CALL () {
  WITH CASE WHEN $scope IS NOT NULL THEN [$scope] END AS one
  CALL (one) {
    UNWIND one AS scope
    MATCH (m:Curated)
    USING INDEX SEEK m:Curated(scope, content_hash)
    WHERE m.scope = scope AND m.content_hash = $hash
    RETURN m
    UNION
    WITH one WHERE one IS NULL
    MATCH (m:Curated)
    WHERE m.key > '' AND m.content_hash = $hash
    RETURN m
    UNION
    MATCH (m:Tombstone)
    WHERE m.key STARTS WITH coalesce($scope + '/', '') AND m.content_hash = $hash
    RETURN m
  }
  RETURN collect(DISTINCT m.key) AS keys
}
RETURN keys;
