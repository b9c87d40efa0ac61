// Whether the constraint on :Curated(key) is there: without it an import is slow and two imports could double a memory.
// Returns: ready: boolean, one row. Writes nothing.
SHOW CONSTRAINTS YIELD labelsOrTypes, properties, type
WHERE labelsOrTypes = ['Curated'] AND properties = ['key'] AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS']
RETURN count(*) > 0 AS ready;
