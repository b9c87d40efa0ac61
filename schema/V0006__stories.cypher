// People, concepts and entities whose sources may be others than were counted (seed 002, Phase 2; docs/reference/extraction.md).
CREATE INDEX curated_count_due IF NOT EXISTS FOR (m:Curated) ON (m.count_due);
// Those that may have a storyline or a theme, the most mentioned first (seed 002, Hierarchical Memory Promotion).
CREATE INDEX curated_promotable IF NOT EXISTS FOR (m:Curated) ON (m.has_meso, m.source_count);
