// On the database `system`: installs a trigger for a database, or puts its text right. Parameters: $target (the database), $name,
// $text (the statement, EXPLAINed before: this procedure doesn't), $phase. Returns one row: name.
CALL apoc.trigger.install($target, $name, $text, {phase: $phase}, {}) YIELD name
RETURN name
