// The server's settings that Jochi depends on.
// Parameters: none. Returns a row each: name, value.
SHOW SETTINGS 'db.lock.acquisition.timeout', 'db.query.default_language', 'server.databases.default_to_read_only'
YIELD name, value
RETURN name, value
