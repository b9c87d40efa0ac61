// The scopes with what they hold: for the demonstration's report. Parameters: none. Returns a row a scope: scope, memories and tokens of what lives there.
// Writes nothing.
MATCH (m:Curated)
WHERE m.tombstone IS NULL AND m.scope IS NOT NULL
RETURN m.scope AS scope, count(m) AS memories, sum(coalesce(m.token_count, 0)) AS tokens ORDER BY scope
