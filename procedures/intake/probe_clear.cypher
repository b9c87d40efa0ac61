// Takes out what measuring wrote. Parameters: none. Returns one row: deleted.
MATCH (p:JochiProbe)
DELETE p
RETURN count(p) AS deleted
