// Leads the records of undos of before 0.1.0 to what they took back: they named it (of), those of today have TAKES_BACK.
// It commits by itself, a thousand at a time, and can be run again. Parameters: none. Returns nothing. Writes: TAKES_BACK.
MATCH (a:CurationAudit) WHERE a.line IS NOT NULL AND a.of IS NOT NULL
CALL (a) {
  MATCH (was:CurationAudit {id: a.of})
  MERGE (a)-[:TAKES_BACK]->(was)
} IN TRANSACTIONS OF 1000 ROWS
