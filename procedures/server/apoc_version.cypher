// The version of APOC. Fails where there is none.
// Parameters: none. Returns one row: version.
RETURN apoc.version() AS version
