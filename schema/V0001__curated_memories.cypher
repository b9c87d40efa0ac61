// What the engine looks after: every curated memory carries :Curated and a key of its own.
CREATE CONSTRAINT curated_key IF NOT EXISTS FOR (m:Curated) REQUIRE m.key IS UNIQUE;
CREATE INDEX curated_next_due IF NOT EXISTS FOR (m:Curated) ON (m.next_due);
CREATE INDEX curated_working_set IF NOT EXISTS FOR (m:Curated) ON (m.scope, m.tier, m.last_accessed_at);
CREATE INDEX memory_curation IF NOT EXISTS FOR (m:Curated) ON (m.tier, m.last_curated_at);
CREATE INDEX tombstone_key IF NOT EXISTS FOR (t:Tombstone) ON (t.key);
CREATE INDEX memory_tombstone IF NOT EXISTS FOR (t:Tombstone) ON (t.deleted_at);
CREATE INDEX access_key IF NOT EXISTS FOR (a:JochiAccess) ON (a.key);
