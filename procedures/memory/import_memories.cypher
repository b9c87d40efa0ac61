// Writes one batch of imported memories. A key that is there already stays as it is; a key with a tombstone stays pruned.
// Parameters: $groups: memories of one shape together, so that names and shared values travel once:
//   [{kind: string (a checked label), scope: string, shared: map (properties that all rows have),
//     names: [string, …], instants: [string, …],
//     rows: [[id, [value, …] as names has them, [ISO 8601 text, …] as instants has them], …]}].
//   $now: zoned datetime. $forgotten_as_of: integer, the version of what was forgotten that all were compared with.
//   created_at is among the instants; the keys (scope/id) of a batch differ from each other.
// Returns: kind: string, outcome: 'written' | 'already there' | 'pruned before' | 'look again' (more was forgotten since; nothing is written), memories:
// integer; one row a kind and outcome.
// Writes: (:Curated:<kind>), due at once, and a :JochiScopeChange a scope and kind for the token budgets. CREATE and not MERGE: where another writer takes a
// key meanwhile, the constraint
// fails this batch instead of letting it write over the other's memory.
OPTIONAL MATCH (gate:JochiForgetting {id: 'gate'})
WITH coalesce(gate.version, 0) = $forgotten_as_of AS compared
UNWIND $groups AS group
UNWIND group.rows AS row
WITH group, row, compared, group.scope + '/' + row[0] AS key
WITH group, row, key, CASE
    WHEN NOT compared THEN 'look again'
    WHEN EXISTS { MATCH (:Curated {key: key}) } THEN 'already there'
    WHEN EXISTS { MATCH (:Tombstone {key: key}) } THEN 'pruned before'
    ELSE 'written'
  END AS outcome
FOREACH (new IN CASE outcome WHEN 'written' THEN [row] ELSE [] END |
  CREATE (m:Curated {key: key, scope: group.scope, id: new[0]})
  SET m:$(group.kind), m += group.shared
  FOREACH (i IN range(0, size(group.names) - 1) | SET m[group.names[i]] = new[1][i])
  FOREACH (i IN range(0, size(group.instants) - 1) | SET m[group.instants[i]] = datetime(new[2][i]))
  // What was made before is due since then: a replay, which has a clock of its own, begins with it.
  SET m.next_due = CASE WHEN m.created_at < $now THEN m.created_at ELSE $now END)
WITH group.kind AS kind, group.scope AS scope, outcome, count(*) AS memories
FOREACH (_ IN CASE outcome WHEN 'written' THEN [1] ELSE [] END | CREATE (:JochiScopeChange {scope: scope, at: $now, written: memories}))
RETURN kind, outcome, sum(memories) AS memories;
