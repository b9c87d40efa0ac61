// Receipts in the order of their numbers. Parameters: $after integer (0: from the first), $limit integer.
// Returns one row: receipts, a list of {number, previous, body, hash, at}. Writes nothing.
CALL () {
  MATCH (r:JochiReceipt)
  USING INDEX SEEK r:JochiReceipt(number)
  WHERE r.number > $after
  RETURN r ORDER BY r.number LIMIT $limit
}
RETURN collect(r {.number, .previous, .body, .hash, .at}) AS receipts;
