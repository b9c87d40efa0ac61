// Memories that the engine can't see or can't judge: without a key, without a next_due of the right type, without a
// created_at of the right type. Looks at up to $most memories, each once; there is no index for what is absent.
// Parameters: $most integer, $samples integer. Returns one row: total, looked_at, faults, a list of
// {fault, n, samples} for no_key, no_next_due, wrong_next_due, no_created_at, wrong_created_at. Samples are the first and last
// key of a group, so that nothing grows with the number of memories; without a key the id, without that the element id.
CALL () {
  MATCH (m:Curated)
  RETURN count(m) AS total
}
CALL () {
  MATCH (m:Curated)
  WITH m LIMIT $most
  WITH m, m.key IS NULL AS no_key, m.next_due IS NULL AS no_next_due, m.next_due IS NOT NULL AND NOT m.next_due IS :: ZONED DATETIME AS wrong_next_due,
       m.created_at IS NULL AS no_created_at, m.created_at IS NOT NULL AND NOT m.created_at IS :: ZONED DATETIME AS wrong_created_at
  WITH no_key, no_next_due, wrong_next_due, no_created_at, wrong_created_at, count(*) AS n,
       min(coalesce(toStringOrNull(m.key), toStringOrNull(m.id), elementId(m))) AS first,
       max(coalesce(toStringOrNull(m.key), toStringOrNull(m.id), elementId(m))) AS last
  RETURN collect({no_key: no_key, no_next_due: no_next_due, wrong_next_due: wrong_next_due, no_created_at: no_created_at,
                  wrong_created_at: wrong_created_at, n: n, some: [first, last]}) AS groups
}
WITH total, groups, reduce(n = 0, g IN groups | n + g.n) AS looked_at
UNWIND ['no_key', 'no_next_due', 'wrong_next_due', 'no_created_at', 'wrong_created_at'] AS fault
WITH total, looked_at, fault, [g IN groups WHERE g[fault]] AS hit
RETURN total, looked_at, collect({
  fault: fault, n: reduce(n = 0, g IN hit | n + g.n), samples: reduce(all = [], g IN hit | all + CASE WHEN g.some[0] = g.some[1] THEN g.some[..1] ELSE g.some END)[..$samples]
}) AS faults
