// Creates one memory with its labels, unless its key or its content is somebody's already.
// Parameters: $policy sha256 under which the properties were made, $key string (scope/id), $labels [string, …] beside :Curated,
//   $content_key string or null (null: this content need not be unique), $properties map.
// Returns one row: outcome 'created' | 'policy' (another policy is current by now) | 'taken' (the key lives) | 'known' (a live
//   memory has the content); memory (the new node or null), known (that memory's key or null). A tombstone with the key stays as
//   it is: this is another memory (DESIGN §4).
// Writes: (:Curated:<labels>), a :JochiScopeChange for the token budgets. CREATE and not MERGE: of two writers the constraint fails one.
OPTIONAL MATCH (policy:JochiPolicy {sha256: $policy}) WHERE policy.current
OPTIONAL MATCH (taken:Curated {key: $key})
OPTIONAL MATCH (owner:Curated {content_key: $content_key})
WITH owner.key AS known, CASE
    WHEN policy IS NULL THEN 'policy'
    WHEN taken IS NOT NULL THEN 'taken'
    WHEN owner IS NOT NULL THEN 'known'
    ELSE 'created'
  END AS outcome
CALL (outcome) {
  WITH outcome WHERE outcome = 'created'
  CREATE (m:Curated {key: $key})
  SET m:$($labels), m += $properties
  // Nobody has compared it with what was forgotten: a worker does.
  SET m.prepare_due = CASE WHEN EXISTS { MATCH (gate:JochiForgetting {id: 'gate'}) WHERE gate.version > 0 } THEN coalesce(m.prepare_due, m.next_due)
      ELSE m.prepare_due END
  CREATE (:JochiScopeChange {scope: m.scope, at: $properties.next_due, written: 1})
  RETURN collect(m)[0] AS memory
}
RETURN outcome, memory, known;
