// The last receipt. Parameters: none. Returns one row: number (0: there is none), hash or null. Writes nothing.
OPTIONAL CALL () {
  MATCH (r:JochiReceipt)
  USING INDEX SEEK r:JochiReceipt(number)
  WHERE r.number > 0
  RETURN r ORDER BY r.number DESC LIMIT 1
}
RETURN coalesce(r.number, 0) AS number, r.hash AS hash;
