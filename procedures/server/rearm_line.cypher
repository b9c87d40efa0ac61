// The re-arming line of apoc.conf: after a restart it arms the repeat jobs of the pumps again (DESIGN §5).
// APOC runs it once per database start, with the server's rights, in one explicit transaction. Without pumps it does
// nothing. It has to be one line and free of `${`: it is the value of `apoc.initializer.<database>.01`.
// Parameters: none. Returns: armed :: INTEGER.
MATCH (p:JochiPump) WHERE p.armed SET p.server_started_at = datetime.realtime() WITH p CALL apoc.periodic.repeat(p.name, p.body, p.every_s,
    {params: p {.*, pin: null}}) YIELD name RETURN count(name) AS armed
