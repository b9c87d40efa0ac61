// Stores jobs as desired state; what they have been doing (next start, lease, token, pauses by a person) stays. Jobs that the policy
// no longer has are removed; one that was backing off gets a new chance at once. One that comes back counts its runs on from
// where it left off: their ids are unique.
// Parameters: $jobs list of {name, procedure, every_s (or null), slot_days (1 Monday … 7 Sunday), slot_hour,
// slot_minute, slot_zone (or null), budget_ms, batch_size, max_batches, priority, destructive, adaptive, enabled, parameters},
// $clock zoned datetime. A job with a slot gets its start from _jobs/start_slots, which runs next. Returns one row: stored integer. Writes: :JochiJob.
OPTIONAL MATCH (gone:JochiJob) WHERE NOT gone.name IN [wanted IN $jobs | wanted.name]
DELETE gone
WITH count(*) AS done
UNWIND $jobs AS wanted
MERGE (j:JochiJob {name: wanted.name})
ON CREATE SET j.next_start = $clock
SET j.slot_start = CASE WHEN j.slot_days = wanted.slot_days AND j.slot_hour = wanted.slot_hour AND j.slot_minute = wanted.slot_minute
      AND j.slot_zone = wanted.slot_zone THEN j.slot_start END
SET j.procedure = wanted.procedure, j.every_s = wanted.every_s, j.every = CASE WHEN wanted.every_s IS NOT NULL THEN duration({seconds: wanted.every_s}) END,
    j.slot_days = wanted.slot_days, j.slot_hour = wanted.slot_hour, j.slot_minute = wanted.slot_minute, j.slot_zone = wanted.slot_zone,
    j.budget_ms = wanted.budget_ms, j.batch_size = wanted.batch_size, j.max_batches = wanted.max_batches,
    j.priority = wanted.priority, j.destructive = wanted.destructive, j.enabled = wanted.enabled, j.batch_now = null,
    j.adaptive = wanted.adaptive, j.pace = null, j.pace_factor = null
SET j.next_start = CASE WHEN j.failures > 0 OR j.next_start > $clock + j.every THEN $clock ELSE j.next_start END
WITH j, wanted
CALL (j, wanted) {
  UNWIND [name IN keys(j) WHERE name STARTS WITH 'p_'] AS old
  SET j[old] = null
}
CALL (j) {
  WITH j WHERE j.token IS NULL
  OPTIONAL MATCH (r:JochiJobRun) WHERE r.job = j.name AND r.started_at IS NOT NULL
  WITH j, max(r.token) AS last
  SET j.token = coalesce(last, 0)
}
SET j += wanted.parameters
RETURN count(*) AS stored
