// Waits until these indexes are built; fails if one of them can't be, or when the time is over. Those of others may be as they like.
// $names: list of string. $seconds: integer, for each. Returns nothing. Writes nothing.
UNWIND $names AS name
CALL db.awaitIndex(name, $seconds)
