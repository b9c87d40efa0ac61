// How many receipts of forgetting were written in a span of time, and how many forgettings are not ended: for `jochi report`. Reads the time of each
// receipt.
// Parameters: $since and $until zoned datetimes. Returns one row: receipts, open. Writes nothing.
CALL () {
  MATCH (r:JochiReceipt)
  USING INDEX SEEK r:JochiReceipt(number)
  WHERE r.number > 0 AND r.at >= $since AND r.at < $until
  RETURN count(r) AS receipts
}
CALL () {
  MATCH (f:JochiForgetting)
  USING INDEX SEEK f:JochiForgetting(id)
  WHERE f.id > '' AND f.id <> 'gate'
  RETURN count(f) AS open
}
RETURN receipts, open;
