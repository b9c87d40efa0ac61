// The database that a session is in which names none: the home database of the user.
// Parameters: none. Returns one row: name. Writes nothing.
CALL db.info() YIELD name
RETURN name
