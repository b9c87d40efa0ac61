// The state of every index of this database, those of constraints included.
// Parameters: none. Returns a row each: name, state (ONLINE | POPULATING | FAILED), percent, label, properties.
SHOW INDEXES YIELD name, state, populationPercent, labelsOrTypes, properties
RETURN name, state, populationPercent AS percent, labelsOrTypes[0] AS label, properties
