// Where in the whole store a text or list of texts has one of the needles: every node but procedures and policies of the engine, then every relationship. It reads
// everything, as it says: for people who want to be sure.
// Parameters: $needles list of lower-case strings in NFC, $limit integer, $seen list of element ids to pass over.
// Returns one row: nodes, a list of {id, labels, stored: map of its properties but the vector, names: of those that have one}; relationships, a list of {id, type, stored, names}.
// Writes nothing.
CALL () {
  MATCH (n)
  WHERE NOT (n:JochiProcedure OR n:JochiPolicy OR n:__Neo4jMigration)
  WITH n, [name IN keys(n) WHERE
      CASE WHEN n[name] IS :: STRING NOT NULL THEN any(needle IN $needles WHERE toLower(normalize(n[name])) CONTAINS needle)
           WHEN n[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN any(each IN n[name] WHERE any(needle IN $needles WHERE toLower(normalize(each)) CONTAINS needle))
           ELSE false END] AS names
  WHERE size(names) > 0 AND NOT elementId(n) IN $seen
  WITH n, names LIMIT $limit
  RETURN collect({id: elementId(n), labels: labels(n), stored: n {.*, embedding: null}, names: names}) AS nodes
}
CALL () {
  MATCH ()-[r]->()
  WITH r, [name IN keys(r) WHERE
      CASE WHEN r[name] IS :: STRING NOT NULL THEN any(needle IN $needles WHERE toLower(normalize(r[name])) CONTAINS needle)
           WHEN r[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN any(each IN r[name] WHERE any(needle IN $needles WHERE toLower(normalize(each)) CONTAINS needle))
           ELSE false END] AS names
  WHERE size(names) > 0 AND NOT elementId(r) IN $seen
  WITH r, names LIMIT $limit
  RETURN collect({id: elementId(r), type: type(r), stored: properties(r), names: names}) AS relationships
}
RETURN nodes, relationships;
