// Takes what was forgotten out of nodes of the engine that speak of more than that.
// Parameters: $rows list of {id: element id, delete boolean, new: map (property: what is left; null takes it away)}. Returns one row: deleted, scrubbed.
// Writes: as asked; deletes a node with its relationships, snapshots and versions, a snapshot with the others of its record.
CALL () {
  UNWIND $rows AS row
  MATCH (n) WHERE elementId(n) = row.id
  CALL (n, row) {
    WITH n WHERE row.delete
    // Of several copies that a record keeps none stays alone: half of them brings nothing back.
    OPTIONAL MATCH (n)<-[:KEEPS]-(record:CurationAudit)
    WITH n, coalesce(record, n) AS keeper
    OPTIONAL MATCH (keeper)-[:KEEPS|HAD_VERSION]->(copy:CurationSnapshot|JochiManifestVersion) WHERE copy <> n
    WITH n, collect(DISTINCT copy) AS copies
    FOREACH (x IN copies | DETACH DELETE x)
    DETACH DELETE n
  }
  CALL (n, row) {
    WITH n, row WHERE NOT row.delete
    SET n += row.new
  }
  RETURN count(CASE WHEN row.delete THEN 1 END) AS deleted, count(CASE WHEN NOT row.delete THEN 1 END) AS scrubbed
}
RETURN deleted, scrubbed;
