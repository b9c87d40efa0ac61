// Stores the nodes of the pump and the watch with the texts they run. What decides over memories having changed closes the gate:
// destructive jobs wait for `jochi apply` again, and every memory is put back into the queue. Under another policy a job that the breaker
// stopped goes on.
// Parameters: $pumps list of {name, role, body, every_s, texts (map)}, $pump and $watch names, $armed boolean, $pinned boolean or null (as before), $version,
// $policy, $policy_sha256, $verdict_sha256, $clock zoned datetime. A pump that still runs older texts sees its generation gone and does nothing more; the
// watch goes on until arming replaces it, so that it arms what an install leaves that is cut off here. Returns one row: stored, verdict_changed boolean,
// pinned boolean. Writes: :JochiPump, cursor of the requeue job, stopped_run of :JochiJob.
CALL db.info() YIELD id AS store
CALL dbms.info() YIELD id AS server
WITH store, server
OPTIONAL MATCH (before:JochiPump {name: $pump})
WITH store, server, before IS NOT NULL AND coalesce(before.verdict_sha256 <> $verdict_sha256, true) AS verdict_changed,
  before IS NOT NULL AND coalesce(before.policy_sha256 <> $policy_sha256, true) AS policy_changed
CALL (store, server, verdict_changed) {
  UNWIND $pumps AS wanted
  MERGE (p:JochiPump {name: wanted.name})
  ON CREATE SET p.enabled = true, p.waits_since = $clock, p.installed_at = $clock, p.store_id = store, p.last_tick = $clock
  SET p += wanted.texts
  // What earlier versions had besides.
  REMOVE p.current, p.quarantine
  SET p.server_id = coalesce(p.server_id, server)
  SET p.role = wanted.role, p.body = wanted.body, p.every_s = wanted.every_s, p.armed = $armed, p.pinned = coalesce($pinned, p.pinned, false), p.pump = $pump,
      p.watch = $watch,
      p.generation = coalesce(p.generation, 0) + CASE wanted.role WHEN 'watch' THEN 0 ELSE 1 END,
      p.enabled = p.enabled OR coalesce(p.paused_by = 'uninstall', false),
      p.version = $version, p.policy = $policy, p.policy_sha256 = $policy_sha256, p.verdict_sha256 = $verdict_sha256
  WITH p, verdict_changed WHERE verdict_changed
  SET p.applied_at = null, p.applied_by = null, p.waits_since = $clock
}
// Another policy: what the breaker stopped under the one before goes on (the counts of the day stay).
CALL (policy_changed) {
  WITH policy_changed WHERE policy_changed
  MATCH (j:JochiJob) WHERE j.stopped_run IS NOT NULL
  OPTIONAL MATCH (r:JochiJobRun {id: j.stopped_run})
  SET j.stopped_run = null, r.approved_at = $clock, r.approved_policy = $policy
}
CALL (verdict_changed) {
  WITH verdict_changed WHERE verdict_changed
  MATCH (j:JochiJob {name: 'requeue'})
  SET j.cursor = '', j.next_start = $clock
}
MATCH (p:JochiPump {name: $pump})
RETURN size($pumps) AS stored, verdict_changed, p.pinned AS pinned
