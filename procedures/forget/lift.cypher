// Lets values be learned again. Parameters: $hashes list of strings. Returns one row: lifted. Writes: deletes :JochiForgotten; version of the gate.
OPTIONAL MATCH (g:JochiForgetting {id: 'gate'})
FOREACH (x IN CASE WHEN g IS NULL THEN [] ELSE [g] END | SET x.version = x.version + 1)
WITH g
CALL () {
  UNWIND $hashes AS hash
  MATCH (f:JochiForgotten {hash: hash})
  DELETE f
  RETURN count(*) AS lifted
}
RETURN lifted;
