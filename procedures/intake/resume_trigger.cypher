// On the database `system`: lets a stopped trigger run again. Parameters: $target, $name. Returns one row: name.
CALL apoc.trigger.start($target, $name) YIELD name
RETURN name
