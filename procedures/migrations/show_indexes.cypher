// All indexes of this database that do not belong to a constraint.
// No parameters. Returns name, label (string or null), properties (list of string) an index. Writes nothing.
SHOW INDEXES YIELD name, labelsOrTypes, properties, owningConstraint
WHERE owningConstraint IS NULL
RETURN name, labelsOrTypes[0] AS label, properties
