// Connects two nodes whose ends are locked (models/lock_ends), or finds them connected: a relationship of the type that has all the given
// properties is the one that is meant, and nothing of it is written. So connecting again undoes nothing of what time, uses and the engine wrote there.
// Parameters: $now zoned datetime, $from and $to element ids, $from_key and $to_key (of memories; null for other nodes), $type string, $given map
//   (its properties, no nulls), $stamp boolean (a new one has created_at $now unless given).
// Returns one row: r; none where an end is another node by now. Writes: the relationship, where there is none.
MATCH (a) WHERE elementId(a) = $from AND ($from_key IS NULL OR a.key = $from_key)
MATCH (b) WHERE elementId(b) = $to AND ($to_key IS NULL OR b.key = $to_key)
WITH a, b, CASE WHEN COUNT { (a)--() } <= COUNT { (b)--() } THEN a ELSE b END AS near
OPTIONAL CALL (a, b, near) {
  MATCH (near)-[there*1..1]-()
  WHERE startNode(there[0]) = a AND endNode(there[0]) = b AND type(there[0]) = $type
    AND all(name IN keys($given) WHERE coalesce(there[0][name] = $given[name], false))
  RETURN there[0] AS old ORDER BY elementId(there[0]) LIMIT 1
}
OPTIONAL CALL (a, b, old) {
  WITH a, b, old WHERE old IS NULL
  CREATE (a)-[made:$($type)]->(b)
  SET made = $given
  SET made.created_at = CASE WHEN $stamp THEN coalesce(made.created_at, $now) ELSE made.created_at END
  RETURN made
}
RETURN coalesce(old, made) AS r;
