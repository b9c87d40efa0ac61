// What was forgotten on request (docs/reference/forgetting.md): keyed hashes without content, forgetting that is under way, receipts.
CREATE CONSTRAINT jochi_forgotten_hash IF NOT EXISTS FOR (f:JochiForgotten) REQUIRE f.hash IS UNIQUE;
CREATE CONSTRAINT jochi_forgetting_id IF NOT EXISTS FOR (f:JochiForgetting) REQUIRE f.id IS UNIQUE;
CREATE CONSTRAINT jochi_receipt_number IF NOT EXISTS FOR (r:JochiReceipt) REQUIRE r.number IS UNIQUE;
