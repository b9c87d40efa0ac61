// The server's clock, to compare it with the client's. Parameters: none. Returns one row: clock zoned datetime.
RETURN datetime.realtime() AS clock
