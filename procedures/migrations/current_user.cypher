// The database user of this connection.
// No parameters. Returns one row, user: string or null (authentication off). Writes nothing.
SHOW CURRENT USER YIELD user
