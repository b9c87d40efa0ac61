// Removes procedures by name. Parameters: $names list. Returns one row: deleted integer. Writes: deletes :JochiProcedure.
UNWIND $names AS name
MATCH (x:JochiProcedure {name: name})
DELETE x
RETURN count(*) AS deleted
