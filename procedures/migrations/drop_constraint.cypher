// Drops a constraint, if it is there.
// $name: string. Returns nothing. Writes: removes at most one constraint.
DROP CONSTRAINT $name IF EXISTS
