// Notes that a person was asked and hasn't answered yet, so that the inbox shows it (docs/reference/inbox.md). It holds keys, and nothing that a memory says.
// Of what was asked before the first moment stays. There are at most 1,000; questions of 30 days ago go, and those of memories that are gone or say
// something else by now.
// Parameters: $now zoned datetime, $rows list of {id, kind: forgetting | edit; of a memory key and revision; of files what: context | heartbeat | mirror,
//   scope, place: the file or folder, sensitive boolean, n: how many files, why string or null}. Returns one row: asked integer.
// Writes: :JochiQuestion.
CALL () {
  MATCH (q:JochiQuestion)
  OPTIONAL MATCH (m:Curated {key: q.key})
  WITH q, m WHERE q.at < $now - duration('P30D') OR q.key IS NOT NULL AND (m IS NULL OR coalesce(m.revision <> q.revision, false))
  DELETE q
}
CALL () {
  MATCH (q:JochiQuestion)
  RETURN 1000 - count(*) AS room
}
CALL (room) {
  UNWIND $rows[..CASE WHEN room > 0 THEN room ELSE 0 END] AS row
  MERGE (q:JochiQuestion {id: row.id})
  SET q += row, q.at = coalesce(q.at, $now)
  RETURN count(*) AS asked
}
RETURN asked;
