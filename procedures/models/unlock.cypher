// Gives back what models/lock took, if it is still this agent's: after its time is over another may have it.
// Parameters: $now zoned datetime, $key string (scope/id), $agent string, $locked_at zoned datetime (when it was taken).
// Returns one row: released boolean. Writes: locked_by and locked_at taken off; next_due where a rail held the memory at the last look.
OPTIONAL MATCH (m:Curated {key: $key})
REMOVE m.curation_lock
WITH m, coalesce(m:Curated AND m.locked_by = $agent AND m.locked_at = $locked_at, false) AS mine
FOREACH (_ IN CASE WHEN mine THEN [1] ELSE [] END |
  SET m.locked_by = null, m.locked_at = null,
      m.next_due = CASE WHEN m.curation_rails IS NOT NULL AND m.next_due > $now THEN $now ELSE m.next_due END)
RETURN mine AS released;
