// Seals values, so that nothing that checks learns them again, and notes what is being forgotten until it is done, and when it was at work (forget/renew).
// Parameters: $now zoned datetime, $run string, $by string, $key_id string, $hashes list of {hash, words integer:
//   0 for a whole content, a fact or a scope, of: the hash that it is
//   lifted with, or null, reading integer: by which rules a text is read for it, null where none are}, $kinds list of strings: kinds of the canonical
//   forms among them, such as '2/name/12', of the second reading,
//   $keys list of 'scope/id' (some thousand at most), $left list of hashes: of what a person had left as it was and goes now, $part integer from 0.
// Returns one row: version, sealed (new ones), foreign boolean: the database's values are sealed with another key, and nothing was written.
// Writes: :JochiForgotten, :JochiForgetting.
MERGE (g:JochiForgetting {id: 'gate'})
ON CREATE SET g.version = 0, g.lengths = [], g.key_id = $key_id
REMOVE g.curation_lock
WITH g, g.key_id <> $key_id AS foreign
CALL (foreign) {
  UNWIND CASE WHEN foreign THEN [] ELSE $left END AS hash
  MATCH (f:JochiForgotten {hash: hash})
  DELETE f
}
CALL (g, foreign) {
  UNWIND CASE WHEN foreign THEN [] ELSE $hashes END AS given
  MERGE (f:JochiForgotten {hash: given.hash})
  ON CREATE SET f.words = given.words, f.at = $now, f.new_in = $run + '/' + $part, f.of = given.of, f.reading = given.reading
  WITH g, CASE WHEN f.words > 0 THEN toString(f.reading) + '/' + toString(f.words) END AS length, f.new_in = $run + '/' + $part AS new
  RETURN collect(DISTINCT length) AS lengths, count(CASE WHEN new THEN 1 END) AS sealed
}
FOREACH (_ IN CASE WHEN foreign THEN [] ELSE [1] END |
  SET g.version = g.version + 1, g.phrase_lengths = coalesce(g.phrase_lengths, []) + [n IN lengths WHERE NOT n IN coalesce(g.phrase_lengths, [])],
    g.kinds = coalesce(g.kinds, []) + [kind IN $kinds WHERE NOT kind IN coalesce(g.kinds, [])]
  MERGE (open:JochiForgetting {id: $run + '/' + $part})
  SET open.run = $run, open.at = $now, open.by = $by, open.keys = $keys)
RETURN g.version AS version, sealed, foreign;
