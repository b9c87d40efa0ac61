// That a file was made of a manifest (docs/reference/context.md). Parameters: $id string, $file string: its path; $tokens integer: how many it has, as they
// were counted there, or null: as it was. Returns one row: manifests integer: how many said otherwise.
// Writes: file_tokens and files (the last 20, the newest last) of :BoundedMemoryManifest.
MATCH (b:JochiManifest {id: $id})
WITH b, coalesce(b.files, []) AS files, coalesce($tokens, b.file_tokens) AS tokens
WHERE NOT $file IN files OR tokens IS NOT NULL AND coalesce(b.file_tokens <> tokens, true)
SET b.file_tokens = tokens, b.files = CASE WHEN $file IN files THEN files ELSE (files + $file)[-20..] END
RETURN count(b) AS manifests;
