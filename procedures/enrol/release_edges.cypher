// Takes off relationships of nodes about to be released what the engine keeps there for itself, a page at a time.
// Parameters: $nodes list of element ids, $types list of relationship types, $names list of properties, $limit integer. Returns one row: released integer.
// Writes: removes those properties.
CALL () {
  UNWIND $nodes AS element
  MATCH (m) WHERE elementId(m) = element AND m.enrolled_run IS NOT NULL
  MATCH (m)-[r]-() WHERE type(r) IN $types AND any(name IN $names WHERE r[name] IS NOT NULL)
  WITH DISTINCT r LIMIT $limit
  FOREACH (name IN $names | SET r[name] = null)
  RETURN count(*) AS released
}
RETURN released
