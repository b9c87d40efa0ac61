// Which of these texts run on this server at this moment. Parameters: $bodies list of strings. Returns one row: bodies. Writes nothing.
SHOW TRANSACTIONS YIELD currentQuery
WHERE currentQuery IN $bodies
RETURN collect(DISTINCT currentQuery) AS bodies
