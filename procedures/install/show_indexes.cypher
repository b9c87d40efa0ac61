// The indexes whose form the policy decides, and whatever has a name of theirs or serves as well, whoever made it.
// Parameters: $names list of strings, $prefix string (of names). Returns a row each: name, type (VECTOR, FULLTEXT, RANGE …), entity (NODE | RELATIONSHIP),
// labels (or relationship types), properties, state (ONLINE | POPULATING | FAILED), percent, failure, options, constraint (string or null). Writes nothing.
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state, populationPercent, failureMessage, options, owningConstraint
WHERE name IN $names OR name STARTS WITH $prefix OR (type = 'RANGE' AND entityType = 'RELATIONSHIP' AND properties = ['next_due'])
RETURN name, type, entityType AS entity, labelsOrTypes AS labels, properties, state, populationPercent AS percent,
       failureMessage AS failure, options, owningConstraint AS constraint
