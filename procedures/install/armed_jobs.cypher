// The repeat jobs that APOC's list holds on this server. Parameters: $names list. Returns a row each: name, rate.
CALL apoc.periodic.list() YIELD name, rate, done, cancelled
WHERE name IN $names AND NOT done AND NOT cancelled
RETURN name, rate
