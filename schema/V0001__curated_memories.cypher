// What the engine looks after: every curated memory carries :Curated and a key of its own.
CREATE CONSTRAINT curated_key IF NOT EXISTS FOR (m:Curated) REQUIRE m.key IS UNIQUE;
CREATE INDEX curated_next_due IF NOT EXISTS FOR (m:Curated) ON (m.next_due);
// A scope's memories by tier, also those that nobody has accessed yet; long ones in the archive.
CREATE INDEX curated_working_set IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.tier, m.last_accessed_at);
CREATE INDEX curated_tier IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.tier);
CREATE INDEX curated_tier_tokens IF NOT EXISTS FOR (m:Curated) ON (m.tier, m.token_count);
CREATE INDEX memory_curation IF NOT EXISTS FOR (m:Curated) ON (m.tier, m.last_curated_at);
// One live memory per content where the policy says so, and what content a memory has.
CREATE CONSTRAINT curated_content_key IF NOT EXISTS FOR (m:Curated) REQUIRE m.content_key IS UNIQUE;
CREATE INDEX curated_content_hash IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.content_hash);
// Outputs by what they were made for (docs/reference/derivations.md).
CREATE INDEX curated_derived_for IF NOT EXISTS FOR (m:Curated) ON (m.derived_for);
CREATE INDEX tombstone_derived_for IF NOT EXISTS FOR (m:Tombstone) ON (m.derived_for);
// What a worker and the jobs have left to do: memories that are new or changed.
CREATE INDEX curated_prepare_due IF NOT EXISTS FOR (m:Curated) ON (m.prepare_due);
CREATE INDEX curated_embed_due IF NOT EXISTS FOR (m:Curated) ON (m.embed_due);
CREATE INDEX curated_similar_due IF NOT EXISTS FOR (m:Curated) ON (m.similar_due);
CREATE INDEX curated_access_day IF NOT EXISTS FOR (m:Curated) ON (m.access_day);
// Slots: what holds of a subject's attribute, and what held before. At most one fact is current: it alone has slot_key.
CREATE CONSTRAINT curated_slot_key IF NOT EXISTS FOR (m:Curated) REQUIRE m.slot_key IS UNIQUE;
CREATE INDEX curated_slot_due IF NOT EXISTS FOR (m:Curated) ON (m.slot_due);
// A slot's facts in the order of (moment, key), which slot_place is in one text: so the one before and the one after are one seek each,
// also where thousands have the same moment.
CREATE INDEX curated_slot_place IF NOT EXISTS FOR (m:Curated) ON (m.slot_line, m.slot_place);
// Those alone that stand for a stretch: a stretch is found without its confirmations being read.
CREATE INDEX curated_slot_stands IF NOT EXISTS FOR (m:Curated) ON (m.slot_line, m.slot_stands);
// Pairs of near duplicates: those that wait for the worker, those that may merge, and by which judge they were judged: a new one judges them again.
CREATE INDEX similar_to_judge_due IF NOT EXISTS FOR ()-[r:SIMILAR_TO]-() ON (r.judge_due);
CREATE INDEX similar_to_merge_due IF NOT EXISTS FOR ()-[r:SIMILAR_TO]-() ON (r.merge_due);
CREATE INDEX similar_to_guard IF NOT EXISTS FOR ()-[r:SIMILAR_TO]-() ON (r.guard);
// Memories that were pruned, and accesses that were reported.
CREATE INDEX tombstone_key IF NOT EXISTS FOR (t:Tombstone) ON (t.key);
CREATE INDEX memory_tombstone IF NOT EXISTS FOR (t:Tombstone) ON (t.deleted_at);
CREATE INDEX access_key IF NOT EXISTS FOR (a:JochiAccess) ON (a.key);
// What memories are worth (seed 001, ValueClassification): one node a memory that is classified, written by its looks.
CREATE INDEX value_classification_score IF NOT EXISTS FOR (v:ValueClassification) ON (v.value_score, v.retention_tier);
CREATE INDEX value_classification_entity IF NOT EXISTS FOR (v:ValueClassification) ON (v.entity_type, v.retention_tier);
// What belongs into a section by what it says of itself is found in whatever tier it is. By words: a range index would refuse an app's write of a long text,
// and an analyzer that takes a text for one word would, too.
CREATE FULLTEXT INDEX curated_said IF NOT EXISTS FOR (m:Curated) ON EACH [m.scope, m.status, m.category]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-no-stop-words', `fulltext.eventually_consistent`: false}};
// Contexts of one level in time: the one before and the one after are one seek each.
CREATE INDEX curated_level_place IF NOT EXISTS FOR (m:Curated) ON (m.level_line, m.level_place);
// Tasks of agents (docs/reference/heartbeat.md): the short ones that a session begins with, what may be claimed in the order in which it is due, all of a scope.
CREATE INDEX heartbeat_task_quick IF NOT EXISTS FOR (t:HeartbeatTask) ON (t.scope, t.is_active, t.quick, t.id);
CREATE INDEX heartbeat_task_claimable IF NOT EXISTS FOR (t:HeartbeatTask) ON (t.scope, t.claimable_at);
CREATE INDEX heartbeat_task_key IF NOT EXISTS FOR (t:HeartbeatTask) ON (t.key);
// People, concepts and entities whose sources may be others than were counted (seed 002, Phase 2; docs/reference/extraction.md), and those that may have a
// storyline or a theme, or another one (seed 002, Hierarchical Memory Promotion; docs/reference/storylines.md).
CREATE INDEX curated_count_due IF NOT EXISTS FOR (m:Curated) ON (m.count_due);
CREATE INDEX curated_promote_due IF NOT EXISTS FOR (m:Curated) ON (m.promote_due);
CREATE INDEX curated_macro_due IF NOT EXISTS FOR (m:Curated) ON (m.macro_due);
// Those whose name is new or changed, and all of them by the words of their names, with scope and kind (docs/reference/extraction.md, Who is who).
CREATE INDEX curated_resolve_due IF NOT EXISTS FOR (m:Curated) ON (m.resolve_due);
CREATE FULLTEXT INDEX curated_names IF NOT EXISTS FOR (m:Curated) ON EACH [m.name_terms] OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
// People, concepts and entities of which something new was said, by when they were used (seed 002, Nightly Description Consolidation;
// docs/reference/descriptions.md).
CREATE INDEX curated_dirty IF NOT EXISTS FOR (m:Curated) ON (m.is_dirty, m.last_accessed_at);
// People, concepts and entities whose sources may have become meaning (seed 002, Memory Consolidation; docs/reference/meaning.md).
CREATE INDEX curated_meaning_due IF NOT EXISTS FOR (m:Curated) ON (m.meaning_due);
// Sealed boxes of a scope, the newest first: what a trace is woven of (seed 003, Memory Box Lifecycle).
CREATE INDEX curated_sealed IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.sealed_at);
// What was learned in a scope since some moment.
CREATE INDEX turn_batch_learned IF NOT EXISTS FOR (b:TurnBatch) ON (b.scope, b.learned_at);
