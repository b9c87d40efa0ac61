// The policy that the database has at the moment, for a client that writes memories itself.
// Returns: sha256, text (canonical JSON); no row where Jochi isn't installed. Writes nothing.
MATCH (p:JochiPolicy) WHERE p.current
RETURN p.sha256 AS sha256, p.text AS text;
