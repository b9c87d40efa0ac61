// Uninstall: which merges are to be taken back first, the newest first. Copies of a merge under way are to be taken away, too.
// Parameters: $limit integer, $skip list of keys that can't be. Returns one row: keys. Writes: state of :JochiMerging.
CALL () {
  MATCH (g:JochiMerging) WHERE NOT g.from IN $skip
  SET g.state = 'back', g.unmerged = true
  RETURN collect(DISTINCT g.from) AS under_way
}
CALL () {
  MATCH (t:Tombstone) WHERE t.tombstone = true AND t.merged_into IS NOT NULL AND t.key IS :: STRING NOT NULL AND NOT t.key IN $skip
  WITH t ORDER BY t.deleted_at DESC, t.key LIMIT $limit
  RETURN collect(DISTINCT t.key) AS merged
}
RETURN under_way + [key IN merged WHERE NOT key IN under_way] AS keys
