// Batches of touches that were taken already, so that one that is sent twice is counted once; forgotten after a while.
CREATE CONSTRAINT jochi_access_batch_id IF NOT EXISTS FOR (b:JochiAccessBatch) REQUIRE b.id IS UNIQUE;
CREATE INDEX jochi_access_batch_at IF NOT EXISTS FOR (b:JochiAccessBatch) ON (b.at);
