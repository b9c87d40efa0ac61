// Stores rendered procedures; the sections that a procedure doesn't have are removed.
// Parameters: $procedures list of {name, kind, sha256, template_sha256, about, stages, select, act, body, checked_on (signature of the server, or null)},
// $version, $clock zoned datetime.
// Returns one row: stored integer. Writes: :JochiProcedure.
UNWIND $procedures AS wanted
MERGE (x:JochiProcedure {name: wanted.name})
SET x.kind = wanted.kind, x.sha256 = wanted.sha256, x.template_sha256 = wanted.template_sha256,
    x.about = wanted.about, x.stages = wanted.stages, x.select = wanted.select, x.act = wanted.act, x.body = wanted.body, x.version = $version,
    x.checked_on = wanted.checked_on, x.installed_at = $clock
RETURN count(*) AS stored
