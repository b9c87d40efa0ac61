// Stops the pump from claiming and running batches while objects change, for a limited time, so that a killed installer stops nothing for good.
// Parameters: $pump name, $until zoned datetime, or null to let it go on, $clock zoned datetime.
// Returns one row: open, the names of jobs whose run is still in progress. Writes: installing_until on :JochiPump.
OPTIONAL MATCH (p:JochiPump {name: $pump})
CALL (p) {
  WITH p WHERE p IS NOT NULL
  SET p.installing_until = $until
}
CALL () {
  MATCH (j:JochiJob) WHERE j.run_open AND j.lease_until > $clock
  RETURN collect(j.name) AS open
}
RETURN open
