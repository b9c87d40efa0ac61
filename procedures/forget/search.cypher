// Memories, live and dead, that may say something: each has a needle somewhere in a text of its own. Who asks compares word for word.
// A page looks at $limit of them, or a few more, in the order of their keys, whether they say it or not: so all of them are read once. Those of one key
// stand in one page.
// Parameters: $from string: the first key of the page, $before string: the first key behind all that are asked for, $needles list of lower-case strings in
//   NFKC ('' for all), $pattern regular expression for other spellings, of a lower-case text in NFKD, or null, $limit integer.
// Returns one row: found, a list of {key, dead, labels, revision, stored: map of its properties but the vector, names: of those that have it, same: names of
// what a relationship SAME_AS says to be the same}, in the order of keys; last: the last key of the page, or null where that was all. Writes nothing.
CALL () {
  CALL () {
    MATCH (m:Curated)
    USING INDEX SEEK m:Curated(key)
    WHERE m.key >= $from AND m.key < $before
    WITH m.key AS key ORDER BY key LIMIT $limit
    RETURN key
    UNION ALL
    MATCH (m:Tombstone)
    USING INDEX SEEK m:Tombstone(key)
    WHERE m.key >= $from AND m.key < $before
    WITH m.key AS key ORDER BY key LIMIT $limit
    RETURN key
  }
  WITH key ORDER BY key LIMIT $limit
  WITH collect(key) AS keys
  RETURN CASE WHEN size(keys) = $limit THEN keys[-1] END AS last, keys[-1] AS end
}
CALL (end) {
  CALL (end) {
    MATCH (m:Curated)
    USING INDEX SEEK m:Curated(key)
    WHERE m.key >= $from AND m.key <= end
    RETURN m
    UNION
    MATCH (m:Tombstone)
    USING INDEX SEEK m:Tombstone(key)
    WHERE m.key >= $from AND m.key <= end
    RETURN m
  }
  // Each text is folded once, however many needles there are.
  WITH m, [name IN keys(m) WHERE any(text IN
      CASE WHEN m[name] IS :: STRING NOT NULL THEN [toLower(normalize(m[name], NFKC))]
           WHEN m[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN [each IN m[name] | toLower(normalize(each, NFKC))]
           ELSE [] END WHERE any(needle IN $needles WHERE text CONTAINS needle)
        OR $pattern IS NOT NULL AND normalize(text, NFKD) =~ $pattern)] AS names
  WHERE size(names) > 0
  WITH m, names ORDER BY m.key
  RETURN collect({key: m.key, dead: m:Tombstone, labels: labels(m), revision: m.revision, stored: m {.*, embedding: null}, names: names,
    same: [(m)-[:SAME_AS]-(other:Curated) WHERE other.name IS :: STRING NOT NULL AND other.scope = m.scope | other.name]}) AS found
}
RETURN found, last;
