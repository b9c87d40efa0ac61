// Whether the database takes writes here, and its own identity (it changes when a dump is loaded elsewhere).
// Parameters: $database string. Returns a row for each member of a cluster that has it: access ('read-write' | 'read-only'), writer boolean,
//   status, address (host:port as that member advertises it).
SHOW DATABASE $database YIELD name, access, writer, currentStatus, address
RETURN access, writer, currentStatus AS status, address
