// Upgrade from a version before 0.2.0: what workers had left to do stood on memories; it stands on :JochiWork now, and jobs want it anew.
// Parameters: $names list of properties (jochi.graph.catalogue.EARLIER). Returns one row: released integer.
// Writes: takes those properties off memories and tombstones, page by page, each a transaction of its own; deletes :JochiCompression.
CALL () {
  MATCH (m:Curated|Tombstone) WHERE any(name IN $names WHERE m[name] IS NOT NULL)
  RETURN m AS one
UNION ALL
  MATCH (d:JochiCompression)
  RETURN d AS one
}
CALL (one) {
  FOREACH (name IN $names | SET one[name] = null)
  WITH one WHERE one:JochiCompression
  DETACH DELETE one
} IN TRANSACTIONS OF 1000 ROWS
RETURN count(*) AS released
