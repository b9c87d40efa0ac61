// What rails held back, from the audit: for the demonstration's report. A record is written for each rule and set of rails
// that hold a memory; a memory counts once for each rail.
// Parameters: none.
// Returns one row per rail: rail, replayed (memories, in a replay), alone (memories, in runs in real time). Writes nothing.
MATCH (a:CurationAudit {action: 'protect'})
UNWIND a.rails AS rail
WITH rail, a.key AS key, a.run STARTS WITH 'replay.' AS by_replay
WITH rail, count(DISTINCT CASE WHEN by_replay THEN key END) AS replayed, count(DISTINCT CASE WHEN NOT by_replay THEN key END) AS alone
RETURN rail, replayed, alone ORDER BY replayed + alone DESC, rail
