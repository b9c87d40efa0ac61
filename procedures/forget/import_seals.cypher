// Brings seals back that were exported. What is sealed already stays as it is.
// Parameters: $key_id string or null, $seals list of {hash, words, of: hash or null, reading: integer, null of the first one and of what no text
// is read for, at zoned datetime}, $kinds list of strings: kinds of the canonical forms among them.
// Returns one row: added, foreign boolean: the database's values are sealed with another key, and nothing was written.
// Writes: :JochiForgotten; version, lengths, kinds and key_id of the gate.
MERGE (g:JochiForgetting {id: 'gate'})
ON CREATE SET g.version = 0, g.lengths = []
REMOVE g.curation_lock
WITH g, coalesce(g.key_id <> $key_id, false) AS foreign
CALL (foreign) {
  UNWIND CASE WHEN foreign THEN [] ELSE $seals END AS given
  OPTIONAL MATCH (there:JochiForgotten {hash: given.hash})
  WITH given, there IS NULL AS new
  MERGE (f:JochiForgotten {hash: given.hash})
  ON CREATE SET f.words = given.words, f.at = given.at, f.of = given.of, f.reading = given.reading
  RETURN collect(DISTINCT CASE WHEN given.words > 0 AND given.reading IS NULL THEN given.words END) AS lengths,
    collect(DISTINCT CASE WHEN given.words > 0 THEN toString(given.reading) + '/' + toString(given.words) END) AS phrases,
    count(CASE WHEN new THEN 1 END) AS added
}
FOREACH (_ IN CASE WHEN foreign THEN [] ELSE [1] END |
  SET g.version = g.version + 1, g.key_id = coalesce($key_id, g.key_id), g.lengths = g.lengths + [n IN lengths WHERE NOT n IN g.lengths],
    g.phrase_lengths = coalesce(g.phrase_lengths, []) + [n IN phrases WHERE NOT n IN coalesce(g.phrase_lengths, [])],
    g.kinds = coalesce(g.kinds, []) + [kind IN $kinds WHERE NOT kind IN coalesce(g.kinds, [])])
RETURN added, foreign;
