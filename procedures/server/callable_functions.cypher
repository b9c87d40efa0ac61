// Which of the functions that Jochi calls this user may execute.
// Parameters: none. Returns a row each: name.
SHOW FUNCTIONS EXECUTABLE YIELD name
WHERE name IN ['apoc.util.sha256', 'apoc.convert.fromJsonMap']
RETURN name
