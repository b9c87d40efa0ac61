// Jobs that have nothing to do in the demonstration take their first turn after an interval of theirs: there is one turn a tick.
// Parameters: $now zoned datetime, $watched list of job names, which don't wait. Returns no row. Writes: next_start of :JochiJob.
MATCH (j:JochiJob) WHERE NOT j.name IN $watched AND j.every IS NOT NULL
SET j.next_start = $now + j.every
