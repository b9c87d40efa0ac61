// What the user who is connected may do, as the commands that granted it. Enterprise Edition only; of oneself anybody may ask.
// Parameters: none. Returns one row each: command string.
SHOW USER PRIVILEGES AS COMMANDS YIELD command
RETURN command
