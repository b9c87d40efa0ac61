// Takes what was forgotten out of what the engine has written at relationships.
// Parameters: $rows list of {id: element id, new: map (property: what is left; null takes it away)}. Returns one row: scrubbed.
// Writes: as asked.
UNWIND $rows AS row
MATCH ()-[r]->() WHERE elementId(r) = row.id
SET r += row.new
RETURN count(*) AS scrubbed;
