// On the database `system`: the triggers that are stored for a database, everybody's. Parameters: $target.
// Returns a row each: name, text, selector (map with phase), paused. (`system` takes CALL, YIELD and RETURN, nothing else.)
CALL apoc.trigger.show($target) YIELD name, query, selector, paused
RETURN name, query AS text, selector, paused
