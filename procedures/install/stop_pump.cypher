// Uninstall: stops every runner at its next batch, for good. Parameters: $pump name, $clock zoned datetime.
// Returns one row: open, the names of jobs whose run is still in progress. Writes: enabled, armed and paused_by on :JochiPump.
OPTIONAL MATCH (p:JochiPump {name: $pump})
CALL (p) {
  WITH p WHERE p IS NOT NULL
  SET p.enabled = false, p.armed = false, p.paused_by = 'uninstall', p.paused_at = $clock
}
CALL () {
  MATCH (j:JochiJob) WHERE j.run_open AND j.lease_until > $clock
  RETURN collect(j.name) AS open
}
RETURN open
