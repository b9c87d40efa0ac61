// Says that a forgetting is at work: what hasn't said so for ten minutes counts as cut off.
// Parameters: $now zoned datetime, $run string. Returns one row: renewed integer. Writes: at of :JochiForgetting.
MATCH (f:JochiForgetting) WHERE f.run = $run
SET f.at = $now
RETURN count(f) AS renewed;
