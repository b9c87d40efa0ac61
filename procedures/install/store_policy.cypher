// Stores the policy and makes it the current one.
// Parameters: $sha256, $name, $text (canonical JSON), $clock zoned datetime. Returns one row: stored. Writes: :JochiPolicy.
OPTIONAL MATCH (old:JochiPolicy) WHERE old.sha256 <> $sha256 AND old.current
SET old.current = false
WITH count(old) AS replaced
MERGE (p:JochiPolicy {sha256: $sha256})
ON CREATE SET p.name = $name, p.text = $text, p.installed_at = $clock
SET p.current = true
RETURN p.sha256 AS stored
