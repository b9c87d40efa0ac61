// People, concepts and entities whose sources may be others than were counted (seed 002, Phase 2; docs/reference/extraction.md), and those that may have a
// storyline or a theme, or another one (seed 002, Hierarchical Memory Promotion; docs/reference/storylines.md).
CREATE INDEX curated_count_due IF NOT EXISTS FOR (m:Curated) ON (m.count_due);
CREATE INDEX curated_promote_due IF NOT EXISTS FOR (m:Curated) ON (m.promote_due);
CREATE INDEX curated_macro_due IF NOT EXISTS FOR (m:Curated) ON (m.macro_due);
// Those whose name is new or changed, and all of them by the words of their names, with scope and kind (docs/reference/extraction.md, Who is who).
CREATE INDEX curated_resolve_due IF NOT EXISTS FOR (m:Curated) ON (m.resolve_due);
CREATE FULLTEXT INDEX curated_names IF NOT EXISTS FOR (m:Curated) ON EACH [m.name_terms] OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
