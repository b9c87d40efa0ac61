// Stores the policy and makes it the current one. Its hash is that of its meaning under the version that installs: of two texts with one
// meaning the last one is kept, and one text that a version reads in another way is another policy.
// It also holds the names of our lock properties: `REMOVE m.curation_lock` takes the node's write lock only where the database
// knows a property key of that name; where it doesn't, the statement is dropped and nothing is locked at all.
// Parameters: $sha256, $name, $text (TOML: what its author wrote; the rest comes from the code that reads it), $compiled (all of it as data for
//   the judge, JSON: installer/jochi/compile), $clock zoned datetime, $off list of derivations that are switched off.
// Returns one row: stored. Writes: :JochiPolicy; :JochiDerivation.
OPTIONAL MATCH (old:JochiPolicy) WHERE old.sha256 <> $sha256 AND old.current
SET old.current = false
WITH count(old) AS replaced
// Switched on again they look through all memories again.
CALL () {
  MATCH (d:JochiDerivation) WHERE d.name IN $off
  REMOVE d.walked_for, d.walks_for, d.cursor
}
WITH replaced
MERGE (p:JochiPolicy {sha256: $sha256})
ON CREATE SET p.installed_at = $clock
SET p.current = true, p.name = $name, p.text = $text, p.compiled = $compiled, p.curation_lock = false, p.claim_lock = false, p.arm_lock = false, p.lock = false
RETURN p.sha256 AS stored
