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
