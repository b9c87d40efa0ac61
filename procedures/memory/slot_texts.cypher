// What memories say, for a client that computes their slots.
// Parameters: $keys list of 'scope/id'. Returns: key, subject, attribute, value of those that live, one row each. Writes nothing.
UNWIND $keys AS key
MATCH (m:Curated {key: key})
USING INDEX SEEK m:Curated(key)
RETURN m.key AS key, m.subject AS subject, m.attribute AS attribute, m.value AS value;
