// Where in the whole store a text or list of texts has one of the needles, or to the letter one of some keys or scopes: every node but procedures and policies
// of the engine, then every relationship. Without $ours it reads everything, as it says: for people who want to be sure.
// Parameters: $needles list of lower-case strings in NFKC, $pattern regular expression for other spellings, of a lower-case text in NFKD, or null,
// $exact list of strings, $ids list of properties that hold ids of the node's scope, $ours list of labels: of nodes without one of them only the
// properties $marks (list) are read; null: everything is,
// $limit integer, $links boolean (look at relationships, too), $seen list of element ids to pass over.
// Returns one row: nodes, a list of {id, labels, stored: map of its properties but the vector, names: of those that have one, of: the key that a snapshot's
// record is of}; relationships, a list of {id, type, stored, names}.
// Writes nothing.
CALL () {
  MATCH (n)
  WHERE NOT (n:JochiProcedure OR n:JochiPolicy OR n:__Neo4jMigration)
  WITH n, CASE WHEN $ours IS NULL OR any(label IN labels(n) WHERE label IN $ours) THEN keys(n)
    ELSE [name IN $marks WHERE n[name] IS NOT NULL] END AS own
  WHERE size(own) > 0
  // Each text is folded once, however many needles there are.
  WITH n, [name IN own WHERE any(text IN
      CASE WHEN n[name] IS :: STRING NOT NULL THEN [n[name]] WHEN n[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN n[name] ELSE [] END
      WHERE any(part IN $exact WHERE text CONTAINS part OR name IN $ids AND toStringOrNull(n.scope) + '/' + text CONTAINS part)
        OR size($needles) > 0 AND any(folded IN [toLower(normalize(text, NFKC))] WHERE any(needle IN $needles WHERE folded CONTAINS needle)
          OR $pattern IS NOT NULL AND normalize(folded, NFKD) =~ $pattern))] AS names
  WHERE size(names) > 0 AND NOT elementId(n) IN $seen
  WITH n, names LIMIT $limit
  RETURN collect({id: elementId(n), labels: labels(n), stored: n {.*, embedding: null}, names: names, of: head(COLLECT { MATCH (n)<-[:KEEPS]-(a:CurationAudit)
      WHERE n:CurationSnapshot RETURN a.key LIMIT 1 })}) AS nodes
}
CALL () {
  WITH 1 AS one WHERE $links
  MATCH ()-[r]->()
  // Each text is folded once, however many needles there are.
  WITH r, [name IN keys(r) WHERE any(text IN
      CASE WHEN r[name] IS :: STRING NOT NULL THEN [r[name]] WHEN r[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN r[name] ELSE [] END
      WHERE any(part IN $exact WHERE text CONTAINS part)
        OR size($needles) > 0 AND any(folded IN [toLower(normalize(text, NFKC))] WHERE any(needle IN $needles WHERE folded CONTAINS needle)
          OR $pattern IS NOT NULL AND normalize(folded, NFKD) =~ $pattern))] AS names
  WHERE size(names) > 0 AND NOT elementId(r) IN $seen
  WITH r, names LIMIT $limit
  RETURN collect({id: elementId(r), type: type(r), stored: properties(r), names: names}) AS relationships
}
RETURN nodes, relationships;
