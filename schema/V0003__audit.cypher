// The record of what was done, by run and by memory. Records expire in the order of their age; undo takes them one by one.
CREATE INDEX curation_audit_run IF NOT EXISTS FOR (a:CurationAudit) ON (a.run);
CREATE INDEX curation_audit_key IF NOT EXISTS FOR (a:CurationAudit) ON (a.key);
CREATE INDEX curation_audit_at IF NOT EXISTS FOR (a:CurationAudit) ON (a.at);
CREATE INDEX curation_audit_id IF NOT EXISTS FOR (a:CurationAudit) ON (a.id);
// What was forgotten on request (docs/reference/forgetting.md): keyed hashes without content, forgetting that is under way, receipts.
CREATE CONSTRAINT jochi_forgotten_hash IF NOT EXISTS FOR (f:JochiForgotten) REQUIRE f.hash IS UNIQUE;
CREATE CONSTRAINT jochi_forgetting_id IF NOT EXISTS FOR (f:JochiForgetting) REQUIRE f.id IS UNIQUE;
CREATE CONSTRAINT jochi_receipt_number IF NOT EXISTS FOR (r:JochiReceipt) REQUIRE r.number IS UNIQUE;
