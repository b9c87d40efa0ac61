// Uninstall, a page at a time: takes :Curated and the engine's own properties off memories; what apps wrote stays.
// Parameters: $limit integer. Returns one row: unenrolled integer. Writes: labels and bookkeeping properties.
CALL () {
  MATCH (m:Curated)
  WITH m LIMIT $limit
  RETURN collect(m) AS page
}
CALL (page) {
  UNWIND page AS m
  REMOVE m:Curated
  REMOVE m.next_due, m.last_curated_at, m.curation_action, m.curation_failures, m.quarantined_until, m.hold_until
  RETURN count(*) AS unenrolled
}
RETURN unenrolled
