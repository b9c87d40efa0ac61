// The manifests that there are (docs/reference/context.md). Parameters: none. Returns one row: manifests, a list of {scope, include_sensitive, version,
// max_tokens, current_tokens, generated_at, last_compacted, due, memories, files (the paths of files that were made of it)}. Writes nothing.
MATCH (b:JochiManifest)
WITH b ORDER BY b.scope, b.include_sensitive
RETURN collect(b {.scope, .include_sensitive, .version, .max_tokens, .current_tokens, .generated_at, .last_compacted, .due,
  memories: size(b.keys), files: coalesce(b.files, [])}) AS manifests
