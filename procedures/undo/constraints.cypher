// The constraints of this database, of all kinds, but for those that migrations of the engine have made.
// Parameters: $own list of names. Returns name, kind (as SHOW CONSTRAINTS has it), entity (NODE | RELATIONSHIP), label (or type), properties, type (of the
// property, where the constraint is about that) a constraint. Writes nothing.
SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties, propertyType
WHERE NOT name IN $own AND NOT labelsOrTypes[0] STARTS WITH '__Neo4jMigration'
RETURN name, type AS kind, entityType AS entity, labelsOrTypes[0] AS label, properties, propertyType AS type
