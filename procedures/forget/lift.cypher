// Lets values be learned again, with what is lifted with them.
// Parameters: $hashes list of strings. Returns one row: lifted. Writes: deletes :JochiForgotten; version of the gate.
OPTIONAL MATCH (g:JochiForgetting {id: 'gate'})
FOREACH (x IN CASE WHEN g IS NULL THEN [] ELSE [g] END | SET x.version = x.version + 1)
WITH g
CALL () {
  UNWIND $hashes AS hash
  CALL (hash) {
    MATCH (f:JochiForgotten {hash: hash})
    RETURN f
    UNION
    MATCH (f:JochiForgotten {of: hash})
    RETURN f
  }
  WITH DISTINCT f
  DELETE f
  RETURN count(*) AS lifted
}
RETURN lifted;
