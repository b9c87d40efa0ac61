// One small commit as an app makes it, for measuring what a trigger adds. Parameters: $n integer. Returns one row: written.
// Writes and deletes in one transaction after the other: the node stays until probe_clear.
CREATE (p:JochiProbe {n: $n, content: 'probe', read: false})
RETURN count(p) AS written
