// Proves that this user may write here, and leaves nothing: no node, no label, no property name. Fails if not.
// Parameters: none. Returns one row: wrote integer.
CREATE (n)
DELETE n
RETURN count(*) AS wrote
