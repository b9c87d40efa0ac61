// How many tokens a file has that was made of a manifest, as they were counted there (docs/reference/context.md). Parameters: $id string, $tokens integer.
// Returns one row: manifests integer: how many said otherwise. Writes: file_tokens of :BoundedMemoryManifest.
MATCH (b:JochiManifest {id: $id})
WHERE b.file_tokens IS NULL OR b.file_tokens <> $tokens
SET b.file_tokens = $tokens
RETURN count(b) AS manifests;
