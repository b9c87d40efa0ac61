// Uninstall, a page at a time: takes :Curated and the engine's own properties off memories; what apps wrote stays.
// A node that was enrolled also loses what enrolment gave it.
// Parameters: $limit integer, $engine_owned list of names. Returns one row: unenrolled integer. Writes: labels and bookkeeping properties; deletes SIMILAR_TO of ours.
CALL () {
  MATCH (m:Curated)
  WITH m LIMIT $limit
  RETURN collect(m) AS page
}
// Flags on near duplicates: apps may have relationships of that type as well.
CALL (page) {
  UNWIND page AS m
  MATCH (m)-[r:SIMILAR_TO]-() WHERE r.found_at IS NOT NULL
  WITH DISTINCT r
  DELETE r
}
CALL (page) {
  UNWIND page AS m
  FOREACH (had IN CASE WHEN m.enrolled_run IS NOT NULL THEN [coalesce(m.enrolled_had, [])] ELSE [] END |
    SET m.created_at = CASE WHEN 'created_at' IN had OR NOT coalesce(m.created_at = m.enrolled_at, false) THEN m.created_at END
    FOREACH (name IN [name IN $engine_owned + ['scope', 'id'] WHERE NOT name IN had] | SET m[name] = null))
  REMOVE m:Curated
  REMOVE m.next_due, m.last_curated_at, m.curation_action, m.curation_rails, m.curation_failures, m.quarantined_until, m.hold_until
  REMOVE m.tier_reason, m.tier_from, m.tier_at, m.confidence_lost, m.confidence_lost_at, m.mvs, m.mvs_at, m.needs_compression, m.needs_improvement
  REMOVE m.content_key, m.duplicate_of, m.prepare_due, m.prepare_lease, m.embed_due, m.embed_lease, m.compress_due, m.compress_lease, m.compressed_hash, m.compressed_at, m.compressed_by,
    m.work_failures, m.work_error, m.work_quarantined_at, m.work_quarantined, m.embedding_unknown, m.similar_due
  REMOVE m.slot_line, m.slot_place, m.slot_stands, m.slot_key, m.slot_name, m.slot_value, m.slot_due
  RETURN count(*) AS unenrolled
}
RETURN unenrolled
