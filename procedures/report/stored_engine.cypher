// What is stored of jobs and pumps, property by property, for the doctor to hold against the policy and the procedures.
// Parameters: none. Returns one row: jobs (list of maps), pumps (list of maps).
CALL () {
  MATCH (j:JochiJob)
  WITH j ORDER BY j.name
  RETURN collect(properties(j)) AS jobs
}
CALL () {
  MATCH (p:JochiPump)
  WITH p ORDER BY p.name
  RETURN collect(properties(p)) AS pumps
}
RETURN jobs, pumps
