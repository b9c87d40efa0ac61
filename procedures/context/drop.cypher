// Takes a manifest and its versions away: the job doesn't make it any more (docs/reference/context.md). The memories stay.
// Parameters: $id string, $scope string. Returns one row: dropped (0 or 1). Writes: deletes :BoundedMemoryManifest, :JochiManifestVersion, and the scope's
// :JochiManifestChange where it has no other manifest.
CALL () {
  MATCH (b:JochiManifest {id: $id})
  OPTIONAL MATCH (b)-[:HAD_VERSION]->(v:JochiManifestVersion)
  WITH b, collect(v) AS versions
  FOREACH (v IN versions | DETACH DELETE v)
  DETACH DELETE b
  RETURN count(*) AS dropped
}
CALL (dropped) {
  WITH dropped WHERE NOT EXISTS { MATCH (:JochiManifest {scope: $scope}) }
  MATCH (c:JochiManifestChange {scope: $scope})
  DELETE c
}
RETURN dropped
