// Stores jobs as desired state; what they have been doing (next start, lease, token, pauses by a person) stays. Jobs that the policy
// no longer has are removed.
// Parameters: $jobs list of {name, procedure, every_s, budget_ms, batch_size, max_batches, priority, destructive, enabled, parameters},
// $clock zoned datetime. Returns one row: stored integer. Writes: :JochiJob.
OPTIONAL MATCH (gone:JochiJob) WHERE NOT gone.name IN [wanted IN $jobs | wanted.name]
DELETE gone
WITH count(*) AS done
UNWIND $jobs AS wanted
MERGE (j:JochiJob {name: wanted.name})
ON CREATE SET j.next_start = $clock, j.token = 0
SET j.procedure = wanted.procedure, j.every_s = wanted.every_s, j.every = duration({seconds: wanted.every_s}),
    j.budget_ms = wanted.budget_ms, j.batch_size = wanted.batch_size, j.max_batches = wanted.max_batches,
    j.priority = wanted.priority, j.destructive = wanted.destructive, j.enabled = wanted.enabled, j.batch_now = null,
    j += wanted.parameters,
    j.next_start = CASE WHEN j.next_start > $clock + duration({seconds: wanted.every_s}) AND coalesce(j.failures, 0) = 0 THEN $clock ELSE j.next_start END
RETURN count(*) AS stored
