// Drops an index, if it is there.
// $name: string. Returns nothing. Writes: removes at most one index.
DROP INDEX $name IF EXISTS
