// Memories by their keys, live and dead, with the earlier contents that snapshots keep. Parameters: $keys list of 'scope/id' (some hundred at most),
//   $content_names list of the properties in which kinds keep their contents.
// Returns one row: found, a list of {key, dead, labels, revision, stored: map of its properties but the vector, earlier: list of texts, with: keys of what it
// was merged with, same: keys of what a relationship SAME_AS says to be the same in its scope}.
// Writes nothing.
CALL () {
  UNWIND $keys AS key
  CALL (key) {
    MATCH (m:Curated {key: key})
    USING INDEX SEEK m:Curated(key)
    RETURN m
    UNION
    MATCH (m:Tombstone {key: key})
    USING INDEX SEEK m:Tombstone(key)
    RETURN m
  }
  CALL (m) {
    MATCH (a:CurationAudit {key: m.key})-[:KEEPS]->(copy:CurationSnapshot)
    USING INDEX SEEK a:CurationAudit(key)
    WITH copy, [name IN $content_names WHERE copy[name] IS :: STRING NOT NULL] AS names LIMIT 1000
    UNWIND names AS name
    RETURN collect(DISTINCT copy[name]) AS earlier
  }
  RETURN collect({key: m.key, dead: m:Tombstone, labels: labels(m), revision: m.revision, stored: m {.*, embedding: null}, earlier: earlier,
    with: [each IN coalesce(m.merged_from, []) + coalesce(m.merged_into, []) WHERE each <> m.key],
    same: [(m)-[:SAME_AS]-(other:Curated) WHERE other <> m AND other.scope = m.scope | other.key]}) AS found
}
RETURN found;
