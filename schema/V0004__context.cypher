// What memories are worth (seed 001, ValueClassification): one node a memory that is classified, written by its looks.
CREATE INDEX value_classification_score IF NOT EXISTS FOR (v:ValueClassification) ON (v.value_score, v.retention_tier);
CREATE INDEX value_classification_entity IF NOT EXISTS FOR (v:ValueClassification) ON (v.entity_type, v.retention_tier);
CREATE INDEX value_classification_scope IF NOT EXISTS FOR (v:JochiValue) ON (v.scope, v.section, v.value_score);
// What belongs into a section by what it says of itself is found in whatever tier it is. By words: a range index would refuse an app's write of a long text,
// and an analyzer that takes a text for one word would, too.
CREATE FULLTEXT INDEX curated_said IF NOT EXISTS FOR (m:Curated) ON EACH [m.scope, m.status, m.category]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
// What an agent starts with (seed 001, BoundedMemoryManifest): one a scope, or two; and scopes of which something changed that one holds.
CREATE CONSTRAINT bounded_memory_manifest_id IF NOT EXISTS FOR (b:JochiManifest) REQUIRE b.id IS UNIQUE;
CREATE INDEX bounded_memory_manifest_scope IF NOT EXISTS FOR (b:JochiManifest) ON (b.scope);
CREATE INDEX jochi_manifest_change_scope IF NOT EXISTS FOR (c:JochiManifestChange) ON (c.scope);
CREATE INDEX bounded_memory_manifest_due IF NOT EXISTS FOR (b:JochiManifest) ON (b.due);
// Contexts of one level in time: the one before and the one after are one seek each.
CREATE INDEX curated_level_place IF NOT EXISTS FOR (m:Curated) ON (m.level_line, m.level_place);
