// All constraints of this database.
// No parameters. Returns name, type, label (string; of relationships their type), properties (list of string) a constraint. Writes nothing.
SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties
RETURN name, type, labelsOrTypes[0] AS label, properties
