// The range indexes on next_due of relationships, whoever made them, and whatever has a name as Jochi names its own.
// Parameters: $prefix string. Returns a row each: name, type (RANGE …), entity, labels (relationship types), properties, state (ONLINE | POPULATING | FAILED),
// percent, failure. Writes nothing.
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state, populationPercent, failureMessage
WHERE name STARTS WITH $prefix OR (type = 'RANGE' AND entityType = 'RELATIONSHIP' AND properties = ['next_due'])
RETURN name, type, entityType AS entity, labelsOrTypes AS labels, properties, state, populationPercent AS percent, failureMessage AS failure
