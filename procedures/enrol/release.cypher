// Takes back what enrolment and the engine wrote on nodes: label, key, the engine's properties that weren't there before, records.
// A tombstone gets its labels back. What the app wrote stays, also where it wrote it after the enrolment.
// Parameters: $nodes list of element ids, $engine_owned list of names. Returns one row: released integer, restored integer
// (of these, tombstones brought back).
// Writes: labels and properties of the nodes; deletes :CurationAudit and :JochiAccess of their keys; :JochiSlotChange, SUPERSEDES of its slot, SIMILAR_TO of ours.
CALL () {
  UNWIND $nodes AS element
  MATCH (m) WHERE elementId(m) = element
  REMOVE m.curation_lock
  WITH m WHERE m.enrolled_run IS NOT NULL AND (m:Curated OR (m:Tombstone AND m.tombstone = true AND m.purge_started_at IS NULL))
  RETURN collect({m: m, key: m.key, had: coalesce(m.enrolled_had, []), since: m.enrolled_at, dead: NOT m:Curated,
                  live: [name IN coalesce(m.tombstone_labels, []) WHERE name <> 'Curated' AND NOT m:Curated]}) AS rows
}
CALL (rows) {
  UNWIND rows AS r
  WITH r.m AS m, r
  // What its slot wrote on it, and the gap that it leaves there.
  CALL (m) {
    WITH m WHERE m.slot_line IS NOT NULL
    CREATE (:JochiSlotChange {key: m.key, slot: m.slot_line, spot: m.slot_place})
    SET m.valid_to = null, m.superseded_at = null, m.status = CASE WHEN NOT m.status IN ['active', 'superseded'] THEN m.status END
    WITH m
    MATCH (m)-[s:SUPERSEDES]-() WHERE s.slot = true
    DELETE s
  }
  CALL (m) {
    MATCH (m)-[f:SIMILAR_TO]-() WHERE f.found_at IS NOT NULL
    DELETE f
  }
  REMOVE m:Curated
  FOREACH (_ IN CASE WHEN r.dead THEN [1] ELSE [] END | REMOVE m:Tombstone)
  SET m:$(r.live)
  SET m.created_at = CASE WHEN 'created_at' IN r.had OR NOT coalesce(m.created_at = r.since, false) THEN m.created_at END
  FOREACH (name IN [name IN $engine_owned + ['scope', 'id'] WHERE NOT name IN r.had] | SET m[name] = null)
}
CALL (rows) {
  UNWIND rows AS r
  WITH r.key AS key WHERE NOT EXISTS { MATCH (:Curated {key: key}) }
  CALL (key) {
    MATCH (touch:JochiAccess {key: key})
    DELETE touch
  }
  CALL (key) {
    MATCH (audit:CurationAudit {key: key})
    DELETE audit
  }
}
RETURN size(rows) AS released, size([r IN rows WHERE r.dead]) AS restored
