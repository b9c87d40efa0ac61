// In the files of `jochi bundle`: says that the pump and the watch are to be armed. Parameters: $names list. Returns one row: wanted integer.
// Writes: armed on :JochiPump.
MATCH (p:JochiPump) WHERE p.name IN $names
SET p.armed = true
RETURN count(p) AS wanted
