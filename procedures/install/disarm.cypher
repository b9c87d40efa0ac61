// Marks the pump and the watch as not to be armed and takes them off APOC's list.
// Parameters: $names list. Returns one row: cancelled integer. Writes: armed on :JochiPump.
CALL () {
  MATCH (p:JochiPump) WHERE p.name IN $names
  SET p.armed = false
}
CALL () {
  UNWIND $names AS wanted
  CALL apoc.periodic.cancel(wanted) YIELD name
  RETURN count(name) AS cancelled
}
RETURN cancelled
