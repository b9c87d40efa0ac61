// Takes back what enrolment and the engine wrote on nodes: labels, key, the engine's properties that weren't there before, records. What it
// changed of an app's (a shortened content, a state, a repair) goes back as far as it is on record and nobody has written it since.
// A tombstone gets its labels back. What the app wrote stays, also where it wrote it after the enrolment.
// Parameters: $nodes list of element ids, $released list of names that are the engine's to take off, $stays list of those that a memory keeps that
// never was anything else (null: such a one is no business of ours), $aside boolean: a constraint forbids that they become what they were. Then a tombstone
// keeps the label :Tombstone, with its labels in tombstone_labels, and a live one its properties.
// Returns one row: released integer, restored integer (of these, tombstones brought back; with $aside: that were tombstones).
// Writes: labels and properties of the nodes; deletes :CurationAudit, :CurationSnapshot :JochiAccess and :JochiWork of their keys, SUPERSEDES of a slot,
// SIMILAR_TO, FOLLOWS and SUMMARIZED_TO of ours; :ValueClassification; :JochiSlotChange.
CALL () {
  UNWIND $nodes AS element
  MATCH (m) WHERE elementId(m) = element
  REMOVE m.curation_lock
  WITH m, coalesce(m:Tombstone AND m.tombstone = true, false) AS dead
  WHERE (m.enrolled_run IS NOT NULL OR $stays IS NOT NULL) AND (m:Curated OR (dead AND (m.purge_started_at IS NULL OR $stays IS NOT NULL)))
  RETURN collect({m: m, key: m.key, dead: dead, since: m.enrolled_at, enrolled: m.enrolled_run IS NOT NULL,
                  kept: CASE WHEN m.enrolled_run IS NULL THEN $stays ELSE coalesce(m.enrolled_had, []) END,
                  alone: NOT EXISTS { MATCH (other:Curated {key: m.key}) WHERE other <> m }, whole: dead OR NOT $aside,
                  live: CASE WHEN dead THEN [name IN coalesce(m.tombstone_labels, []) WHERE NOT name IN ['Curated', 'Tombstone']] ELSE [] END}) AS rows
}
// The content that a compression took.
CALL (rows) {
  UNWIND [r IN rows WHERE r.alone AND r.whole] AS r
  MATCH (a:CurationAudit {key: r.key})
  USING INDEX SEEK a:CurationAudit(key)
  WHERE a.action = 'compress'
  MATCH (was:CurationSnapshot)<-[:KEEPS {role: 'before'}]-(a)-[:KEEPS {role: 'after'}]->(is:CurationSnapshot)
  WITH r.m AS m, was, is WHERE m[a.content_name] = is[a.content_name]
  FOREACH (name IN keys(was) + keys(is) | SET m[name] = was[name])
}
// What is on record, the newest first: the record of an undo leads back to what the undone one left.
CALL (rows) {
  UNWIND [r IN rows WHERE r.alone AND r.enrolled AND r.whole] AS r
  MATCH (a:CurationAudit {key: r.key})
  USING INDEX SEEK a:CurationAudit(key)
  WHERE a.form = 'properties'
  WITH r.m AS m, a ORDER BY a.at DESC, a.id DESC
  WITH m, collect(a) AS records
  FOREACH (a IN records | FOREACH (name IN a.properties |
    SET m[name] = CASE WHEN coalesce(m[name] = a['after_' + name], m[name] IS NULL AND a['after_' + name] IS NULL) THEN a['before_' + name] ELSE m[name] END))
}
// So does an edge that starts here and was archived. (Its other end may have lost its key already.)
CALL (rows) {
  UNWIND [r IN rows WHERE r.alone AND r.enrolled AND NOT $aside] AS r
  MATCH (a:CurationAudit {key: r.key})
  USING INDEX SEEK a:CurationAudit(key)
  WHERE a.action = 'archive_edge' AND a.undone_by IS NULL
  WITH r.m AS m, a
  MATCH (m)-[e]->(x)
  WHERE type(e) = a.type AND coalesce(x.key = a.to, true) AND e.archived_at = a.after_archived_at AND coalesce(e.salience = a.after_salience, true)
  FOREACH (name IN a.properties | SET e[name] = a['before_' + name])
}
CALL (rows) {
  UNWIND rows AS r
  WITH r.m AS m, r
  // What its slot wrote on it, and the gap that it leaves there.
  CALL (m, r) {
    WITH m WHERE r.enrolled AND r.whole AND m.slot_line IS NOT NULL
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
  // Its place among contexts, and the way to what was made of it, which stays a memory.
  CALL (m, r) {
    WITH m WHERE r.enrolled
    MATCH (m)-[f:FOLLOWS|SUMMARIZED_TO]-(x)
    WHERE f.derived_by = 'levels' OR type(f) = 'SUMMARIZED_TO' AND EXISTS { MATCH (m)<-[d:DERIVED_FROM]-(x) WHERE d.at IS NOT NULL }
    DELETE f
  }
  CALL (m) {
    MATCH (m)-[:HAS_VALUE]->(value:JochiValue)
    DETACH DELETE value
  }
  REMOVE m:Curated
  FOREACH (_ IN CASE WHEN r.dead AND NOT $aside THEN [1] ELSE [] END | REMOVE m:Tombstone)
  FOREACH (_ IN CASE WHEN r.dead AND $aside THEN [1] ELSE [] END | SET m.tombstone_labels = r.live)
  SET m:$(CASE WHEN $aside THEN [] ELSE r.live END)
  FOREACH (name IN [name IN $released WHERE r.whole AND NOT name IN r.kept AND NOT ($aside AND name = 'tombstone_labels')
      AND NOT (name = 'created_at' AND coalesce(m.created_at <> r.since, true))
      AND NOT (name = 'salience' AND m.salience_at IS NULL)] | SET m[name] = null)
}
CALL (rows) {
  UNWIND [r IN rows WHERE r.enrolled AND r.alone] AS r
  WITH r.key AS key
  CALL (key) {
    MATCH (touch:JochiAccess {key: key})
    DELETE touch
  }
  CALL (key) {
    MATCH (work:JochiWork {key: key})
    DELETE work
  }
  CALL (key) {
    MATCH (audit:CurationAudit {key: key})
    OPTIONAL MATCH (audit)-[:KEEPS]->(copy:CurationSnapshot)
    DETACH DELETE audit, copy
  }
}
RETURN size(rows) AS released, size([r IN rows WHERE r.dead]) AS restored
