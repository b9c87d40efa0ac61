// Which of these keys belong to no memory, live or pruned.
// Parameters: $keys: [string, …]
// Returns: key: string, one row for each unknown key. Writes nothing.
UNWIND $keys AS key
WITH key WHERE NOT EXISTS { MATCH (:Curated {key: key}) } AND NOT EXISTS { MATCH (:Tombstone {key: key}) }
RETURN key;
