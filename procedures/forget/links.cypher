// What the engine has written at relationships that has one of some keys or scopes in it: marks of merges, and at the copies of a record whom they led to. It
// reads every
// relationship, as `report/mentions` does every node.
// Parameters: $names list of properties, $exact list of strings, $limit integer, $seen list of element ids to pass over.
// Returns rows: id, type, stored (map of its properties). Writes nothing.
MATCH ()-[r]->()
WHERE any(name IN $names WHERE r[name] IS NOT NULL)
WITH r WHERE NOT elementId(r) IN $seen AND any(name IN $names WHERE any(text IN
    CASE WHEN r[name] IS :: STRING NOT NULL THEN [r[name]] WHEN r[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN r[name] ELSE [] END
    WHERE any(part IN $exact WHERE text CONTAINS part)))
WITH r LIMIT $limit
RETURN elementId(r) AS id, type(r) AS type, properties(r) AS stored;
