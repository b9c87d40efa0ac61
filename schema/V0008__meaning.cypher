// People, concepts and entities whose sources may have become meaning (seed 002, Memory Consolidation; docs/reference/meaning.md).
CREATE INDEX curated_meaning_due IF NOT EXISTS FOR (m:Curated) ON (m.meaning_due);
