// Seals in the order of their hashes. Parameters: $after string ('': from the first), $limit integer.
// Returns one row: seals, a list of {hash, words, at, of, reading}. Writes nothing.
CALL () {
  MATCH (f:JochiForgotten)
  USING INDEX SEEK f:JochiForgotten(hash)
  WHERE f.hash > $after
  RETURN f ORDER BY f.hash LIMIT $limit
}
RETURN collect(f {.hash, .words, .at, .of, .reading}) AS seals;
