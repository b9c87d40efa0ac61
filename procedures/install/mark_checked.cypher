// Marks procedures that passed EXPLAIN on this server, where just that text is stored.
// Parameters: $procedures list of {name, sha256}, $checked_on (signature of the server). Returns one row: marked integer. Writes: :JochiProcedure.
UNWIND $procedures AS passed
MATCH (x:JochiProcedure {name: passed.name})
WHERE x.sha256 = passed.sha256
SET x.checked_on = $checked_on
RETURN count(*) AS marked
