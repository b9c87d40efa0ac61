// Our triggers as this database runs them by now: it reads what is stored every apoc.trigger.refresh. Parameters: $prefix.
// Returns a row each: name, text, paused.
CALL apoc.trigger.list() YIELD name, query, paused
WHERE name STARTS WITH $prefix
RETURN name, query AS text, paused
