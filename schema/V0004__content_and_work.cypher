// One live memory per content where the policy says so; what content a memory has; what a worker has left to do.
CREATE CONSTRAINT curated_content_key IF NOT EXISTS FOR (m:Curated) REQUIRE m.content_key IS UNIQUE;
CREATE INDEX curated_content_hash IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.content_hash);
CREATE INDEX curated_prepare_due IF NOT EXISTS FOR (m:Curated) ON (m.prepare_due);
CREATE INDEX curated_embed_due IF NOT EXISTS FOR (m:Curated) ON (m.embed_due);
CREATE INDEX curated_work_quarantined_at IF NOT EXISTS FOR (m:Curated) ON (m.work_quarantined_at);
CREATE INDEX curated_access_day IF NOT EXISTS FOR (m:Curated) ON (m.access_day);
// What is known of a scope: whether anybody ever reported an access in it.
CREATE CONSTRAINT jochi_scope_name IF NOT EXISTS FOR (s:JochiScope) REQUIRE s.name IS UNIQUE;
