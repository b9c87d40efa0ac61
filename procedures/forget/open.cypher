// Forgetting that was cut off: what it was still to look for.
// Parameters: $before zoned datetime: it said before that it is at work, and not since. Returns one row: runs, a list of {run, keys}. Writes nothing.
CALL () {
  MATCH (f:JochiForgetting)
  WHERE f.id <> 'gate' AND f.at < $before
  RETURN f ORDER BY f.id LIMIT 1000
}
RETURN collect({run: f.run, keys: f.keys}) AS runs;
