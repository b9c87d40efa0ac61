// A worker says that it lives, at most once a minute, or that it ends (docs/reference/metrics.md). One that begins takes those of its machine
// away that have been silent for three intervals: it is their successor. What hasn't been seen for a week goes, and so do the oldest of very many.
// Parameters: $worker string, its machine and its process, with `/` between them; $now zoned datetime, $every_s integer: seconds between two calls,
// $derivations list of strings, $failing list of strings: what it can't write at the moment, of context and mirror; $begins and $ends boolean.
// Returns one row: workers integer. Writes: :JochiWorker.
CALL () {
  MATCH (w:JochiWorker)
  WITH w ORDER BY w.seen_at DESC
  WITH collect(w) AS every
  UNWIND range(0, size(every) - 1) AS i
  WITH every[i] AS w, i
  WHERE ($ends AND w.id = $worker) OR i >= 200 OR w.seen_at < $now - duration('P7D')
    OR ($begins AND split(w.id, '/')[0] = split($worker, '/')[0] AND w.seen_at < $now - duration({seconds: 3 * w.every_s}))
  DELETE w
}
CALL () {
  WITH 1 AS one WHERE NOT $ends
  MERGE (w:JochiWorker {id: $worker})
  SET w.started_at = CASE WHEN $begins OR w.started_at IS NULL THEN $now ELSE w.started_at END, w.seen_at = $now, w.every_s = $every_s,
      w.derivations = $derivations, w.failing = CASE WHEN size($failing) > 0 THEN $failing END,
      w.failing_since = CASE WHEN size($failing) > 0 THEN coalesce(w.failing_since, $now) END
}
MATCH (w:JochiWorker)
RETURN count(w) AS workers
