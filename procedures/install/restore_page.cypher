// Uninstall, a page at a time: brings tombstones back. One whose key lives again keeps its own labels but not :Curated, so both stay.
// Parameters: $limit integer. Returns one row: restored integer. Writes: label swap back, bookkeeping properties.
CALL () {
  MATCH (t:Tombstone) WHERE t.tombstone AND t.tombstone_labels IS NOT NULL
  WITH t LIMIT $limit
  RETURN collect(t) AS page
}
CALL (page) {
  UNWIND page AS t
  WITH t, [label IN t.tombstone_labels WHERE label <> 'Curated'] AS live
  REMOVE t:Tombstone, t.merged_into, t.merge_copied, t.tombstone, t.deleted_at, t.tombstone_labels, t.purge_started_at
  REMOVE t.content_key, t.duplicate_of, t.prepare_due, t.prepare_lease, t.embed_due, t.embed_lease, t.compress_due, t.compress_lease, t.compressed_hash, t.compressed_at, t.compressed_by,
    t.work_failures, t.work_error, t.work_quarantined_at, t.work_quarantined, t.similar_due
  REMOVE t.slot_line, t.slot_place, t.slot_stands, t.slot_key, t.slot_name, t.slot_value, t.slot_due
  SET t:$(live)
  REMOVE t.next_due, t.last_curated_at, t.curation_action, t.curation_rails, t.curation_failures, t.quarantined_until, t.hold_until
  REMOVE t.mvs, t.mvs_at, t.needs_compression, t.needs_improvement
  RETURN count(*) AS restored
}
RETURN restored
