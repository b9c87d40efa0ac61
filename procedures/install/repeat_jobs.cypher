// The repeat jobs that are to be armed, with what APOC's list on this server says of each. Parameters: $names list of strings.
// Returns a row each: name, body, every_s integer, last_tick and rearmed_at zoned datetimes or null, rate: seconds between two runs of the
// job that has the name on the list, or null. Writes nothing.
CALL () {
  CALL apoc.periodic.list() YIELD name, rate, done, cancelled
  WHERE NOT done AND NOT cancelled
  RETURN collect({name: name, rate: rate}) AS listed
}
MATCH (p:JochiPump)
WHERE p.name IN $names AND p.armed
RETURN p.name AS name, p.body AS body, p.every_s AS every_s, p.last_tick AS last_tick, p.rearmed_at AS rearmed_at,
  head([job IN listed WHERE job.name = p.name | job.rate]) AS rate
