// The server's time limits that jobs run under. Parameters: none. Returns a row each: name, value (text such as 5s or 1m30s).
SHOW SETTINGS 'db.lock.acquisition.timeout', 'db.transaction.timeout'
YIELD name, value
RETURN name, value
