// In the files of `jochi bundle`: removes procedures that another patch version has installed and this one doesn't have.
// Parameters: $names list of those that stay, $version. Returns one row: deleted integer. Writes: deletes :JochiProcedure.
MATCH (x:JochiProcedure) WHERE NOT x.name IN $names AND x.version <> $version
DELETE x
RETURN count(*) AS deleted
