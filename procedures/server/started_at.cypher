// When the server's process started. Not SHOW DATABASE's lastStartTime: on Community that stays what it was at the first start.
// Parameters: none. Returns one row: started_at zoned datetime. Fails for a user who may not read JMX.
CALL dbms.queryJmx('java.lang:type=Runtime') YIELD attributes
RETURN datetime({epochMillis: toInteger(attributes.StartTime.value)}) AS started_at
