// Whether a scope has a memory, live or pruned.
// Parameters: $prefix: string, the scope and a slash
// Returns: known: boolean. Writes nothing.
RETURN EXISTS { MATCH (m:Curated) WHERE m.key STARTS WITH $prefix }
    OR EXISTS { MATCH (t:Tombstone) WHERE t.key STARTS WITH $prefix } AS known;
