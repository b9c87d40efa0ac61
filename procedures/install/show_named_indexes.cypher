// The indexes of these names, whoever made them, with what they are on and how they are configured.
// Parameters: $names list of strings. Returns a row each: name, type (VECTOR, FULLTEXT, RANGE …), entity (NODE | RELATIONSHIP),
// labels, properties, state (ONLINE | POPULATING | FAILED), percent, failure, options, constraint (string or null). Writes nothing.
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state, populationPercent, failureMessage, options, owningConstraint
WHERE name IN $names
RETURN name, type, entityType AS entity, labelsOrTypes AS labels, properties, state, populationPercent AS percent,
       failureMessage AS failure, options, owningConstraint AS constraint
