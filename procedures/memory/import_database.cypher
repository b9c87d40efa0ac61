// What tells this database from every other one, also from a new one of the same name.
// No parameters. Returns id: string, one row. Writes nothing.
CALL db.info() YIELD id
RETURN id
