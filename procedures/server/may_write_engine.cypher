// Proves that this user may create and delete nodes of the engine; leaves nothing. Only where Jochi is installed, so that
// no new label name comes into a database. Parameters: none. Returns one row: wrote integer.
CREATE (x:JochiJobRun)
DELETE x
RETURN count(*) AS wrote
