// All constraints of this database.
// No parameters. Returns name, kind (as SHOW CONSTRAINTS has it, such as RELATIONSHIP_UNIQUENESS), label (string; of relationships their type), properties
// (list of string), type (of the property, where the constraint is about that; else null) a constraint. Writes nothing.
SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties, propertyType
RETURN name, type AS kind, labelsOrTypes[0] AS label, properties, propertyType AS type
