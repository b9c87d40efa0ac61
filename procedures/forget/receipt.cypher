// Appends a receipt to the chain and ends the forgettings that it is of. Two who append at once come one after the other.
// Parameters: $number integer, $previous string or null: number and hash of the last receipt as the client read them; $body JSON text without content, $hash
// SHA-256 of it in hex,
//   $at zoned datetime, $runs list of strings. Returns one row: appended boolean; false: another receipt came in between, nothing was written.
// Writes: :JochiReceipt; deletes :JochiForgetting of the runs.
MERGE (g:JochiForgetting {id: 'gate'})
ON CREATE SET g.version = 0, g.lengths = []
REMOVE g.curation_lock
WITH g
OPTIONAL MATCH (last:JochiReceipt {number: $number - 1})
OPTIONAL MATCH (taken:JochiReceipt {number: $number})
WITH taken IS NULL AND coalesce(last.hash = $previous, $previous IS NULL AND $number = 1) AS fits
FOREACH (_ IN CASE WHEN fits THEN [1] ELSE [] END | CREATE (:JochiReceipt {number: $number, previous: $previous, body: $body, hash: $hash, at: $at}))
WITH fits
CALL (fits) {
  WITH fits WHERE fits
  MATCH (f:JochiForgetting) WHERE f.run IN $runs
  DELETE f
  RETURN count(*) AS ended
}
RETURN fits AS appended;
