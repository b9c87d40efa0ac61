// How many transactions on this database began before a moment and are still open: what they write may not have been checked.
// Parameters: $database string, $moment zoned datetime of the server's clock. Returns one row: n.
SHOW TRANSACTIONS YIELD database, startTime, status
WHERE database = $database AND datetime(startTime) < $moment
RETURN count(*) AS n;
