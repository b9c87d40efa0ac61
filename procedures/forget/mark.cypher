// Marks what rests on something forgotten and on more: whoever derived it derives it anew.
// Parameters: $now zoned datetime, $keys list of 'scope/id'. Returns one row: marked. Writes: derive_due; is_dirty
// where it has one; count_due; next_due.
CALL () {
  UNWIND $keys AS key
  WITH key ORDER BY key
  MATCH (m:Curated {key: key})
  USING INDEX SEEK m:Curated(key)
  SET m.derive_due = $now, m.count_due = CASE WHEN m.source_count IS NOT NULL THEN $now ELSE m.count_due END,
      m.next_due = CASE WHEN m.next_due > $now THEN $now ELSE m.next_due END
  FOREACH (x IN CASE WHEN m.is_dirty IS NOT NULL THEN [m] ELSE [] END | SET x.is_dirty = true)
  RETURN count(*) AS marked
}
RETURN marked;
