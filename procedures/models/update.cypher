// Writes what an app changed of one memory, if it is still the memory that the app had loaded.
// Parameters: $policy sha256 under which the changes were made, $now zoned datetime, $key string (scope/id), $labels [string, …]
//   that it must have, $revision integer as loaded (0 for none), $was map (each changed property as it was loaded; absent:
//   null), $changes map (null removes), $content_key string or null (the content to claim).
// Returns one row: outcome 'saved' | 'policy' (another policy is current by now) | 'lost' (somebody changed it meanwhile) |
//   'pruned' | 'gone' | 'known' (a live memory has the content); memory (the node as it is now, or null), known (key or null),
//   deleted_at (of the tombstone, or null).
// Writes: $changes, revision, updated_at, next_due; a :JochiScopeChange for the token budgets. Nothing of the engine's beside next_due, so a stale object
// can't undo curation.
OPTIONAL MATCH (policy:JochiPolicy {sha256: $policy}) WHERE policy.current
OPTIONAL MATCH (m:Curated {key: $key})
// The lock: the engine may have pruned it while we waited, so everything is read after it.
REMOVE m.curation_lock
WITH policy, m
OPTIONAL MATCH (dead:Tombstone {key: $key})
WITH policy, m, max(dead.deleted_at) AS deleted_at, count(dead) AS tombstones
OPTIONAL MATCH (owner:Curated {content_key: $content_key}) WHERE owner.key <> $key
WITH m, owner.key AS known, deleted_at, CASE
    WHEN policy IS NULL THEN 'policy'
    WHEN (m IS NULL AND tombstones > 0) OR NOT m:Curated OR m.tombstone IS NOT NULL THEN 'pruned'
    WHEN m IS NULL OR NOT all(label IN $labels WHERE label IN labels(m)) THEN 'gone'
    WHEN coalesce(m.revision, 0) <> $revision THEN 'lost'
    WHEN NOT all(name IN keys($was) WHERE CASE
        WHEN m[name] IS NULL OR $was[name] IS NULL THEN m[name] IS NULL AND $was[name] IS NULL
        // A zone can come back under another name than it went; the moment is what counts.
        WHEN m[name] IS :: ZONED DATETIME AND $was[name] IS :: ZONED DATETIME THEN m[name].epochMillis = $was[name].epochMillis
        ELSE coalesce(m[name] = $was[name], false)
      END) THEN 'lost'
    WHEN owner IS NOT NULL THEN 'known'
    ELSE 'saved'
  END AS outcome
// Whose content it was the copy of is free now: a worker looks who has it next.
CALL (m, outcome) {
  WITH m WHERE outcome = 'saved' AND 'content_hash' IN keys($changes) AND m.content_key IS NOT NULL
  MATCH (copy:Curated {scope: m.scope, content_hash: m.content_hash})
  WHERE copy.duplicate_of = m.key
  SET copy.prepare_due = $now
  RETURN count(*) AS copies
}
CALL (m, outcome) {
  WITH m, outcome WHERE outcome = 'saved'
  SET m += $changes,
      m.revision = coalesce(m.revision, 0) + 1,
      m.updated_at = $now,
      m.next_due = CASE WHEN m.next_due <= $now THEN m.next_due ELSE $now END,
      // Nobody has compared it with what was forgotten: a worker does.
      m.prepare_due = CASE WHEN EXISTS { MATCH (gate:JochiForgetting {id: 'gate'}) WHERE gate.version > 0 }
          // So does whoever made something out of it.
          OR 'content_hash' IN keys($changes) AND EXISTS { (m)<-[:DERIVED_FROM|WAS_DERIVED_FROM]-() } THEN coalesce(m.prepare_due, $now) ELSE m.prepare_due END
  CREATE (:JochiScopeChange {scope: m.scope, at: $now, written: 1})
  RETURN count(*) AS written
}
RETURN outcome, m AS memory, known, coalesce(m.deleted_at, deleted_at) AS deleted_at;
