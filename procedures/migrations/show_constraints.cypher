// All constraints of this database.
// No parameters. Returns name, label (string), properties (list of string) a constraint. Writes nothing.
SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties
RETURN name, labelsOrTypes[0] AS label, properties
