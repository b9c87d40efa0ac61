// All indexes of this database that do not belong to a constraint.
// No parameters. Returns name, label (string or null), properties (list of string), kind (RANGE, FULLTEXT …), state (ONLINE | POPULATING | FAILED) and
// failure (string) an index. Writes nothing.
SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state, failureMessage, owningConstraint
WHERE owningConstraint IS NULL
RETURN name, labelsOrTypes[0] AS label, properties, type AS kind, state, failureMessage AS failure
