// Hands probes to APOC's scheduler, one background job each; they touch no graph and end by themselves.
// Parameters: $name prefix of the jobs' names, $probes integer, $text of a probe, $ms integer, $mark text. Returns one row: submitted.
UNWIND range(1, $probes) AS i
CALL apoc.periodic.submit($name + '.' + toString(i), $text, {params: {ms: $ms, mark: $mark}}) YIELD name
RETURN count(name) AS submitted
