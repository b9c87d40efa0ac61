// On the database `system`: drops a trigger. Parameters: $target (the database), $name. Returns a row: name, or none.
CALL apoc.trigger.drop($target, $name) YIELD name
RETURN name
