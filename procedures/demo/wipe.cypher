// Takes out everything that an earlier demonstration left in its own database. The migration chain and the schema stay,
// and so do the procedures' texts: install compares them and puts right what differs.
// Parameters: none. Returns no row. Writes: deletes all other nodes, 5,000 in a transaction.
MATCH (n) WHERE NOT n:__Neo4jMigration AND NOT n:JochiProcedure
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS
