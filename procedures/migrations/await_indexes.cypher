// Waits until all indexes are built; fails if one can't be, or when the time is over.
// $seconds: integer. Returns nothing. Writes nothing.
CALL db.awaitIndexes($seconds)
