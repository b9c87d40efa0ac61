// The keys of nodes that are about to be released.
// Parameters: $nodes list of element ids. Returns key (string; its element id where it has none) of each that is there. Writes nothing.
UNWIND $nodes AS element
MATCH (m) WHERE elementId(m) = element
RETURN CASE WHEN m.key IS :: STRING NOT NULL THEN m.key ELSE elementId(m) END AS key
