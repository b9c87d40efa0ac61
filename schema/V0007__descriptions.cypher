// People, concepts and entities of which something new was said, by when they were used (seed 002, Nightly Description Consolidation;
// docs/reference/descriptions.md).
CREATE INDEX curated_dirty IF NOT EXISTS FOR (m:Curated) ON (m.is_dirty, m.last_accessed_at);
