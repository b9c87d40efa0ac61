// Which of these keyed hashes are sealed. Parameters: $hashes list of strings. Returns one row: known list of strings, version integer. Writes nothing.
CALL () {
  UNWIND $hashes AS hash
  MATCH (f:JochiForgotten {hash: hash})
  RETURN collect(f.hash) AS known
}
OPTIONAL MATCH (g:JochiForgetting {id: 'gate'})
RETURN known, coalesce(g.version, 0) AS version;
