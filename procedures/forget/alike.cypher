// What memories say in which all words of a name stand, or words that are written nearly so: among these are names that sound like it.
// Parameters: $query of Lucene's, for the full-text index curated_text, $prefix that keys begin with, $limit integer.
// Returns one row: found, a list of {key, texts: its texts}.
// Writes nothing.
CALL db.index.fulltext.queryNodes('curated_text', $query, {limit: $limit}) YIELD node AS m
WHERE m:Curated AND m.key STARTS WITH $prefix
RETURN collect({key: m.key, texts: [name IN keys(m) WHERE m[name] IS :: STRING NOT NULL AND NOT name IN ['key', 'id', 'scope'] | m[name]]}) AS found;
