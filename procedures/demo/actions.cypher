// What was done to memories, moment by moment, from the audit: for the demonstration's report. What rails held back is no
// such thing (`demo/rails` counts it), nor what becomes of pairs before they merge.
// Parameters: none.
// Returns one row per moment, action, kind and rule: at zoned datetime, action, kind, rule, to (the tier that a budget moved it to, else null), replayed
// boolean (by a
// replay, else by a run in real time), n integer, keys (list, at most 3). The record of a purge has no kind: its label stands in.
// A record of a budget holds many memories: its rule here is the budget that pushed each of them out, as in tier_reason. Writes nothing.
MATCH (a:CurationAudit) WHERE NOT a.action IN ['protect', 'pair', 'decide']
UNWIND CASE WHEN a.rule = 'budget' THEN [i IN range(0, size(a.keys) - 1) | {key: a.keys[i], rule: 'budget.' + a.before[i], to: a.after[i]}]
  ELSE [{key: a.key, rule: a.rule}] END AS one
WITH a.at AS at, a.action AS action, one.rule AS rule, one.to AS to, a.run STARTS WITH 'replay.' AS replayed, one.key AS key,
     coalesce(a.kind, head([label IN a.labels WHERE label <> 'Curated']), 'other') AS kind
WITH at, action, kind, rule, to, replayed, count(*) AS n, collect(key)[..3] AS keys
RETURN at, action, kind, rule, to, replayed, n, keys ORDER BY at, action, kind, rule, to
