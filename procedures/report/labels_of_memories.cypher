// The labels that memories carry. Looks at up to $most memories, each once.
// Parameters: $most integer. Returns one row: labels, a list of strings. Writes nothing.
MATCH (m:Curated)
WITH m LIMIT $most
UNWIND labels(m) AS label
RETURN collect(DISTINCT label) AS labels
