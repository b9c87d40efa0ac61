// Memories, live and dead, that may say something: each has a needle somewhere in a text of its own. Who asks compares word for word.
// Parameters: $prefix string (scope + '/', or '' for all), $needles list of lower-case strings in NFKC ('' for all), $pattern regular expression for other
//   spellings, of a lower-case text in NFKD, or null, $after string (key), $limit integer.
// Returns one row: found, a list of {key, dead, labels, revision, stored: map of its properties but the vector, names: of those that have it, same: names of
// what a relationship SAME_AS says to be the same}, in the order of keys; last: the key to go on after, or null where that was all. Writes nothing.
CALL () {
  CALL () {
    MATCH (m:Curated)
    WHERE m.key STARTS WITH $prefix AND m.key > $after
    RETURN m
    UNION
    MATCH (m:Tombstone)
    WHERE m.key STARTS WITH $prefix AND m.key > $after
    RETURN m
  }
  // Each text is folded once, however many needles there are.
  WITH m, [name IN keys(m) WHERE any(text IN
      CASE WHEN m[name] IS :: STRING NOT NULL THEN [toLower(normalize(m[name], NFKC))]
           WHEN m[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN [each IN m[name] | toLower(normalize(each, NFKC))]
           ELSE [] END WHERE any(needle IN $needles WHERE text CONTAINS needle)
        OR $pattern IS NOT NULL AND normalize(text, NFKD) =~ $pattern)] AS names
  WHERE size(names) > 0
  WITH m, names ORDER BY m.key LIMIT $limit
  RETURN collect({key: m.key, dead: m:Tombstone, labels: labels(m), revision: m.revision, stored: m {.*, embedding: null}, names: names,
    same: [(m)-[:SAME_AS]-(other:Curated) WHERE other.name IS :: STRING NOT NULL AND other.scope = m.scope | other.name]}) AS found
}
RETURN found, CASE WHEN size(found) = $limit THEN found[-1].key END AS last;
