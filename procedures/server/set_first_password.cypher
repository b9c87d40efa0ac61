// Replaces the password that a fresh server takes once. Run on `system`, in an implicit transaction, logged in with
// the old password.
// Parameters: $new :: STRING.
// Returns nothing.
ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new
