// The roles of the user who is connected. Parameters: none.
// Returns one row: user, roles (list, null on Community); no row on a server without authentication.
SHOW CURRENT USER YIELD user, roles
RETURN user, roles
