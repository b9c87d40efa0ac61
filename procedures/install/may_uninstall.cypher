// In the files of `jochi bundle`: fails where only the command `jochi uninstall` can remove the engine without a loss.
// Parameters: none. Returns one row: may boolean. Writes nothing.
CALL () {
  OPTIONAL MATCH (t:Tombstone) WHERE t.tombstone = true AND t.merged_into IS NOT NULL
  RETURN count(t) AS merged
}
CALL () {
  OPTIONAL MATCH (n:JochiForgotten|JochiReceipt)
  RETURN count(n) AS forgotten
}
WITH CASE
  WHEN merged > 0 THEN toString(merged) + ' memories were merged away: `jochi uninstall` splits them again, this file does not'
  WHEN forgotten > 0 THEN 'There are seals and receipts of forgetting: `jochi receipts export` keeps them; take this statement out where they may go'
  END AS wrong
RETURN CASE WHEN wrong IS NULL THEN true ELSE date(wrong) IS NULL END AS may
