// Which server answers, and with which APOC? Run on the database itself, in a read transaction.
// Parameters: none.
// Returns one row: version :: STRING, edition :: STRING.
CALL dbms.components() YIELD name, versions, edition
WITH versions, edition WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
