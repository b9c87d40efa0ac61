// The policy that the database has at the moment, for a client that writes memories itself.
// Returns: sha256, text (TOML, or JSON of a version before 0.2.0: jochi.policy.stored_policy reads both); no row where Jochi isn't installed. Writes nothing.
MATCH (p:JochiPolicy) WHERE p.current
RETURN p.sha256 AS sha256, p.text AS text;
