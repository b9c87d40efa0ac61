// Writes one batch of relationships of one type between imported memories, each pair of ends once.
// Parameters: $type: string (a checked relationship type),
//   $rows: [[from key, [to key, …], [properties: map, …]], …], no key twice as from, none twice among its to.
// Returns: written, already_there: integer; unknown: [[from key, to key], …] where no memory, live or pruned, has the
//   second key. What is in none of them has an end that was pruned.
// Writes: (:Curated)-[:<type>]->(:Curated).
// Not MERGE: with a dynamic type its plan scans every relationship of the graph while the graph is small, and the plan
// is kept. So both ends are locked first, and what hangs on the source is read once a source.
UNWIND $rows AS row
MATCH (a:Curated {key: row[0]})
REMOVE a.curation_lock
WITH a, row, [(a)-[known]->(x) WHERE type(known) = $type AND x.key IN row[1] | x.key] AS there
UNWIND range(0, size(row[1]) - 1) AS i
WITH a, row[1][i] AS to, row[2][i] AS properties, there
OPTIONAL MATCH (b:Curated {key: to})
REMOVE b.curation_lock
WITH a, b, to, properties, b IS NOT NULL AND to IN there AS linked
FOREACH (new IN CASE WHEN b IS NULL OR linked THEN [] ELSE [properties] END |
  CREATE (a)-[r:$($type)]->(b)
  SET r += new)
WITH a, b, to, linked, b IS NULL AND NOT EXISTS { MATCH (:Tombstone {key: to}) } AS unknown
RETURN count(CASE WHEN b IS NOT NULL AND NOT linked THEN 1 END) AS written,
  count(CASE WHEN linked THEN 1 END) AS already_there,
  collect(CASE WHEN unknown THEN [a.key, to] END) AS unknown;
