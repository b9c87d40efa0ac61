// In the files of `jochi bundle`: fails while nodes of the engine are left: the file works on a page of them a run.
// Parameters: none. Returns one row: left integer. Writes nothing.
OPTIONAL MATCH (n:JochiProcedure|JochiPump|CurationAudit|CurationSnapshot|JochiJobRun|JochiWork|JochiAccess|JochiValue|JochiTurn)
WITH count(n) AS left
RETURN CASE WHEN left = 0 THEN 0 ELSE date(toString(left) + ' nodes of the engine are left. Run this file again') END AS left
