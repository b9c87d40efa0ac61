// Compression: long memories in the archive, those that wait for another try, and what was asked for on each day.
CREATE INDEX curated_tier_tokens IF NOT EXISTS FOR (m:Curated) ON (m.tier, m.token_count);
CREATE INDEX curated_compress_due IF NOT EXISTS FOR (m:Curated) ON (m.compress_due);
CREATE CONSTRAINT jochi_compression_day IF NOT EXISTS FOR (d:JochiCompression) REQUIRE d.day IS UNIQUE;
