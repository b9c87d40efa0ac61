// In the files of `jochi bundle`: fails where a run is still in progress. The pump is on hold by then, so that it soon ends.
// Parameters: $clock zoned datetime. Returns one row: open, an empty list. Writes nothing.
OPTIONAL MATCH (j:JochiJob) WHERE j.run_open AND j.lease_until > $clock
WITH collect(j.name) AS open
RETURN CASE WHEN open = [] THEN open ELSE date('Still running: ' + open[0] + '. Run this file again in a minute') END AS open
