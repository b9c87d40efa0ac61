// What was done to memories, moment by moment, from the audit: for the demonstration's report.
// Parameters: none.
// Returns one row per moment, action, kind and rule: at zoned datetime, action, kind, rule, replayed boolean (by a replay,
// else by a run in real time), n integer, keys (list, at most 3). The record of a purge has no kind: its label stands in. Writes nothing.
MATCH (a:CurationAudit)
WITH a.at AS at, a.action AS action, a.rule AS rule, a.run STARTS WITH 'replay.' AS replayed, a.key AS key,
     coalesce(a.kind, head([label IN a.labels WHERE label <> 'Curated']), 'other') AS kind
WITH at, action, kind, rule, replayed, count(*) AS n, collect(key)[..3] AS keys
RETURN at, action, kind, rule, replayed, n, keys ORDER BY at, action, kind, rule
