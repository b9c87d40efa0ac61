// Whether the database takes writes here, and its own identity (it changes when a dump is loaded elsewhere).
// Parameters: $database string. Returns one row: access ('read-write' | 'read-only'), writer boolean, status.
SHOW DATABASE $database YIELD name, access, writer, currentStatus
RETURN access, writer, currentStatus AS status
