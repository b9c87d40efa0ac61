// Which merges are to be taken back before what was merged away is released, the newest first: on uninstall all of them, with copies of a merge
// under way; on disenrol those of enrolled nodes.
// Parameters: $limit integer, $skip list of keys that can't be, $label string or null (all). Returns one row: keys. Writes: state of :JochiMerging.
CALL () {
  MATCH (g:JochiMerging) WHERE NOT g.from IN $skip AND $label IS NULL
  SET g.state = 'back', g.unmerged = true
  RETURN collect(DISTINCT g.from) AS under_way
}
CALL () {
  MATCH (t:Tombstone) WHERE t.tombstone = true AND t.merged_into IS NOT NULL AND t.key IS :: STRING NOT NULL AND NOT t.key IN $skip
    AND ($label IS NULL OR (t.enrolled_run IS NOT NULL AND $label IN t.tombstone_labels))
  WITH t ORDER BY t.deleted_at DESC, t.key LIMIT $limit
  RETURN collect(DISTINCT t.key) AS merged
}
RETURN under_way + [key IN merged WHERE NOT key IN under_way] AS keys
