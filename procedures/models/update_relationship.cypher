// Writes what an app changed of one relationship, and nothing else: what time, uses and the engine wrote there since it was loaded stays.
// Parameters: $id element id, $type string, $changes map (null removes).
// Returns one row: r; none where it is gone. Writes: $changes; next_due goes, so that schedule_edges looks at it anew.
MATCH ()-[r]->() WHERE elementId(r) = $id AND type(r) = $type
SET r += $changes, r.next_due = null
RETURN r;
