// Which of the procedures that Jochi calls this user may execute.
// Parameters: none. Returns a row each: name, mode.
SHOW PROCEDURES EXECUTABLE YIELD name, mode
WHERE name IN ['apoc.cypher.doIt', 'apoc.cypher.run', 'apoc.periodic.repeat', 'apoc.periodic.list', 'apoc.periodic.cancel', 'apoc.util.validate',
    'db.index.vector.queryNodes', 'dbms.queryJmx']
RETURN name, mode
