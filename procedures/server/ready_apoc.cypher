// Does APOC answer, its background jobs included? Run on the database itself, in a read transaction. A server whose
// APOC is only half loaded (jar in the plugins folder, not on the class path) fails here and not in the first job.
// Parameters: none.
// Returns one row: apoc :: STRING (its version), jobs :: INTEGER (periodic jobs known now).
CALL apoc.periodic.list() YIELD name
WITH count(name) AS jobs
RETURN apoc.version() AS apoc, jobs
