// What this server is: its version and edition.
// Parameters: none. Returns one row: name, version, edition.
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN name, versions[0] AS version, edition
