// On the database `system`: keeps a trigger from running. Parameters: $target, $name. Returns one row: name.
CALL apoc.trigger.stop($target, $name) YIELD name
RETURN name
